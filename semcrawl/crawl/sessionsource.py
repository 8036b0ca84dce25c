"""Makes a session from Scrapy settings: frontier, strategy, limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.config.jobdir import job_path
from semcrawl.config.workercount import worker_count
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.backends import check_backend, check_crawl_name, job_backend
from semcrawl.frontier.contract import FrontierOptions
from semcrawl.relevance import Relevance, crawl_strategy
from semcrawl.settings.reader import fill, number

#: seconds without work after which a crawl that had seeds ends
_IDLE = "MAX_IDLE_TIME_BEFORE_CLOSE"


def frontier_options(settings: BaseSettings) -> FrontierOptions:
    """Read the frontier's settings; raise ``UsageError`` for wrong ones."""
    return fill(FrontierOptions, settings)


def session_options(settings: BaseSettings) -> SessionOptions:
    """Read the session's settings, Scrapy's among them; raise ``UsageError`` for wrong ones."""
    concurrency = number(
        "CONCURRENT_REQUESTS", settings.get("CONCURRENT_REQUESTS", 16), 1, whole=True
    )
    found = fill(
        SessionOptions,
        settings,
        concurrency=concurrency,
        idle_time=number(_IDLE, settings.get(_IDLE) or 0),
        shared=bool(settings.get("REDIS_URL")) or worker_count(settings) > 1,
        spiders=2 if settings.getbool("SEMCRAWL_HARVEST") else 1,
    )
    frontier = frontier_options(settings)
    return replace(
        found,
        leases=max(concurrency, found.leases),
        report_yields=frontier.fairness == "yield" or frontier.penalty_after > 0,
    )


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
