"""Options of a session: limits, intervals, politeness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from semcrawl.crawl.healthsigns import HealthOptions
from semcrawl.errors import UsageError
from semcrawl.frontier.contract import AddressLimits
from semcrawl.settings.reader import part, setting


def _budget(pages: int) -> int | None:
    """Return the most requests of a run; ``None`` for any number."""
    return pages or None


def _shares(given: Any) -> dict[str, float]:
    """Return weights by queue, from a mapping or text; raise ``UsageError`` for a wrong one."""
    pairs: Iterable[tuple[Any, Any]] = given.items() if isinstance(given, Mapping) else ()
    if isinstance(given, str):
        pairs = [each.partition("=")[::2] for each in given.split(",") if given]
    elif not isinstance(given, Mapping):
        pairs = [("", given)]
    shares = {}
    for queue, weight in pairs:
        try:
            shares[str(queue).strip()] = share = float(weight)
        except (TypeError, ValueError):
            share = -1.0
        if not (str(queue).strip() and 0 <= share < inf):
            raise UsageError(
                f"SEMCRAWL_QUEUE_SHARES must be weights such as html=3,rdf=1, not {given!r}"
            )
    return shares


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Limits and intervals of a session."""

    #: most requests in flight, over all spiders of the process
    concurrency: int = 16
    #: share of them for one pay-level domain when there are several, and for hosts that have given
    #: nothing when some were found dead
    share_of_slots: float = 0.5
    #: weights of the queues, whose shares of the requests they are; empty: the best yield first
    queue_shares: Mapping[str, float] = setting("SEMCRAWL_QUEUE_SHARES", _shares)
    #: at the start, outcomes to learn before each further request in flight; 0 = no slow start
    slow_start: int = setting("SEMCRAWL_SLOW_START")
    #: most leases of the process, including those whose results are being written
    leases: int = setting("SEMCRAWL_MAX_LEASES")
    #: URLs in the seen set that this process remembers (some 60 bytes each)
    known_urls: int = 100_000
    #: links left out that the frontier counts, each once; 0 = none
    max_left_out: int = 1_000_000
    #: requests that this run may send; ``None`` = no limit
    budget: int | None = setting("SEMCRAWL_PAGES", _budget)
    #: requests in a row without a target after which the crawl may end; 0 = never
    patience: int = setting("SEMCRAWL_PATIENCE")
    #: key of politeness: ``host``, or ``domain`` (pay-level domain)
    pace_by: str = setting("SEMCRAWL_PACE_BY")
    #: bytes of memory for parsed robots.txt files, about
    robots_memory: int = 32 * 1024 * 1024
    #: seconds between looks at the seed lists, and at the seeds of other workers
    seed_interval: float = 0.5
    #: seconds between reads of other workers' events
    event_interval: float = 0.25
    #: seconds between saves of the learned state
    save_interval: float = 30.0
    #: seconds without work after which a crawl that had seeds ends
    idle_time: float = 0.0
    #: whether other processes may take part in the crawl
    shared: bool = False
    #: whether to report each fetch to the frontier, for penalties and fairness by yield
    report_yields: bool = False
    #: spiders of this process that belong to the crawl, which waits for all of them
    spiders: int = 1
    #: how often an IP address may be asked
    address: AddressLimits = part(AddressLimits)
    #: when a host counts as down, and how long the crawl waits for it
    health: HealthOptions = part(HealthOptions)
