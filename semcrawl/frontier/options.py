"""The options of a frontier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semcrawl.errors import UsageError
from semcrawl.settings.reader import setting


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """Options of a frontier.

    Order and pace are those of the worker that opened the crawl last, for all workers. Raises
    ``UsageError`` for invalid values.
    """

    #: seconds after which a lease expires
    lease_time: float = setting("SEMCRAWL_LEASE_TIME")
    #: seconds between request starts on a host without a pace of its own
    delay: float = setting("SEMCRAWL_CRAWL_DELAY")
    #: requests at a time on a host without a pace of its own
    concurrency: int = setting("SEMCRAWL_CONCURRENCY_PER_HOST")
    #: order of hosts whose best groups have equal values: ``off`` = smallest key, then first in;
    #: ``equal`` = in turn; ``yield`` = in turn, hosts with more targets more often
    fairness: Literal["off", "equal", "yield"] = setting("SEMCRAWL_FAIRNESS")
    #: SWSE's penalty of barren domains (sources.md T.8): a host rests after this many consecutive
    #: fetches without a target (0 = never) …
    penalty_after: int = setting("SEMCRAWL_PENALTY_AFTER")
    #: … for this many seconds
    penalty_time: float = setting("SEMCRAWL_PENALTY_TIME")
    #: BioCrawler's dynamic depth (sources.md T.8): links with this many consecutive documents
    #: without a target above them are not added (0 = all are); see :attr:`Entry.barren`
    dynamic_depth: int = setting("SEMCRAWL_DYNAMIC_DEPTH")
    #: URLs that the seen set stores exactly (0 = all); later ones go into a Bloom filter, which
    #: needs a tenth of the memory but rarely mistakes a new URL for a seen one
    exact_limit: int = setting("SEMCRAWL_SEEN_EXACT")
    #: capacity of the Bloom filter in URLs; fixed when a crawl begins
    seen_capacity: int = 1_000_000_000
    #: error rate of the full Bloom filter; fixed when a crawl begins
    seen_error: float = 1e-6
    #: most waiting links (0 = no limit); beyond it the last links of the worst group are dropped
    max_waiting: int = setting("SEMCRAWL_MAX_WAITING")
    #: barren links of a family (:mod:`semcrawl.relevance.families`) after which the others are
    #: withheld (0 = never)
    family_tries: int = setting("SEMCRAWL_FAMILY_TRIES")
    #: equal paths at which two origins count as mirrors
    #: (:mod:`semcrawl.crawl.withholding`; 0 = never)
    mirror_copies: int = setting("SEMCRAWL_MIRROR_COPIES")
    #: most failed links kept for ``requeue``
    max_failed: int = 100_000
    #: seconds to wait for an absent server before raising ``FrontierUnavailable``
    patience: float = setting("SEMCRAWL_REDIS_PATIENCE")
    #: result of :meth:`Frontier.next_ready`, in seconds, while hosts only wait for downloads
    poll: float = 0.1
    #: links that a take may draw from a shard although earlier links of the same value and key wait
    #: in another (0 = none); above 0, a worker's own changes to a shard need no new glance at it
    ahead: int = 16
    #: seconds for which a worker trusts a glance at a shard's best link, and few links to a shard
    #: wait for more; a shard without ready links is trusted for at most twice as long
    glance: float = 0.15
    #: most links in one list on the server, which reads and moves it as a whole
    chunk: int = 64
    #: seconds to wait for the server's answer
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Raise ``UsageError`` for invalid values."""
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
