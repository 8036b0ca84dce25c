"""A frontier from outside: its state for people, all of its content for other programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from semcrawl.frontier.contract.entries import Counts, WaitingLink

#: names of the totals that go with a frontier when it is moved
TOTALS = ("done", "failed", "expired", "dropped", "turn")


@dataclass(frozen=True, slots=True)
class HostState:
    """A host with waiting links."""

    host: str
    queue: str
    waiting: int
    #: requests under way
    busy: int
    #: seconds until its crawl delay or rest is over; 0 = over
    cooling: float


@dataclass(frozen=True, slots=True)
class HostYield:
    """The counts of one host."""

    fetches: int
    targets: int
    #: fetches in a row without a target, the last ones
    barren: int
    #: virtual time of its next turn, with fairness between hosts
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
    """A link that a worker has."""

    id: str
    worker: str
    link: WaitingLink
    #: seconds until it goes back in
    expires: float


@dataclass(frozen=True, slots=True)
class FrontierState:
    """A frontier at one time."""

    counts: Counts
    done: int
    failed: int
    #: leases that ran out, so far
    expired: int
    #: seconds since the epoch by the backend's clock
    created: float
    now: float
    hosts: Sequence[HostState]
    groups: Sequence[GroupState]
    leases: Sequence[LeaseState]
    #: links of barren families, which are not asked for
    withheld: int
    #: links that did not go in: out of scope, excluded, too deep
    left_out: int


class ShardDigests(list[bytes]):
    """Digests of URLs that one shard of a frontier has seen."""

    def __init__(self, digests: Iterable[bytes], shard: str) -> None:
        super().__init__(digests)
        #: which of how many: ``1/3``, from 0
        self.shard = shard


class Inspector(Protocol):
    """Reads a frontier for ``semcrawl frontier`` and for the export, without locking it.

    Nothing here is atomic: a crawl under way moves while it is read.
    """

    async def queues(self) -> list[str]:
        """Names of all queues that ever held links."""

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Totals, the ``top`` fullest hosts, the ``top`` best groups, all leases.

        ``seed_keys``: lists whose seeds are counted, too.
        """

    async def done(self) -> int:
        """Links finished so far."""

    def waiting(self) -> AsyncIterator[WaitingLink]:
        """All waiting links, group by group, in their order."""

    def leases(self) -> AsyncIterator[LeaseState]:
        """All leases, and links given back with a delay (whose worker is empty)."""

    def failed(self) -> AsyncIterator[WaitingLink]:
        """Failed links that are kept."""

    def withheld(self) -> AsyncIterator[WaitingLink]:
        """Links that are withheld, as their families are barren."""

    async def families(self) -> list[tuple[str, dict[str, str]]]:
        """Families of links by name, in order, and the fields that are kept of each."""

    def seen(self) -> AsyncIterator[list[bytes]]:
        """Digests of all URLs ever put in, in sorted portions.

        Those of a frontier in shards are :class:`ShardDigests`.
        """

    async def values(self) -> dict[str, float]:
        """Values of all groups."""

    async def paces(self) -> dict[str, tuple[float, int]]:
        """Crawl delay (seconds) and concurrency of hosts that have their own."""

    async def yields(self) -> dict[str, HostYield]:
        """Return the counts of each host so far, where they are kept (for fairness)."""

    async def totals(self) -> dict[str, float]:
        """Totals since the crawl began, and the virtual time that hosts' turns go by."""

    async def states(self) -> dict[str, bytes]:
        """Blobs of the crawl, by name: what strategies learned among them."""

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return what differs, one line each.

        For tests and tools: the backend does nothing else for as long as it reads all links.
        """


class Importer(Protocol):
    """Fills an empty frontier with the parts that an :class:`Inspector` read from another.

    Each method is atomic and may be repeated. No worker uses the frontier meanwhile.
    """

    async def links(self, links: Sequence[WaitingLink], *, failed: bool = False) -> None:
        """Put links into their old places, or among the failed ones."""

    async def totals(self, totals: Mapping[str, float]) -> None:
        """Set the totals of the former frontier."""

    async def host_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set a host's counts (fetches, targets, barren ones in a row), and its turn."""

    async def family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set the state of a family of links."""

    async def seen(self, digests: Sequence[bytes]) -> None:
        """Count URLs as seen, by their digests.

        A frontier in shards cannot tell whose they are: all its shards keep them, unless they are
        :class:`ShardDigests` of as many shards.
        """

    async def all_seen(self, number: int) -> None:
        """Note how many URLs were seen in all, once all their digests are in."""
