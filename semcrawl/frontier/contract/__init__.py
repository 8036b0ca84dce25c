"""The contracts of the frontier, which every backend meets.

Each worker has one :class:`Frontier` object: the queue of links, with the shared state as its
parts. Callers are typed on these Protocols and know no backend. Errors are those of
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
from semcrawl.links import Reason

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
    """A worker's frontier: the queue of links, and the state that all workers share."""

    #: the options in force; :meth:`open` may slow down their pace
    options: FrontierOptions

    @property
    def losses(self) -> int:
        """How often the backend may have lost its last writes.

        After that, a link that a worker remembers as added may be missing.
        """

    #: crawl delays, concurrency and rests of hosts
    pace: HostPace
    #: turns of requests that are not for a link
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
    #: statements of earlier documents
    statements: Statements
    #: links that were left out
    left_out: LeftOutLog
    #: links that wait apart
    withheld: WithheldLinks

    async def open(self, *, make: bool = True) -> None:
        """Connect, check the format, and give back leases of workers that have certainly ended.

        Raises ``FrontierUnavailable`` when the backend is away or, without ``make``, has no such
        crawl, and ``FrontierCorrupt`` for another format.
        """

    async def close(self) -> None:
        """Disconnect, and give back this worker's unfinished leases at once.

        If the backend is away, they expire.
        """

    def hurry(self) -> None:
        """Wait only a moment for an absent backend from now on, as the crawl ends."""

    async def heartbeat(self, seconds: float) -> list[str]:
        """Count as active for ``seconds`` from now; return the names of other active workers."""

    async def __aenter__(self) -> Self:
        """Open."""

    async def __aexit__(self, *exc: object) -> None:
        """Close."""


class ManagedFrontier(Frontier, Protocol):
    """A frontier that can be inspected, exported and imported."""

    #: name of the crawl
    name: str
    #: reads all of it
    inspector: Inspector
    #: fills an empty one
    importer: Importer
