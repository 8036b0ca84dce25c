"""The forms of a link in the frontier, and the counts of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

#: the queues of a crawl, named after their spiders
QUEUES = ("html", "rdf")
#: key of a link that goes to the front of its group
FRONT = -1e300


@dataclass(frozen=True, slots=True)
class Entry:
    """A link as it is added to the frontier."""

    url: str
    #: the key that politeness groups by: a host name with port, or a pay-level domain
    host: str
    #: name of the spider that fetches it: ``html`` or ``rdf``
    queue: str
    #: name of the strategy's group
    group: str
    key: float = 0.0
    #: data that returns with the lease; small, and serialisable by msgpack
    payload: Mapping[str, Any] = field(default_factory=dict)
    #: the strategy's label, at most 255 bytes; waiting links are counted by it
    label: str = ""
    #: number of consecutive documents without a target above it (BioCrawler's dynamic depth)
    barren: int = 0

    def check(self) -> None:
        """Raise ``ValueError`` if a frontier cannot store or order the link."""
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
    """A leased link. ``id`` names the lease, not the link; it is void once the lease expired.

    To change a link before :meth:`LinkQueue.give_back`, replace its entry:
    ``dataclasses.replace(lease, entry=…)``. It keeps its place among links of equal key.
    """

    id: str
    entry: Entry
    #: number of earlier leases that expired or were given back
    tries: int = 0
    #: whether its host is held until :meth:`LinkQueue.started` (or the end of the download)
    held: bool = False
    #: whether it probes if its host, which was down, answers again
    probe: bool = False
    #: id of the attempt (64 bits); a repetition after the worker was killed keeps it
    attempt: int = 0
    #: whether it is such a repetition; the first try may have written results
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class WaitingLink:
    """A waiting link, its place among links of equal key, and its tries."""

    entry: Entry
    sequence: int
    tries: int
    #: number of the first take that was never acknowledged; ``None`` if there was none
    lost: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of the frontier, counted from its structures."""

    waiting: int
    leased: int
    seeds: int
    seen: int
    hosts: int
    #: waiting links by :attr:`Entry.label`
    waiting_by_label: Mapping[str, int] = field(default_factory=dict)
    #: links dropped so far because the frontier was full
    dropped: int = 0

    @property
    def finished(self) -> bool:
        """Whether no link waits or is leased, and no seed is left."""
        return not (self.waiting or self.leased or self.seeds)


@dataclass(frozen=True, slots=True)
class SkippedHosts:
    """Hosts that a take skips; false if there are none."""

    #: hosts that gave nothing yet
    untried: bool = False
    #: pay-level domains
    domains: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Whether any host is skipped."""
        return self.untried or bool(self.domains)


NONE_SKIPPED = SkippedHosts()
