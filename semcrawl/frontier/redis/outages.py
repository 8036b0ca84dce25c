"""Hosts that are down, as all workers of a crawl see them: since when, and until when they rest."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from semcrawl.frontier.packing import Waiting, text, unpack_member
from semcrawl.frontier.redis.connection import Server

#: links that one call sets aside: no other worker waits long for it
_SET_ASIDE_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Rest:
    """How a host that is down stands."""

    #: whether it was down for as long as it is waited for
    over: bool
    #: seconds until it is asked again
    seconds: float
    #: seconds since it is down
    down_for: float
    #: why it rests, as it was told first
    why: str
    #: an address that it gave before; empty if it never gave any
    good: str


class Outages:
    """The part of a frontier that knows which hosts are down.

    The links of such a host wait. After each rest one of them is handed out as a probe
    (:attr:`Lease.probe`), and no other before that one has ended.
    """

    def __init__(self, server: Server, root: str, max_failed: int) -> None:
        self._server = server
        self._root = root
        self._max_failed = max_failed

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Say that a host is down, or that a probe of it failed; it rests ``step`` s longer now.

        It is waited for for ``patience`` seconds, or for ``untried_patience`` if it never answered;
        with an infinite patience the time does not count. ``why`` is one word. What is told while
        it rests changes nothing.
        """
        limits = [round(s * 1e6) if isfinite(s) else -1 for s in (patience, untried_patience)]
        reply = await self._server.run("falter", [host, why, round(step * 1e6), *limits])
        over, pause, since, reason, good = reply
        return Rest(bool(over), pause / 1e6, since / 1e6, text(reason), text(good))

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Say that a host answered; its next rest is ``step`` s shorter.

        ``good``: an address that it gave. Return what is left of its rest, and how long it was
        down (0 if it was not), in seconds.
        """
        left, down_for = await self._server.run("recover", [host, round(step * 1e6), good])
        return left / 1e6, down_for / 1e6

    async def good(self, host: str) -> str:
        """Return an address that a host gave, in this run or another; empty if it gave none."""
        redis, key = self._server.redis, f"{self._root}good"
        name = host.encode("utf-8", "surrogatepass")
        found: bytes | None = await self._server.through(lambda: redis.hget(key, name), key)
        return text(found or b"")

    async def note_dead(self) -> None:
        """Note that one more host was found dead: from the second on, untried ones come last."""
        redis, key = self._server.redis, f"{self._root}meta"
        await self._server.through(lambda: redis.hincrby(key, "dead", 1), key)

    async def why(self, host: str) -> str:
        """Return the word that tells why a host is down; empty if it is not."""
        redis, key = self._server.redis, f"{self._root}down"
        name = host.encode("utf-8", "surrogatepass")
        found: bytes | None = await self._server.through(lambda: redis.hget(key, name), key)
        return text(found or b"").rpartition(" ")[2]

    async def set_aside(self, host: str) -> list[Waiting]:
        """Keep all waiting links of a host aside for a requeue; return them."""
        links: list[Waiting] = []
        while True:
            args = [host, _SET_ASIDE_AT_ONCE, self._max_failed]
            reply = await self._server.run("set_aside", args, once=True)
            links += [
                unpack_member(self._root, text(queue), host, text(group), float(key), member)
                for queue, group, key, member in reply
            ]
            if len(reply) < _SET_ASIDE_AT_ONCE:
                return links
