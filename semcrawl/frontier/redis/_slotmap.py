"""Which node of a Redis Cluster has which slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

#: slots of a cluster
SLOTS = 16384
#: asks a node for its view of the cluster (in two words: so the client leaves the answer as it is)
ASK_SLOTS = ("CLUSTER", "SLOTS")


@dataclass(frozen=True, slots=True)
class SlotMap:
    """A node's view of its cluster."""

    #: first and last slot of each range, and the address of the primary that serves it
    ranges: tuple[tuple[int, int, str], ...]
    #: addresses of all nodes
    nodes: tuple[str, ...]

    @classmethod
    def read(cls, reply: Sequence[Any], asked: str) -> Self:
        """Read the answer of a node, whose URL was ``asked``, to ``CLUSTER SLOTS``."""
        ranges, nodes = [], []
        for first, last, *found in reply:
            urls = [node_url(asked, _text(node[0]), int(node[1])) for node in found]
            nodes += urls
            if urls:
                ranges.append((int(first), int(last), urls[0]))
        return cls(tuple(ranges), tuple(dict.fromkeys(nodes)))

    def primary(self, slot: int) -> str | None:
        """Return the URL of the node that serves a slot; ``None`` where none does."""
        return next((url for first, last, url in self.ranges if first <= slot <= last), None)

    @property
    def primaries(self) -> int:
        """Return how many nodes serve slots."""
        return len({url for _, _, url in self.ranges})


def node_url(asked: str, host: str, port: int) -> str:
    """Return the URL of a node, with the user, password and options of the one that was asked.

    A node that does not know its own address is where it was asked.
    """
    parts = urlsplit(asked)
    user, at, _ = parts.netloc.rpartition("@")
    host = host or parts.hostname or "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, f"{user}{at}{host}:{port}", "", parts.query, ""))


def _text(host: bytes | str | None) -> str:
    return host.decode() if isinstance(host, bytes) else host or ""
