"""Makes a session from Scrapy settings: frontier, strategy, limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.config.jobdir import job_path
from semcrawl.config.numbers import read_number
from semcrawl.config.workercount import worker_count
from semcrawl.crawl.healthsigns import HealthOptions
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.restpolicy import RestPolicyName
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import UsageError
from semcrawl.frontier.backends import check_backend, check_crawl_name, job_backend
from semcrawl.frontier.contract import AddressLimits
from semcrawl.frontier.options import FrontierOptions
from semcrawl.relevance import Relevance, crawl_strategy


def frontier_options(settings: BaseSettings) -> FrontierOptions:
    """Read the frontier's settings; raise ``UsageError`` for wrong ones."""
    return FrontierOptions(
        lease_time=read_number(settings, "SEMCRAWL_LEASE_TIME", 120.0),
        delay=read_number(settings, "SEMCRAWL_CRAWL_DELAY", 1.0),
        concurrency=int(read_number(settings, "SEMCRAWL_CONCURRENCY_PER_HOST", 1)),
        fairness=settings.get("SEMCRAWL_FAIRNESS", "off"),
        penalty_after=int(read_number(settings, "SEMCRAWL_PENALTY_AFTER", 0)),
        penalty_time=read_number(settings, "SEMCRAWL_PENALTY_TIME", 600.0),
        dynamic_depth=int(read_number(settings, "SEMCRAWL_DYNAMIC_DEPTH", 0)),
        max_waiting=int(read_number(settings, "SEMCRAWL_MAX_WAITING", 0)),
        exact_limit=int(read_number(settings, "SEMCRAWL_SEEN_EXACT", 0)),
        seen_capacity=int(read_number(settings, "SEMCRAWL_SEEN_CAPACITY", 1e9)),
        seen_error=read_number(settings, "SEMCRAWL_SEEN_ERROR", 1e-6),
        family_tries=int(read_number(settings, "SEMCRAWL_FAMILY_TRIES", 10)),
        mirror_copies=int(read_number(settings, "SEMCRAWL_MIRROR_COPIES", 0)),
        patience=read_number(settings, "SEMCRAWL_REDIS_PATIENCE", 300.0),
        ahead=int(read_number(settings, "SEMCRAWL_FRONTIER_AHEAD", 16)),
        glance=read_number(settings, "SEMCRAWL_FRONTIER_GLANCE", 0.15),
    )


def session_options(settings: BaseSettings) -> SessionOptions:
    """Read the session's settings; raise ``UsageError`` for wrong ones."""
    pages = settings.get("SEMCRAWL_PAGES")
    budget = None
    if pages not in (None, "", 0, "0"):
        budget = int(read_number(settings, "SEMCRAWL_PAGES", 0))
        if budget < 1:
            raise UsageError(f"SEMCRAWL_PAGES must be at least 1, not {pages!r}")
    pace_by = settings.get("SEMCRAWL_PACE_BY", "domain")
    if pace_by not in ("host", "domain"):
        raise UsageError(f"SEMCRAWL_PACE_BY must be host or domain, not {pace_by!r}")
    concurrency = int(read_number(settings, "CONCURRENT_REQUESTS", 16))
    if concurrency < 1:
        raise UsageError(f"CONCURRENT_REQUESTS must be at least 1, not {concurrency}")
    return SessionOptions(
        concurrency=concurrency,
        share_of_slots=read_number(settings, "SEMCRAWL_SHARE_OF_SLOTS", 0.5),
        queue_shares=queue_shares(settings),
        leases=max(concurrency, int(read_number(settings, "SEMCRAWL_MAX_LEASES", 256))),
        slow_start=int(read_number(settings, "SEMCRAWL_SLOW_START", 0)),
        max_left_out=int(read_number(settings, "SEMCRAWL_MAX_LEFT_OUT", 1_000_000)),
        budget=budget,
        patience=int(read_number(settings, "SEMCRAWL_PATIENCE", 0)),
        pace_by=pace_by,
        robots_memory=int(read_number(settings, "SEMCRAWL_ROBOTS_MEMORY", 32 * 1024 * 1024)),
        idle_time=read_number(settings, "MAX_IDLE_TIME_BEFORE_CLOSE", 0.0),
        shared=bool(settings.get("REDIS_URL")) or worker_count(settings) > 1,
        report_yields=settings.get("SEMCRAWL_FAIRNESS") == "yield"
        or read_number(settings, "SEMCRAWL_PENALTY_AFTER", 0) > 0,
        spiders=2 if settings.getbool("SEMCRAWL_HARVEST") else 1,
        address=AddressLimits(
            delay=read_number(settings, "SEMCRAWL_ADDRESS_DELAY", 0.1),
            concurrency=max(1, int(read_number(settings, "SEMCRAWL_CONCURRENCY_PER_ADDRESS", 8))),
            private=settings.getbool("SEMCRAWL_PACE_PRIVATE_ADDRESSES"),
        ),
        health=HealthOptions(
            failures=int(read_number(settings, "SEMCRAWL_HOST_FAILURES", 4)),
            forbidden=int(read_number(settings, "SEMCRAWL_HOST_FORBIDDEN", 6)),
            rest=read_number(settings, "SEMCRAWL_HOST_REST", 2.0),
            rest_policy=RestPolicyName.read(settings),
            patience=read_number(settings, "SEMCRAWL_HOST_PATIENCE", 600.0),
            untried_patience=read_number(settings, "SEMCRAWL_UNTRIED_HOST_PATIENCE", 60.0),
        ),
    )


def queue_shares(settings: BaseSettings) -> dict[str, float]:
    """Read ``SEMCRAWL_QUEUE_SHARES``: weights by queue; raise ``UsageError`` for a wrong one."""
    name = "SEMCRAWL_QUEUE_SHARES"
    given = settings.get(name) or {}
    pairs: Iterable[tuple[Any, Any]] = [("", given)]
    if isinstance(given, str):
        pairs = [
            (queue, weight) for queue, _, weight in (e.partition("=") for e in given.split(","))
        ]
    elif isinstance(given, Mapping):
        pairs = given.items()
    shares = {}
    for queue, weight in pairs:
        try:
            shares[str(queue).strip()] = share = float(weight)
        except (TypeError, ValueError):
            share = -1.0
        if not (str(queue).strip() and 0 <= share < inf):
            raise UsageError(f"{name} must be weights such as html=3,rdf=1, not {given!r}")
    return shares


@dataclass
class SessionSource:
    """Makes the one session of a process, and its frontier, on first use."""

    settings: BaseSettings
    _session: CrawlSession | None = None
    _unopened: str = ""
    _parts: tuple[SessionOptions, FrontierOptions, Relevance] | None = field(
        default=None, repr=False
    )

    def __deepcopy__(self, memo: object) -> SessionSource:
        """Return itself: crawlers copy their settings, but share the session."""
        return self

    def session(self) -> CrawlSession:
        """Return the session; raise ``UsageError`` or ``FrontierUnavailable`` if there is none."""
        if self._session is None:
            self._session = self._make()
        return self._session

    def adopt(self, settings: BaseSettings) -> None:
        """Use a crawler's settings, which its spider may have changed, unless others are in use."""
        if self._session is None and self._parts is None:
            self.settings = settings

    @property
    def failure(self) -> str:
        """Why the crawl cannot begin or go on; empty if it can."""
        return self._unopened or (self._session.failure if self._session else "")

    def fail(self, reason: str) -> None:
        """Note that a spider could not take part; end the crawl of the others."""
        self._unopened = self._unopened or reason
        if self._session is not None:
            self._session.fail(reason)

    def configure(self) -> tuple[SessionOptions, FrontierOptions, Relevance]:
        """Read the settings and load the strategy, once; this starts and writes nothing."""
        if self._parts is None:
            settings = self.settings
            check_crawl_name(settings)
            self._parts = (
                session_options(settings),
                frontier_options(settings),
                crawl_strategy(settings),
            )
        return self._parts

    def check(self) -> None:
        """Check that the frontier can be opened; raise as :func:`check_backend` does."""
        check_backend(self.settings, self.folder)

    def _make(self) -> CrawlSession:
        options, frontier_settings, strategy = self.configure()
        frontier = job_backend(self.settings, self.folder, frontier_settings)
        return CrawlSession(frontier, strategy, options)

    @property
    def folder(self) -> Path:
        """The job folder."""
        return job_path(self.settings)


def session_source(settings: BaseSettings) -> SessionSource:
    """Return the source that the process shares, or else a new one for this crawler."""
    shared: Any = settings.get("SEMCRAWL_SESSION_SOURCE")
    if not isinstance(shared, SessionSource):
        return SessionSource(settings)
    shared.adopt(settings)
    return shared
