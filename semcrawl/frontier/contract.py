"""The contract of the frontier: where links wait, are leased, and end.

All workers of a crawl share one frontier. A link is *added* once (the seen set decides), waits in
a group of its host, is *taken* under a lease, and is *done*, or goes back in when the lease runs
out. ``take`` hands out only hosts that may be asked now.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

#: the queues of a crawl, called after the spiders that they are for
QUEUES = ("html", "rdf")
#: key of a link that goes to the front of its group
FRONT = -1e300


@dataclass(frozen=True, slots=True)
class Entry:
    """A link on its way into the frontier."""

    url: str
    #: what politeness counts by: a host name (with port), or a pay-level domain
    host: str
    #: the spider that is to fetch it: ``html`` or ``rdf``
    queue: str
    #: name of the strategy's group
    group: str
    key: float = 0.0
    #: what the spider wants back with the lease; small, msgpack-able
    payload: Mapping[str, Any] = field(default_factory=dict)
    #: the strategy's label, by which waiting links are counted; at most 255 bytes
    label: str = ""
    #: documents without a target in a row above this link (for BioCrawler's dynamic depth)
    barren: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """A link handed out. ``id`` names the lease, not the link: an expired lease's id is void.

    To change what goes back in with :meth:`Frontier.give_back`, replace the entry:
    ``dataclasses.replace(lease, entry=…)``; its place in line stays.
    """

    id: str
    entry: Entry
    #: how often the link was taken before (expired or given back)
    tries: int = 0
    #: whether its host is held until :meth:`Frontier.started` (or the end of the download)
    held: bool = False
    #: whether it is to find out if its host, which was down, answers again
    probe: bool = False
    #: names the attempt (64 bits): one that is made again, as the worker that made it was killed
    #: before it was acknowledged, has the name of the first
    attempt: int = 0
    #: whether it is such a one, whose results may have been written
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes, counted from the structures themselves."""

    waiting: int
    leased: int
    seeds: int
    seen: int
    hosts: int
    #: waiting links by :attr:`Entry.label` (for displays)
    waiting_by_label: Mapping[str, int] = field(default_factory=dict)
    #: links dropped so far because the frontier was full
    dropped: int = 0

    @property
    def finished(self) -> bool:
        """Nothing waits, nothing is leased, no seed is left."""
        return not (self.waiting or self.leased or self.seeds)


class Frontier(ABC):
    """Where links wait. Every method is one round trip, safe to repeat after a lost connection.

    Raises ``FrontierUnavailable`` when the server is away (the caller may retry) and
    ``FrontierCorrupt`` when a key holds what it should not.
    """

    @abstractmethod
    async def open(self) -> None:
        """Connect, check the version stamp of the crawl's keys, load the scripts."""

    @abstractmethod
    async def close(self) -> None:
        """Disconnect; leases of this worker that are not done go back at once."""

    async def __aenter__(self) -> Self:
        """Open."""
        await self.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close."""
        await self.close()

    # -- links
    @abstractmethod
    async def add(self, entries: Sequence[Entry]) -> list[bool]:
        """Put links in; for each, whether it was new (not in the seen set)."""

    @abstractmethod
    async def take(
        self, limit: int, queues: Sequence[str], *, over: Sequence[Lease] = ()
    ) -> list[Lease]:
        """Lease up to ``limit`` links of these queues from hosts that may be asked now.

        Largest group value first (a group without one counts 0), then smallest key, then first
        in, over all given queues and all hosts that may be asked. Before that, the downloads that
        are ``over`` are released, as by :meth:`release_host`.
        """

    @abstractmethod
    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Seconds until asking again may give a link; ``None`` if none waits.

        0 when a link can be taken now. An upper bound: where hosts wait only for downloads to
        end (perhaps another worker's), it is a short time after which to look again.
        """

    @abstractmethod
    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Say that these requests leave now: their hosts' crawl delay counts from here.

        (Or from the end of the download where that comes soon after.) For each, whether its lease
        still held: one that ran out may be another worker's by now, and must not be sent. Where
        there is no delay that is not asked.

        Between ``take`` and this call a host with a crawl delay is held, so that prefetched
        links never come too close; without the call the delay counts from
        :meth:`release_host`. Not needed where the delay is 0.
        """

    @abstractmethod
    async def spared(self, leases: Sequence[Lease]) -> None:
        """Say that nothing is sent for these links: their hosts may be asked at once.

        The leases stay until :meth:`done`. Not needed where the delay is 0.
        """

    @abstractmethod
    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Prolong leases of slow downloads by the full lease time; for each, whether it held."""

    @abstractmethod
    async def done(self, leases: Sequence[Lease]) -> None:
        """Acknowledge: these links are finished, their results written."""

    @abstractmethod
    async def fail(self, leases: Sequence[Lease]) -> None:
        """Acknowledge links that could not be fetched; they are kept aside for a requeue."""

    @abstractmethod
    async def release_host(self, leases: Sequence[Lease]) -> None:
        """Say that the downloads are over, so that their hosts' concurrency is free again.

        The leases stay until :meth:`done`.
        """

    @abstractmethod
    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Put links back (a retry), not to be taken before ``delay`` seconds have passed."""

    # -- errands: requests that are no link's
    @abstractmethod
    async def next_turn(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn for an errand; return after how many seconds to ask again.

        0 when its turn is now: the host is held for it as for a link that was taken. ``None`` where
        there is no delay: then nothing is counted. Errands wait in line, first in, first out, and
        links wait for them. One that does not ask again in time, or does not end, is forgotten
        after :attr:`FrontierOptions.lease_time`. ``errand`` is a name of this worker's.

        ``instead_of``: a link that was taken, and has not been sent, gives its host's turn up for
        the errand.
        """

    @abstractmethod
    async def turn_starts(self, host: str, errand: str) -> bool:
        """Say that an errand's request leaves now, as :meth:`started` does; whether it may."""

    @abstractmethod
    async def end_turn(self, host: str, errand: str, *, spared: bool = False) -> None:
        """Say that an errand is over; ``spared``: nothing was sent, and its host needs no rest."""

    # -- order and pace
    @abstractmethod
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values; larger first; they hold from the next ``take`` on."""

    @abstractmethod
    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Give links new keys inside their group, where they still wait."""

    @abstractmethod
    async def set_pace(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds between request starts) and its concurrency.

        ``at_least``: a longer delay that it has stays.
        """

    @abstractmethod
    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest at least so long from now, whatever its pace: it asked for that."""

    @abstractmethod
    async def reward(self, host: str, *, target: bool) -> None:
        """Tell whether a fetch on the host gave a target (fairness policies)."""

    # -- seeds: Redis lists that anybody may push to
    @abstractmethod
    async def push_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds (bare URLs or JSON) to a list."""

    @abstractmethod
    async def take_seeds(self, key: str, limit: int) -> list[str]:
        """Move seeds from the list to this worker's pending ones and return them."""

    @abstractmethod
    async def done_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are safely in the frontier; unforgotten ones come back."""

    # -- shared state
    @abstractmethod
    async def publish(self, *events: bytes) -> None:
        """Append events (outcomes) for the other workers' strategies."""

    @abstractmethod
    async def events(self, limit: int = 1000) -> list[bytes]:
        """Events of other workers since the last call, in order."""

    @abstractmethod
    async def save(self, name: str, state: bytes) -> None:
        """Keep a blob of the crawl (a strategy's state)."""

    @abstractmethod
    async def load(self, name: str) -> bytes | None:
        """Return the blob, or ``None``."""

    # -- looking
    @abstractmethod
    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count what is there."""
