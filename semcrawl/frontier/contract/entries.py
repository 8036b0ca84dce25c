"""Links on their way through a frontier, and its counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

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
    #: data that comes back with the lease; small, msgpack-able
    payload: Mapping[str, Any] = field(default_factory=dict)
    #: the strategy's label, by which waiting links are counted; at most 255 bytes
    label: str = ""
    #: documents without a target in a row above this link (for BioCrawler's dynamic depth)
    barren: int = 0

    def check(self) -> None:
        """Raise ``ValueError`` for what no frontier can store or order."""
        if ":" in self.queue or not self.queue:
            raise ValueError(f"a queue's name is not empty and has no colon: {self.queue!r}")
        if "/" in self.host or not self.host:
            raise ValueError(f"a host is not empty and has no slash: {self.host!r}")
        if not isfinite(self.key):
            raise ValueError(f"a key is a finite number, not {self.key}")
        if len(self.label.encode()) > 255:
            raise ValueError("a label has at most 255 bytes")


@dataclass(frozen=True, slots=True)
class Lease:
    """A leased link. ``id`` names the lease, not the link: an expired lease's id is void.

    To change a link that goes back with :meth:`LinkQueue.give_back`, replace the entry:
    ``dataclasses.replace(lease, entry=…)``; its place in line stays.
    """

    id: str
    entry: Entry
    #: how often the link was taken before (expired or given back)
    tries: int = 0
    #: whether its host is held until :meth:`LinkQueue.started` (or the end of the download)
    held: bool = False
    #: whether it is to find out if its host, which was down, answers again
    probe: bool = False
    #: names the attempt (64 bits); a repetition after the worker was killed has the same name
    attempt: int = 0
    #: whether it is such a repetition, whose results may have been written
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class WaitingLink:
    """A waiting link with its place among those of equal key, and its tries."""

    entry: Entry
    sequence: int
    tries: int
    #: number of the first earlier take that was never acknowledged; ``None`` if there was none
    lost: int | None = None


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


@dataclass(frozen=True, slots=True)
class SkippedHosts:
    """Hosts that a take passes over; the empty one is false."""

    #: hosts that gave nothing yet
    untried: bool = False
    #: pay-level domains
    domains: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Whether any host is passed over."""
        return self.untried or bool(self.domains)


NONE_SKIPPED = SkippedHosts()
