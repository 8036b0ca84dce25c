"""Skips pages on re-visits that have not changed according to their sitemap."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from semcrawl.config.revisit import RevisitOptions
from semcrawl.crawl.attempt import Attempt
from semcrawl.crawl.crawllimits import INTERVAL
from semcrawl.crawl.session import CrawlSession
from semcrawl.crawl.shareddates import SharedDates
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.settings.reader import fill
from semcrawl.sources.lastmods import MOST_LIARS, Advice, Lastmods, keyed
from semcrawl.web.hosts import netloc_of

#: share of the pages that a sitemap calls unchanged that are fetched nevertheless, among them the
#: first of each host
CHECKED = 0.1
logger = logging.getLogger(__name__)

#: name of the frontier's blob with the hosts whose sitemaps are wrong
_LIARS = "lastmod-liars"
#: outcomes of documents that were read
_READ = (FetchOutcome.FETCHED_RDF, FetchOutcome.OFF_TOPIC, FetchOutcome.FETCHED_HTML)


class SitemapDates:
    """Skips pages that are due again but have not changed according to their sitemap.

    The frontier remembers, for all workers and runs, the hosts whose sitemaps proved wrong.
    """

    def __init__(
        self, settings: BaseSettings, session: CrawlSession, stats: StatsCollector | None
    ) -> None:
        #: this worker adds the pages that are due; all workers fetch them
        self._revisits = fill(RevisitOptions, settings).on
        self._shared = session.options.shared
        self._on = fill(RevisitOptions, settings).by_lastmod and (self._revisits or self._shared)
        self._session = session
        self._stats = stats
        self._dates = Lastmods(CHECKED)
        self._shared_dates = SharedDates(session.frontier.shared)
        #: seconds between reads of other workers' dates, and the time of the last one
        self._interval = INTERVAL
        self._read_at = -math.inf
        self._loaded = False
        #: addresses that are fetched to check whether their sitemap is right
        self._checks: set[str] = set()

    async def note(self, attempt: Attempt, latest: Mapping[str, int]) -> None:
        """Note the dates of a sitemap: the latest times at which addresses may have changed."""
        if not self._on or not (self._revisits or attempt.link_state.revisit):
            return
        await self._load_once()
        self._dates.note(latest)
        if self._shared:
            await self._shared_dates.add(attempt.url, keyed(latest))

    def may_be_behind(self, attempt: Attempt) -> bool:
        """Whether another worker may have shared the date of a link that is due."""
        outdated = time.monotonic() - self._read_at > self._interval
        return self._shared and self._is_due(attempt) and outdated

    async def catch_up(self, attempt: Attempt) -> list[FetchRecord]:
        """Read the dates that other workers have shared; put the link that is due back."""
        self._read_at = time.monotonic()
        await self._load_once()
        self._dates.note_keys(await self._shared_dates.news())
        await self._session.frontier.not_sent([attempt.lease])
        await self._session.retry(attempt.lease, attempt.link_state, 0.0)
        return []

    def _is_due(self, attempt: Attempt) -> bool:
        state = attempt.link_state
        return self._on and bool(state.visited) and not (state.redirects or state.retries)

    def leaves_out(self, attempt: Attempt) -> bool:
        """Whether a leased link need not be fetched."""
        if not self._is_due(attempt):
            return False
        visited = attempt.link_state.visited
        advice = self._dates.advise(attempt.url, netloc_of(attempt.url), visited)
        if advice is Advice.CHECK:
            self._checks.add(attempt.link_url)
            self._count("checked")
        return advice is Advice.SKIP

    async def record(self, attempt: Attempt) -> list[FetchRecord]:
        """Record a link that is not fetched."""
        await self._session.frontier.not_sent([attempt.lease])
        return [attempt.record(FetchOutcome.SITEMAP_UNCHANGED)]

    async def check(self, attempt: Attempt, items: Sequence[Any]) -> None:
        """Look whether a page that was fetched as a check has changed.

        An RDF document has changed if its content has. A page must have new links besides, as its
        content may differ with every request.
        """
        if attempt.link_url not in self._checks:
            return
        self._checks.discard(attempt.link_url)
        old, new = attempt.link_state.content, attempt.digest
        read = next((i for i in items if isinstance(i, FetchRecord) and i.outcome in _READ), None)
        if read is None or not old or not new or new.startswith(old):
            return
        if read.outcome is FetchOutcome.FETCHED_HTML and not attempt.new_links:
            return
        host = netloc_of(attempt.url)
        if self._dates.disbelieve(host):
            self._count("liars")
            logger.info(
                "The dates in sitemaps of %s are ignored from now on: %s has changed without one",
                host,
                attempt.url,
            )
            await self._save()

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/lastmod/{name}")

    async def _load_once(self) -> None:
        if not self._loaded:
            self._loaded = True
            await self._load()

    async def _load(self) -> None:
        saved = await self._session.frontier.shared.get(_LIARS) or b""
        for host in saved.decode(errors="replace").split()[:MOST_LIARS]:
            self._dates.disbelieve(host)

    async def _save(self) -> None:
        """Add the hosts that proved wrong to those that other workers have saved."""
        await self._load()
        await self._session.frontier.shared.put(_LIARS, "\n".join(self._dates.liars).encode())
