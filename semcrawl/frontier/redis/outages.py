"""Hosts that are down, on Redis."""

from __future__ import annotations

from math import isfinite

from semcrawl.frontier.contract import Rest, WaitingLink
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.redis.connection import Server, micros
from semcrawl.frontier.redis.packing import unpack_member

#: links that one call sets aside, so that other workers do not wait long
_SET_ASIDE_AT_ONCE = 1000


class RedisOutages:
    """Hosts that are down (:class:`~semcrawl.frontier.contract.Outages`)."""

    def __init__(self, server: Server, root: str, max_failed: int) -> None:
        self._server = server
        self._root = root
        self._max_failed = max_failed

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down, or that its probe failed."""
        limits = [micros(s) if isfinite(s) else -1 for s in (patience, untried_patience)]
        reply = await self._server.run("falter", [host, why, micros(step), *limits])
        over, pause, since, reason, good = reply
        return Rest(bool(over), pause / 1e6, since / 1e6, text(reason), text(good))

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the rest that remains, and its time down."""
        left, down_for = await self._server.run("recover", [host, micros(step), good])
        return left / 1e6, down_for / 1e6

    async def good(self, host: str) -> str:
        """Return an address that a host gave, in this run or another; empty if it gave none."""
        redis, key = self._server.redis, f"{self._root}good"
        name = host.encode("utf-8", "surrogatepass")
        found: bytes | None = await self._server.through(lambda: redis.hget(key, name), key)
        return text(found or b"")

    async def note_dead(self) -> None:
        """Count one more host that was found dead."""
        redis, key = self._server.redis, f"{self._root}meta"
        await self._server.through(lambda: redis.hincrby(key, "dead", 1), key)

    async def why(self, host: str) -> str:
        """Return the reason why a host is down, one word; empty if it is not."""
        redis, key = self._server.redis, f"{self._root}down"
        name = host.encode("utf-8", "surrogatepass")
        found: bytes | None = await self._server.through(lambda: redis.hget(key, name), key)
        return text(found or b"").rpartition(" ")[2]

    async def set_aside(self, host: str) -> list[WaitingLink]:
        """Keep all waiting links of a host for a requeue; return them."""
        links: list[WaitingLink] = []
        while True:
            args = [host, _SET_ASIDE_AT_ONCE, self._max_failed]
            reply = await self._server.run("set_aside", args, once=True)
            links += [
                unpack_member(self._root, text(queue), host, text(group), float(key), member)
                for queue, group, key, member in reply
            ]
            if len(reply) < _SET_ASIDE_AT_ONCE:
                return links
