"""The pace of hosts and addresses, which all workers of a crawl keep together."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from semcrawl.frontier.contract.entries import Lease, WaitingLink
from semcrawl.settings.reader import setting


class HostPace(Protocol):
    """Crawl delay, concurrency and rests of hosts. Middlewares and spiders set them.

    Each method is atomic and may be repeated.
    """

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds between request starts) and its concurrency.

        With ``at_least`` a longer present delay stays.
        """

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest for at least ``seconds`` from now, as it asked for, whatever its pace."""

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target (for fairness policies).

        If it is repeated after a lost connection, it may count twice.
        """


class ErrandTurns(Protocol):
    """Turns of errands: requests that are not for a link (a robots.txt, a JSON-LD context).

    Errands keep the same delay as links. :class:`~semcrawl.crawl.turns.Turns` calls this. Each
    method is atomic and may be repeated. ``errand`` is a name that is unique in this worker.
    """

    async def next(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again.

        0 means that the turn is now; the host is then held as for a taken link. ``None`` means that
        the host has no delay, so nothing is counted. Errands queue first in, first out, and links
        wait for them. An errand that neither asks again nor ends is forgotten after the lease time.

        ``instead_of`` is a leased link, not sent, that cedes its host's turn to the errand.
        """

    async def starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""

    async def end(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over; without ``sent`` its host needs no delay."""


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """The pace of an address, over all workers and host names."""

    #: seconds between the starts of two requests; 0 = addresses have no pace
    delay: float = setting("SEMCRAWL_ADDRESS_DELAY")
    #: requests at a time
    concurrency: int = 8
    #: whether private addresses have a pace too
    private: bool = setting("SEMCRAWL_PACE_PRIVATE_ADDRESSES")


class AddressPace(Protocol):
    """The pace of each address, besides that of each host, as many names may share a server.

    A host whose address is busy gets its next turn reserved, and rests until then. So ten thousand
    names of one address cost no more than as many hosts with a crawl delay. The download handler
    asks once it knows the address. Each method is atomic and may be repeated.
    """

    async def turn(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn.

        ``name`` identifies the request for :meth:`over`. With ``rests``, no link of the host is
        taken before its turn.
        """

    async def over(self, address: str, name: str) -> None:
        """Note that a request is over."""


def micros(seconds: float) -> int:
    """Return a time in microseconds, the unit of the backends."""
    return round(seconds * 1e6)


def checked_pace(host: str, delay: float, concurrency: int) -> int:
    """Return a crawl delay in microseconds; raise ``ValueError`` for an invalid pace."""
    if delay < 0 or not isfinite(delay) or concurrency < 1:
        raise ValueError(f"no pace for {host}: delay {delay} s, concurrency {concurrency}")
    return micros(delay)


def checked_rest(seconds: float) -> int:
    """Return a time to rest in microseconds; raise ``ValueError`` for an invalid one."""
    if seconds < 0 or not isfinite(seconds):
        raise ValueError(f"no time to rest: {seconds} s")
    return micros(seconds)


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a host that is down."""

    #: whether it was down for longer than the crawl's patience
    over: bool
    #: seconds until it is asked again
    seconds: float
    #: seconds since it went down
    down_for: float
    #: reason in the first report, one word
    why: str
    #: a URL that it served before; empty if none
    good: str


class Outages(Protocol):
    """Hosts that are down, since when, and until when they rest; shared by all workers.

    The links of such a host wait. After each rest, one of them is leased as a probe
    (:attr:`Lease.probe`), and no other before the probe ends.
    :class:`~semcrawl.crawl.hosthealth.HostHealth` calls this. Each method is atomic and may be
    repeated, except :meth:`set_aside`, which works in atomic portions.
    """

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed; its next rest is ``step`` s longer.

        The crawl waits for it for ``patience`` seconds, or for ``untried_patience`` if it never
        answered; an infinite patience does not count the time. ``why`` is one word. A report while
        it rests changes nothing.
        """

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; its next rest is ``step`` s shorter.

        ``good`` is a URL that it served. Return the seconds of rest that remain, and the seconds
        that it was down, 0 if it was not.
        """

    async def good(self, host: str) -> str:
        """Return a URL that a host served in any run; empty if none."""

    async def note_dead(self) -> None:
        """Count a host as dead; from the second one on, untried hosts come last."""

    async def why(self, host: str) -> str:
        """Return why a host is down, in one word; empty if it is not."""

    async def set_aside(self, host: str) -> list[WaitingLink]:
        """Move all waiting links of a host to the failed ones; return them."""
