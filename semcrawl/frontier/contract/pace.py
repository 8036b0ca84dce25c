"""The pace of hosts and of addresses, as all workers of a crawl keep it together."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from math import isfinite
from typing import Protocol

from semcrawl.frontier.contract.entries import Lease, WaitingLink


class HostPace(Protocol):
    """Crawl delay, concurrency and rests of hosts. Middlewares and spiders set them.

    Each method is atomic and may be repeated.
    """

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds between request starts) and its concurrency.

        ``at_least``: a longer delay that it has stays.
        """

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest at least so long from now, whatever its pace: it asked for that."""

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target (for fairness policies).

        Repeated after a lost connection it may count twice.
        """


class ErrandTurns(Protocol):
    """Turns of errands: requests that are no link's (a robots.txt, a JSON-LD context).

    They keep the same delay as links. :class:`~semcrawl.crawl.turns.Turns` asks for them. Each
    method is atomic and may be repeated. ``errand`` is a name of this worker's own.
    """

    async def next(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return after how many seconds to ask again.

        0 when the turn is now: the host is held as for a link that was taken. ``None`` where the
        host has no delay: then nothing is counted. Errands wait in line, first in, first out, and
        links wait for them. An errand that does not ask again, or does not end, is forgotten after
        the lease time.

        ``instead_of``: a leased link that was not sent gives its host's turn up for the errand.
        """

    async def starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request leaves now; whether its turn still held."""

    async def end(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over; a host that was ``sent`` nothing needs no rest."""


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """How often an address is asked, by all workers and under all names."""

    #: seconds between the starts of two requests; 0 = addresses have no pace
    delay: float = 0.1
    #: requests at a time
    concurrency: int = 8
    #: whether private addresses have one as well
    private: bool = False


class AddressPace(Protocol):
    """The pace of each address, beside that of each host: many names may lead to one server.

    A host whose address may not be asked now has its next turn reserved, and rests until then: ten
    thousand names of one address cost no more than as many hosts with a crawl delay. The download
    handler asks once it knows the address. Each method is atomic and may be repeated.
    """

    async def turn(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may be asked at its address now, else the seconds until its turn.

        ``name`` is the request's own, which :meth:`over` ends. With ``rests`` no link of the host
        is taken before its turn.
        """

    async def over(self, address: str, name: str) -> None:
        """Note that a request is over."""


def micros(seconds: float) -> int:
    """Return a time as the backends count it, in microseconds."""
    return round(seconds * 1e6)


def checked_pace(host: str, delay: float, concurrency: int) -> int:
    """Return a crawl delay in microseconds; raise ``ValueError`` where there is no such pace."""
    if delay < 0 or not isfinite(delay) or concurrency < 1:
        raise ValueError(f"no pace for {host}: delay {delay} s, concurrency {concurrency}")
    return micros(delay)


def checked_rest(seconds: float) -> int:
    """Return a time to rest in microseconds; raise ``ValueError`` for what is none."""
    if seconds < 0 or not isfinite(seconds):
        raise ValueError(f"no time to rest: {seconds} s")
    return micros(seconds)


def address_block(address: str) -> str:
    """Return what counts as one address: of version 6 a network of 64 bits, which one host has."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed) >> 64 << 64, 64)))
    return str(parsed)


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a host that is down."""

    #: whether it was down for as long as it is waited for
    over: bool
    #: seconds until it is asked again
    seconds: float
    #: seconds since it is down
    down_for: float
    #: why it rests: the word of the first report
    why: str
    #: an address that it gave before; empty if it never gave any
    good: str


class Outages(Protocol):
    """Hosts that are down, as all workers see them: since when, and until when they rest.

    The links of such a host wait. After each rest one of them is handed out as a probe
    (:attr:`Lease.probe`), and no other before that one has ended.
    :class:`~semcrawl.crawl.hosthealth.HostHealth` reports and asks. Each method is atomic and may
    be repeated, except :meth:`set_aside`, which works in atomic portions.
    """

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down, or that its probe failed; it rests ``step`` s longer now.

        It is waited for for ``patience`` seconds, or for ``untried_patience`` if it never answered;
        with an infinite patience the time does not count. ``why`` is one word. A report while it
        rests changes nothing.
        """

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; its next rest is ``step`` s shorter.

        ``good``: an address that it gave. Return the rest that remains, and how long it was down (0
        if it was not), in seconds.
        """

    async def good(self, host: str) -> str:
        """Return an address that a host gave, in this run or another; empty if it gave none."""

    async def note_dead(self) -> None:
        """Count one more host that was found dead: from the second on, untried ones come last."""

    async def why(self, host: str) -> str:
        """Return the reason why a host is down, one word; empty if it is not."""

    async def set_aside(self, host: str) -> list[WaitingLink]:
        """Keep all waiting links of a host for a requeue; return them."""
