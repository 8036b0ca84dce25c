"""A pace for each address, beside the one of each host: many names may lead to one server."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

from semcrawl.frontier.redis.connection import Server


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """How often an address is asked, by all workers and under all names."""

    #: seconds between the starts of two requests; 0 = addresses have no pace
    delay: float = 0.1
    #: requests at a time
    concurrency: int = 8
    #: whether private addresses have one as well
    private: bool = False


class AddressPace:
    """The part of a frontier that keeps the pace of addresses.

    A host whose address may not be asked now has its next turn reserved, and rests until then: so
    ten thousand names of one address cost no more than as many hosts with a crawl delay.
    """

    def __init__(self, server: Server, patience: float) -> None:
        """Without a word for ``patience`` seconds a request counts as over."""
        self._server = server
        self._patience = round(patience * 1e6)

    async def turn(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may be asked at its address now, else the seconds until its turn.

        ``name`` is the request's own; :meth:`over` tells of its end. With ``rests`` no link of the
        host is taken before its turn.
        """
        gap = round(limits.delay * 1e6)
        args = [host, place_of(address), name, gap, limits.concurrency, self._patience, int(rests)]
        return int(await self._server.run("address_turn", args)) / 1e6

    async def over(self, address: str, name: str) -> None:
        """Say that a request is over."""
        await self._server.run("address_over", [place_of(address), name])


def place_of(address: str) -> str:
    """Return what counts as one address: of version 6 a network of 64 bits, which one host has."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed) >> 64 << 64, 64)))
    return str(parsed)
