"""The options of a session."""

from __future__ import annotations

from dataclasses import dataclass, field

from semcrawl.crawl.healthsigns import HealthOptions
from semcrawl.frontier.contract import AddressLimits


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Limits and intervals of a session."""

    #: requests in flight at a time, over all spiders of the process
    concurrency: int = 8
    #: share of them that one pay-level domain may have beside others, and hosts that never answered
    #: once some were found dead
    share_of_slots: float = 0.5
    #: fetches to learn from per further request in flight, at the start; 0 = all at once
    slow_start: int = 0
    #: leases that may be held at a time, those included whose results are being written
    leases: int = 256
    #: URLs that this process remembers to be in the seen set (some 60 bytes each)
    known_urls: int = 500_000
    #: links left out that the summary counts once each; 0 = none is counted
    max_left_out: int = 1_000_000
    #: requests that may be sent in this run; ``None`` = no limit
    budget: int | None = None
    #: requests in a row without a target after which the crawl may end; 0 = never
    patience: int = 0
    #: what politeness counts by: ``host``, or ``domain`` (pay-level domain)
    pace_by: str = "host"
    #: bytes that parsed robots.txt files may take in memory, about
    robots_memory: int = 128 * 1024 * 1024
    #: seconds between looks at the seed lists, and at the seeds that other workers have put in
    seed_interval: float = 0.5
    #: seconds between looks at what other workers learned
    event_interval: float = 0.25
    #: seconds between two savings of what the strategy learned
    save_interval: float = 30.0
    #: seconds without work after which a crawl that has seeds ends
    idle_time: float = 0.0
    #: whether other processes may work on the same crawl
    shared: bool = False
    #: whether each fetch is counted for its host (penalty and fairness go by that)
    report_yields: bool = False
    #: spiders of this process that belong to the crawl; it is not over before all have come
    spiders: int = 1
    #: how often addresses are asked
    address: AddressLimits = field(default_factory=AddressLimits)
    #: when a host counts as down, and how long it is waited for
    health: HealthOptions = field(default_factory=HealthOptions)
