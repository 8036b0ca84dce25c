"""The connection to the node of a Redis Cluster that has a crawl's keys."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from redis.crc import key_slot
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    MovedError,
    RedisError,
    ResponseError,
)

from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.redis._slotmap import ASK_SLOTS, SlotMap, node_url
from semcrawl.frontier.redis.clients import connect, plain_reason
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.redisurl import Addresses
from semcrawl.web.hosts import public_address

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
