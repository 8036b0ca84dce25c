"""The choices that a frontier offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semcrawl.errors import UsageError


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """Options of a frontier.

    Order and pace follow those of the worker that opened the crawl last, for all its workers.
    Raises ``UsageError`` for values that make no sense.
    """

    #: seconds after which an unfinished link goes back in
    lease_time: float = 120.0
    #: seconds between request starts on a host that has no pace of its own
    delay: float = 1.0
    #: requests at a time on a host that has no pace of its own
    concurrency: int = 1
    #: who is first among hosts whose best groups have equal values: ``off`` = the smallest key,
    #: then first in; ``equal`` = hosts in turn; ``yield`` = in turn, richer hosts more often
    fairness: Literal["off", "equal", "yield"] = "off"
    #: SWSE's penalty of barren domains (sources.md T.8): a host rests after this many fetches in a
    #: row without a target (0 = never) …
    penalty_after: int = 0
    #: … for this many seconds
    penalty_time: float = 600.0
    #: BioCrawler's dynamic depth (sources.md T.8): links with this many documents without a
    #: target in a row above them are not put in (0 = all are); see :attr:`Entry.barren`
    dynamic_depth: int = 0
    #: URLs that the seen set keeps exactly (0 = all); those that come later are kept in a Bloom
    #: filter, which takes a tenth of the memory and now and then takes a new URL for a seen one
    exact_limit: int = 0
    #: URLs for which the Bloom filter is laid out; fixed when a crawl begins
    seen_capacity: int = 1_000_000_000
    #: share of new URLs that a full Bloom filter takes for seen ones; fixed when a crawl begins
    seen_error: float = 1e-6
    #: most waiting links (0 = no limit); beyond it the last links of the worst group are dropped
    max_waiting: int = 0
    #: links of a family (:mod:`semcrawl.relevance.families`) that bring nothing before the others
    #: are withheld (0 = all are asked for)
    family_tries: int = 10
    #: paths by which two origins give the same before they count as mirrors
    #: (:mod:`semcrawl.relevance.mirrors`; 0 = none do)
    mirror_copies: int = 0
    #: most failed links kept aside for ``requeue``
    max_failed: int = 100_000
    #: seconds to wait for a server that went away before ``FrontierUnavailable`` is raised
    patience: float = 300.0
    #: seconds after which :meth:`Frontier.next_ready` wants to be asked again while only
    #: downloads under way keep hosts from being asked
    poll: float = 0.1
    #: links that a take may draw from a shard though links of the same value and key, which came in
    #: before them, wait in another (0 = none); with some, a worker does not look again at a shard
    #: because it changed something there
    ahead: int = 16
    #: seconds for which a worker believes what it saw of a shard's best link; one without links
    #: believes five times as long, at most, that a shard has none ready
    glance: float = 0.05
    #: most links that wait in one list on the server: it is read and moved as a whole
    chunk: int = 64
    #: seconds to wait for an answer of the server
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Check."""
        if not self.lease_time > 0:
            raise UsageError(f"lease time must be more than 0 s, not {self.lease_time}")
        if not self.glance >= 0:
            raise UsageError(f"a glance must be 0 s or more, not {self.glance}")
        if not 0 <= self.delay < 1e6:
            raise UsageError(f"crawl delay must be 0 to 1,000,000 s, not {self.delay}")
        if self.chunk < 1:
            raise UsageError(f"a chunk holds at least 1 link, not {self.chunk}")
        if self.concurrency < 1:
            raise UsageError(f"concurrency per host must be at least 1, not {self.concurrency}")
        if self.fairness not in ("off", "equal", "yield"):
            raise UsageError(f"fairness must be off, equal or yield, not {self.fairness!r}")
        if self.seen_capacity < 1 or not 0 < self.seen_error < 1:
            raise UsageError("seen capacity must be at least 1, seen error between 0 and 1")
        for name in (
            "ahead",
            "penalty_after",
            "dynamic_depth",
            "max_waiting",
            "max_failed",
            "exact_limit",
            "family_tries",
            "mirror_copies",
        ):
            if getattr(self, name) < 0:
                raise UsageError(f"{name.replace('_', ' ')} must not be negative")
