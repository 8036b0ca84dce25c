"""The distribution of slots over the nodes of a Redis Cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

#: number of slots in a cluster
SLOTS = 16384
#: asks a node for its view of the cluster; as two words, since the client then leaves the reply raw
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
        """Decode the reply to ``CLUSTER SLOTS`` of the node at the URL ``asked``."""
        ranges, nodes = [], []
        for first, last, *found in reply:
            urls = [node_url(asked, _text(node[0]), int(node[1])) for node in found]
            nodes += urls
            if urls:
                ranges.append((int(first), int(last), urls[0]))
        return cls(tuple(ranges), tuple(dict.fromkeys(nodes)))

    def primary(self, slot: int) -> str | None:
        """Return the URL of the primary that serves a slot; ``None`` if none does."""
        return next((url for first, last, url in self.ranges if first <= slot <= last), None)

    @property
    def primaries(self) -> int:
        """Number of nodes that serve slots."""
        return len({url for _, _, url in self.ranges})


def node_url(asked: str, host: str, port: int) -> str:
    """Return the URL of a node, with user, password and options of the URL ``asked``.

    An empty host means the one that was asked, as a node may not know its own address.
    """
    parts = urlsplit(asked)
    user, at, _ = parts.netloc.rpartition("@")
    host = host or parts.hostname or "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, f"{user}{at}{host}:{port}", "", parts.query, ""))


def _text(host: bytes | str | None) -> str:
    return host.decode() if isinstance(host, bytes) else host or ""
