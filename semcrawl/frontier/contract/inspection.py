"""Inspection and import of a frontier: its state for people, its whole content for programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from semcrawl.frontier.contract.entries import Counts, WaitingLink

#: names of the totals that move with a frontier
TOTALS = ("done", "failed", "expired", "dropped", "turn")


@dataclass(frozen=True, slots=True)
class HostState:
    """A host with waiting links."""

    host: str
    queue: str
    waiting: int
    #: requests in flight
    busy: int
    #: seconds until its crawl delay or rest is over; 0 = over
    cooling: float


@dataclass(frozen=True, slots=True)
class HostYield:
    """The counts of one host."""

    fetches: int
    targets: int
    #: number of latest consecutive fetches without a target
    barren: int
    #: virtual time of its next turn, for fairness between hosts
    turn: float


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group with waiting links."""

    group: str
    queue: str
    value: float
    waiting: int
    hosts: int


@dataclass(frozen=True, slots=True)
class LeaseState:
    """A link that a worker leases."""

    id: str
    worker: str
    link: WaitingLink
    #: seconds until it waits again
    expires: float


@dataclass(frozen=True, slots=True)
class FrontierState:
    """A frontier at one time."""

    counts: Counts
    done: int
    failed: int
    #: number of leases that expired so far
    expired: int
    #: seconds since the epoch by the backend's clock
    created: float
    now: float
    hosts: Sequence[HostState]
    groups: Sequence[GroupState]
    leases: Sequence[LeaseState]
    #: number of withheld links
    withheld: int
    #: links left out: out of scope, excluded, too deep
    left_out: int


class ShardDigests(list[bytes]):
    """Digests of URLs that one shard of a frontier has seen."""

    def __init__(self, digests: Iterable[bytes], shard: str) -> None:
        super().__init__(digests)
        #: number of the shard, from 0, and of all shards: ``1/3``
        self.shard = shard


class Inspector(Protocol):
    """Reads a frontier for ``semcrawl frontier`` and for the export, without locking it.

    Nothing here is atomic: a running crawl changes the frontier meanwhile.
    """

    async def queues(self) -> list[str]:
        """Names of all queues that ever held links."""

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Return totals, the ``top`` fullest hosts, the ``top`` best groups, and all leases.

        ``seed_keys`` names the lists whose seeds are counted.
        """

    async def done(self) -> int:
        """Links finished so far."""

    def waiting(self) -> AsyncIterator[WaitingLink]:
        """All waiting links, group by group, in their order."""

    def leases(self) -> AsyncIterator[LeaseState]:
        """All leases, and links given back with a delay, whose worker is empty."""

    def failed(self) -> AsyncIterator[WaitingLink]:
        """The failed links kept for a requeue."""

    def withheld(self) -> AsyncIterator[WaitingLink]:
        """The withheld links."""

    async def families(self) -> list[tuple[str, dict[str, str]]]:
        """The families of links with their stored fields, sorted by name."""

    def seen(self) -> AsyncIterator[list[bytes]]:
        """Digests of all URLs ever added, in sorted portions.

        A frontier in shards yields :class:`ShardDigests`.
        """

    async def values(self) -> dict[str, float]:
        """Values of all groups."""

    async def paces(self) -> dict[str, tuple[float, int]]:
        """Crawl delay (seconds) and concurrency of hosts that have their own."""

    async def yields(self) -> dict[str, HostYield]:
        """The counts of each host, where fairness keeps them."""

    async def totals(self) -> dict[str, float]:
        """Totals since the crawl began, and the virtual time of hosts' turns."""

    async def states(self) -> dict[str, bytes]:
        """The crawl's blobs by name, learned states of strategies among them."""

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return one line per difference.

        For tests and tools: it reads all links, and blocks the backend meanwhile.
        """


class Importer(Protocol):
    """Fills an empty frontier with the content that an :class:`Inspector` reads from another.

    Each method is atomic and may be repeated. No worker uses the frontier meanwhile.
    """

    async def links(self, links: Sequence[WaitingLink], *, failed: bool = False) -> None:
        """Add links at their former places, or as failed links."""

    async def totals(self, totals: Mapping[str, float]) -> None:
        """Set the totals of the former frontier."""

    async def host_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set a host's counts (fetches, targets, consecutive barren ones) and its turn."""

    async def family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set the state of a family of links."""

    async def seen(self, digests: Sequence[bytes]) -> None:
        """Add digests of URLs to the seen set.

        A digest does not tell its shard. All shards keep it, unless it comes in
        :class:`ShardDigests` of the same number of shards.
        """

    async def all_seen(self, number: int) -> None:
        """Set the total number of seen URLs, after all digests were added."""
