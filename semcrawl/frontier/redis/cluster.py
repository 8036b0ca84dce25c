"""Redis clusters: which node has which slot, and calls that follow it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from redis.crc import key_slot
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    MovedError,
    RedisError,
    ResponseError,
)

from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.redis.connection import Addresses, Server, connect, plain_reason
from semcrawl.web.hosts import public_address

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


#: seconds to wait for a node's view of the cluster
_VIEW_TIMEOUT = 5.0
#: seconds between searches for the node, while there is none
_LOOK_AGAIN = 0.1
#: seconds to wait for a cluster whose nodes restart, or agree on a new primary
_WHOLE_AGAIN = 5.0


class ClusterServer(Server):
    """The node that serves a crawl's slot, which holds all its keys.

    It follows the slot to another node or a new primary. While the slot moves, its keys are on two
    nodes, and no script may run. So each script also names a key that never exists, and the node
    refuses it (TRYAGAIN) before it starts. Calls wait for the end of the move as they wait for an
    absent server.
    """

    #: longer than for one server, as a replica may be about to take over
    _opening_patience = 30.0

    def __init__(self, server: str, *, meta_key: str, **options: Any) -> None:
        self._known = list(Addresses.read(server).urls)
        self._url = self._known[0]
        self._slot = key_slot(meta_key.encode("utf-8", "surrogatepass"))
        self._extra_keys = (meta_key.removesuffix("meta") + "nothing",)
        self._looking = asyncio.Lock()
        super().__init__(self._url, meta_key=meta_key, **options)
        self.address = public_address(server)

    async def check(self) -> None:
        """Find the node; raise ``FrontierUnavailable`` if it does not answer or is too old."""
        deadline = time.monotonic() + min(self._patience, _WHOLE_AGAIN)
        while (url := await self._found_by(deadline)) is None:
            if time.monotonic() >= deadline:
                raise FrontierUnavailable(
                    f"the cluster at {self.address} is not whole: no node serves slot {self._slot},"
                    f" that of {self._meta_key!r}"
                )
            await asyncio.sleep(_LOOK_AGAIN)
        if url != self._url:
            await self._move_to(url)
        self.address = public_address(url)
        await super().check()

    async def _found_by(self, deadline: float) -> str | None:
        """Call :meth:`_found`; return ``None`` if no node answers before ``deadline``."""
        try:
            return await self._found()
        except FrontierUnavailable as error:
            refused = isinstance(error.__cause__, (AuthenticationError, AuthorizationError))
            if refused or time.monotonic() >= deadline:
                raise
            return None

    def placed(self, key: str) -> str:
        """Return the name of a list of seeds in the slot of the crawl's keys."""
        own = key_slot(key.encode("utf-8", "surrogatepass")) == self._slot
        return key if own else self._meta_key.removesuffix("meta") + key

    async def _look_again(self) -> None:
        before = self._url
        async with self._looking:
            if self._url != before:
                return  # another call found it
            try:
                url = await self._found()
            except FrontierUnavailable:
                return  # the failed call reports it, if it lasts
            if url is not None and url != self._url:
                await self._move_to(url)

    async def _follows(self, error: ResponseError) -> bool:
        if isinstance(error, MovedError):
            await self._move_to(node_url(self._url, error.host, error.port))
            return True
        return await super()._follows(error)

    async def _move_to(self, url: str) -> None:
        if url == self._url:
            await asyncio.sleep(_LOOK_AGAIN)  # already there, or the nodes do not agree yet
            return
        old, self._url = self.redis, url
        self.redis = self._connected(url)
        self.address = public_address(url)
        self._is_another_run = bool(self.crawl)
        await old.aclose()

    async def _found(self) -> str | None:
        """Return the URL of the slot's node, in the view of the first node that answers.

        The present node is asked last, as it may have failed.
        """
        reason: Exception = OSError("no node answers")
        for url in [*(url for url in self._known if url != self._url), self._url]:
            client = connect(url, timeout=min(self._timeout, _VIEW_TIMEOUT))
            try:
                asked: Any = client
                view = SlotMap.read(await asked.execute_command(*ASK_SLOTS), url)
            except (AuthenticationError, AuthorizationError) as error:
                reason = error
                break
            except (RedisError, OSError) as error:
                if "cluster support disabled" in str(error):
                    raise UsageError(
                        f"REDIS_URL: the Redis at {public_address(url)} is no node of a cluster;"
                        " leave out +cluster"
                    ) from None
                reason = error
                continue
            finally:
                await client.aclose()
            self._known += [node for node in view.nodes if node not in self._known]
            return view.primary(self._slot)
        text = plain_reason(reason)
        raise FrontierUnavailable(
            f"the frontier's cluster at {self.address} is not usable: {text}"
        ) from reason


def server_at(server: str | Path, **options: Any) -> Server:
    """Return a server, or the cluster node that has the keys; see :class:`Server`."""
    if isinstance(server, str) and "+cluster" in server.partition("://")[0]:
        return ClusterServer(server, **options)
    return Server(server, **options)
