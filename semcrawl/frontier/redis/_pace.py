"""The pace of hosts and addresses on Redis, and hosts that are down."""

from __future__ import annotations

from math import isfinite
from typing import Any
from uuid import uuid4

from semcrawl.frontier.contract import AddressLimits, Lease, Rest, WaitingLink
from semcrawl.frontier.contract.pace import checked_pace, checked_rest, micros
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.packing import unpack_member
from semcrawl.web.hosts import address_block

#: links set aside per call, as other workers wait
_SET_ASIDE_AT_ONCE = 1000


class RedisHostPace:
    """Delays, concurrency and rests of hosts (:class:`~semcrawl.frontier.contract.HostPace`)."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency."""
        gap = checked_pace(host, delay, concurrency)
        await self._server.run("set_pace", [host, gap, concurrency, int(at_least)])

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest."""
        await self._server.run("rest", [host, checked_rest(seconds)])

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target."""
        await self._server.run("reward", [host, int(target)])


class RedisErrandTurns:
    """Turns of errands (:class:`~semcrawl.frontier.contract.ErrandTurns`)."""

    def __init__(self, server: Server, worker_id: str, options: FrontierOptions) -> None:
        self._server = server
        self._worker_id = worker_id
        #: part of errands' names, unique to this run of the worker
        self._incarnation = uuid4().hex
        self._patience, self._poll = micros(options.lease_time), micros(options.poll)

    async def next(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again."""
        giver = instead_of.id if instead_of is not None else False
        args = [*self._place(host, errand), self._patience, self._poll, giver]
        wait = int(await self._server.run("next_turn", args))
        return None if wait < 0 else wait / 1e6

    async def starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""
        args = [*self._place(host, errand), self._patience]
        return bool(await self._server.run("turn_starts", args))

    async def end(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over."""
        await self._server.run("end_turn", [*self._place(host, errand), int(not sent)])

    def _place(self, host: str, errand: str) -> list[Any]:
        """Return the arguments that identify an errand of this worker."""
        return [host, f"{self._incarnation} {errand}", self._worker_id]


class RedisAddressPace:
    """The pace of addresses (:class:`~semcrawl.frontier.contract.AddressPace`).

    A request counts as over after ``patience`` seconds.
    """

    def __init__(self, server: Server, patience: float) -> None:
        self._server = server
        self._patience = micros(patience)

    async def turn(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn."""
        gap, block = micros(limits.delay), address_block(address)
        args = [host, block, name, gap, limits.concurrency, self._patience, int(rests)]
        return int(await self._server.run("address_turn", args)) / 1e6

    async def over(self, address: str, name: str) -> None:
        """Note that a request is over."""
        await self._server.run("address_over", [address_block(address), name])


class RedisOutages:
    """Hosts that are down (:class:`~semcrawl.frontier.contract.Outages`)."""

    def __init__(self, server: Server, root: str, max_failed: int) -> None:
        self._server = server
        self._root = root
        self._max_failed = max_failed

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed."""
        limits = [micros(s) if isfinite(s) else -1 for s in (patience, untried_patience)]
        reply = await self._server.run("falter", [host, why, micros(step), *limits])
        over, pause, since, reason, good = reply
        return Rest(bool(over), pause / 1e6, since / 1e6, text(reason), text(good))

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the remaining rest and the time it was down."""
        left, down_for = await self._server.run("recover", [host, micros(step), good])
        return left / 1e6, down_for / 1e6

    async def good(self, host: str) -> str:
        """Return a URL that a host served in any run; empty if none."""
        return await self._field("good", host)

    async def note_dead(self) -> None:
        """Count a host as dead."""
        await self._server.ask("hincrby", f"{self._root}meta", "dead", 1)

    async def why(self, host: str) -> str:
        """Return why a host is down, in one word; empty if it is not."""
        return (await self._field("down", host)).rpartition(" ")[2]

    async def _field(self, key: str, host: str) -> str:
        name = host.encode("utf-8", "surrogatepass")
        found: bytes | None = await self._server.ask("hget", self._root + key, name)
        return text(found or b"")

    async def set_aside(self, host: str) -> list[WaitingLink]:
        """Move all waiting links of a host to the failed ones; return them."""
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
