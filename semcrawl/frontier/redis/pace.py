"""The pace of hosts and addresses on Redis."""

from __future__ import annotations

from math import isfinite
from typing import Any
from uuid import uuid4

from semcrawl.frontier.contract import AddressLimits, Lease
from semcrawl.frontier.contract.pace import address_block
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.redis.connection import Server, micros


class RedisHostPace:
    """Delays, concurrency and rests of hosts (:class:`~semcrawl.frontier.contract.HostPace`)."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency."""
        if delay < 0 or not isfinite(delay) or concurrency < 1:
            raise ValueError(f"no pace for {host}: delay {delay} s, concurrency {concurrency}")
        await self._server.run("set_pace", [host, micros(delay), concurrency, int(at_least)])

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest."""
        if seconds < 0 or not isfinite(seconds):
            raise ValueError(f"no time to rest: {seconds} s")
        await self._server.run("rest", [host, micros(seconds)])

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target."""
        await self._server.run("reward", [host, int(target)])


class RedisErrandTurns:
    """Turns of requests that are no link's (:class:`~semcrawl.frontier.contract.ErrandTurns`)."""

    def __init__(self, server: Server, worker_id: str, options: FrontierOptions) -> None:
        self._server = server
        self._worker_id = worker_id
        #: makes the names of this worker's errands unlike those of its former self
        self._incarnation = uuid4().hex
        self._patience, self._poll = micros(options.lease_time), micros(options.poll)

    async def next(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return after how many seconds to ask again."""
        giver = instead_of.id if instead_of is not None else False
        args = [*self._place(host, errand), self._patience, self._poll, giver]
        wait = int(await self._server.run("next_turn", args))
        return None if wait < 0 else wait / 1e6

    async def starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request leaves now; whether its turn still held."""
        args = [*self._place(host, errand), self._patience]
        return bool(await self._server.run("turn_starts", args))

    async def end(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over."""
        await self._server.run("end_turn", [*self._place(host, errand), int(not sent)])

    def _place(self, host: str, errand: str) -> list[Any]:
        """Return the arguments by which the scripts know an errand of this worker."""
        return [host, f"{self._incarnation} {errand}", self._worker_id]


class RedisAddressPace:
    """The pace of addresses (:class:`~semcrawl.frontier.contract.AddressPace`).

    A request that is not over after ``patience`` seconds counts as over.
    """

    def __init__(self, server: Server, patience: float) -> None:
        self._server = server
        self._patience = micros(patience)

    async def turn(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may be asked at its address now, else the seconds until its turn."""
        gap, block = micros(limits.delay), address_block(address)
        args = [host, block, name, gap, limits.concurrency, self._patience, int(rests)]
        return int(await self._server.run("address_turn", args)) / 1e6

    async def over(self, address: str, name: str) -> None:
        """Note that a request is over."""
        await self._server.run("address_over", [address_block(address), name])
