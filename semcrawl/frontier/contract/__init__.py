"""The contracts of the frontier, which every backend keeps.

A crawl's frontier is one object of each worker, a :class:`Frontier`: the queue of links itself, and
its parts. Callers are typed on these Protocols and know no backend; errors are those of
:mod:`semcrawl.errors`.
"""

from __future__ import annotations

from typing import Protocol, Self

from semcrawl.frontier.contract.entries import (
    FRONT,
    NONE_SKIPPED,
    QUEUES,
    Counts,
    Entry,
    Lease,
    SkippedHosts,
    WaitingLink,
)
from semcrawl.frontier.contract.inspection import FrontierState, Importer, Inspector
from semcrawl.frontier.contract.leftout import (
    LeftOutLinks,
    LeftOutLog,
    Reason,
    Withheld,
    WithheldLinks,
)
from semcrawl.frontier.contract.pace import (
    AddressLimits,
    AddressPace,
    ErrandTurns,
    HostPace,
    Outages,
    Rest,
)
from semcrawl.frontier.contract.queue import LinkQueue, SeedLists
from semcrawl.frontier.contract.sharing import Blobs, CrawlEvent, EventLog, SharedCache, Statements
from semcrawl.frontier.options import FrontierOptions

__all__ = [
    "FRONT",
    "NONE_SKIPPED",
    "QUEUES",
    "AddressLimits",
    "AddressPace",
    "Blobs",
    "Counts",
    "CrawlEvent",
    "Entry",
    "ErrandTurns",
    "EventLog",
    "Frontier",
    "FrontierState",
    "HostPace",
    "Importer",
    "Inspector",
    "Lease",
    "LeftOutLinks",
    "LeftOutLog",
    "LinkQueue",
    "ManagedFrontier",
    "Outages",
    "Reason",
    "Rest",
    "SeedLists",
    "SharedCache",
    "SkippedHosts",
    "Statements",
    "WaitingLink",
    "Withheld",
    "WithheldLinks",
]


class Frontier(LinkQueue, Protocol):
    """A worker's frontier: the queue of links, and the state that the crawl's workers share."""

    #: the options that hold for this worker; :meth:`open` may make its pace slower
    options: FrontierOptions

    @property
    def losses(self) -> int:
        """How often the backend may have lost what was written last.

        After that, a link that a worker remembers as being in need not be.
        """

    #: crawl delays, concurrency and rests of hosts
    pace: HostPace
    #: turns of requests that are no link's
    errands: ErrandTurns
    #: the pace of addresses
    addresses: AddressPace
    #: hosts that are down
    outages: Outages
    #: lists of seeds that other programs append to
    seeds: SeedLists
    #: the outcomes and takes of all workers
    events: EventLog
    #: blobs that last
    blobs: Blobs
    #: answers that expire, and claims to fetch them
    cache: SharedCache
    #: statements that documents made
    statements: Statements
    #: links that did not go in
    left_out: LeftOutLog
    #: links that wait apart
    withheld: WithheldLinks

    async def open(self, *, make: bool = True) -> None:
        """Connect, check the format, put leases back whose worker surely ended.

        Raises ``FrontierUnavailable`` when the backend is away or, without ``make``, has no such
        crawl, and ``FrontierCorrupt`` when another format was written.
        """

    async def close(self) -> None:
        """Disconnect; leases of this worker that are not done go back at once.

        Where the backend is away they run out.
        """

    def hurry(self) -> None:
        """From now on wait only a moment for a backend that is away: the crawl ends."""

    async def heartbeat(self, seconds: float) -> list[str]:
        """Count as at work for so long from now; return the names of the others that are."""

    async def __aenter__(self) -> Self:
        """Open."""

    async def __aexit__(self, *exc: object) -> None:
        """Close."""


class ManagedFrontier(Frontier, Protocol):
    """A frontier that can be looked over, exported and filled from outside."""

    #: name of the crawl
    name: str
    #: reads all of it
    inspector: Inspector
    #: fills an empty one
    importer: Importer
