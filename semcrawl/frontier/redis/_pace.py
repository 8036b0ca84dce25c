"""The pace of hosts and addresses on Redis, and hosts that are down."""

from __future__ import annotations

from math import isfinite
from typing import Any
from uuid import uuid4

from semcrawl.frontier.contract import (
    AT_ONCE,
    TURNS_OF_RANKS,
    AddressLimits,
    FrontierOptions,
    HostFacts,
    Lease,
    Rank,
    Rest,
    WaitingLink,
    checked_pace,
    checked_rest,
    micros,
)
from semcrawl.frontier.links import text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.packing import unpack_member
from semcrawl.web.hosts import address_block


class RedisPace:
    """The pace of hosts and addresses (:class:`~semcrawl.frontier.contract.Pace`).

    A request to an address counts as over after the lease time.
    """

    def __init__(self, server: Server, root: str, worker_id: str, options: FrontierOptions) -> None:
        self._server = server
        self._root = root
        self._worker_id = worker_id
        self._max_failed = options.max_failed
        #: part of errands' names, unique to this run of the worker
        self._incarnation = uuid4().hex
        self._patience, self._poll = micros(options.lease_time), micros(options.poll)

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency."""
        gap = checked_pace(host, delay, concurrency)
        await self._server.run("set_pace", [host, gap, concurrency, int(at_least)])

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest."""
        await self._server.run("rest", [host, checked_rest(seconds)])

    async def rank(self, host: str, rank: Rank) -> None:
        """Put a host before others, after them, or among them."""
        await self._server.run("rank", [host, TURNS_OF_RANKS[rank]])

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target."""
        await self._server.run("reward", [host, int(target)])

    async def errand(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again."""
        giver = instead_of.id if instead_of is not None else False
        args = [*self._place(host, errand), self._patience, self._poll, giver]
        wait = int(await self._server.run("next_turn", args))
        return None if wait < 0 else wait / 1e6

    async def errand_starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""
        args = [*self._place(host, errand), self._patience]
        return bool(await self._server.run("turn_starts", args))

    async def errand_over(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over."""
        await self._server.run("end_turn", [*self._place(host, errand), int(not sent)])

    def _place(self, host: str, errand: str) -> list[Any]:
        """Return the arguments that identify an errand of this worker."""
        return [host, f"{self._incarnation} {errand}", self._worker_id]

    async def address(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn."""
        gap, block = micros(limits.delay), address_block(address)
        args = [host, block, name, gap, limits.concurrency, self._patience, int(rests)]
        return int(await self._server.run("address_turn", args)) / 1e6

    async def address_over(self, address: str, name: str) -> None:
        """Note that a request is over."""
        await self._server.run("address_over", [address_block(address), name])

    async def down(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed."""
        limits = [micros(s) if isfinite(s) else -1 for s in (patience, untried_patience)]
        reply = await self._server.run("falter", [host, why, micros(step), *limits])
        over, pause, since, reason, good = reply
        return Rest(bool(over), pause / 1e6, since / 1e6, text(reason), text(good))

    async def up(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the remaining rest and the time it was down."""
        left, down_for = await self._server.run("recover", [host, micros(step), good])
        return left / 1e6, down_for / 1e6

    async def note_dead(self) -> None:
        """Count a host as dead."""
        await self._server.ask("hincrby", f"{self._root}meta", "dead", 1)

    async def known(self, host: str) -> HostFacts:
        """Return what is known of a host."""
        name = host.encode("utf-8", "surrogatepass")
        down, good = [
            text(await self._server.ask("hget", self._root + key, name) or b"")
            for key in ("down", "good")
        ]
        return HostFacts(down.rpartition(" ")[2], good)

    async def set_aside(self, host: str, limit: int = AT_ONCE) -> list[WaitingLink]:
        """Move up to ``limit`` waiting links of a host to the failed ones; return them."""
        reply = await self._server.run("set_aside", [host, limit, self._max_failed], once=True)
        return [
            unpack_member(self._root, text(queue), host, text(group), float(key), member)
            for queue, group, key, member in reply
        ]
