"""The Scrapy scheduler for links of the frontier."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Self, cast

from scrapy import Spider, signals
from scrapy.core.downloader import Downloader
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Request
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from semcrawl.crawl.attempt import ATTEMPT
from semcrawl.crawl.channels import SpiderChannel
from semcrawl.crawl.session import CrawlSession, SessionSource, SessionSpider, session_source
from semcrawl.errors import SemcrawlError
from semcrawl.frontier.contract import Lease

logger = logging.getLogger(__name__)

#: reasons for closing a spider that cannot begin, or cannot go on
_UNAVAILABLE, _FAILED = "frontier_unavailable", "crawl_failed"
#: seconds between checks whether the crawl was stopped
_LOOK = 0.5
#: seconds that readings may take from then on
_GRACE = 2.0


class FrontierScheduler(BaseScheduler):
    """Gives the engine the requests of leased links.

    A spider takes part if it has ``make_request`` (see
    :class:`~semcrawl.crawl.session.SessionSpider`); other spiders get Scrapy's own scheduler. So do
    requests with callbacks of the user's, which are not links: they go first, under Scrapy's
    settings.
    """

    _spider: SessionSpider

    def __init__(self, crawler: Crawler, source: SessionSource) -> None:
        self.crawler = crawler
        self._source = source
        self._ready: deque[Request] = deque()
        self._others = Scheduler.from_crawler(crawler)
        self._open = False
        #: what the engine's limit was last raised by
        self._beyond = 0
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | Scheduler:  # type: ignore[override]
        """Return this scheduler for a spider that takes part, Scrapy's for any other."""
        if not hasattr(crawler.spidercls, "make_request"):
            return Scheduler.from_crawler(crawler)
        scheduler = cls(crawler, session_source(crawler.settings))
        crawler.signals.connect(scheduler.spider_opened, signals.spider_opened)
        crawler.signals.connect(scheduler.spider_idle, signals.spider_idle)
        return scheduler

    def open(self, spider: Spider) -> Deferred[None]:
        """Join the session; log a failure in one line, and close the spider once it is open."""
        self._spider = cast(SessionSpider, spider)
        self._others.open(spider)
        return deferred_from_coro(self._join())

    async def _join(self) -> None:
        spider = self._spider
        try:
            session = self._source.session()
            await session.open()
            spider.join(session)
            channel = SpiderChannel(
                deliver=self._deliver,
                plant=spider.plant_raw,
                seed_key=spider.seed_key,
                waits=spider.waits,
                discover=spider.discover,
                busy=self._has_others,
            )
            await session.attach(spider.queue, channel)
            self._open = True
            self._watch = asyncio.create_task(self._hurry_when_stopped(session))
        except SemcrawlError as error:
            logger.error("%s", error)
            spider.session = None  # type: ignore[assignment]
            self._source.fail(str(error))

    async def _hurry_when_stopped(self, session: CrawlSession) -> None:
        """End what may take long soon after Ctrl-C, for which Scrapy has no signal.

        That is calls to an unreachable frontier, requests that wait for their host's turn, and
        readings of large documents, which the next run reads.
        """
        while self.crawler.crawling:  # noqa: ASYNC110 - Scrapy sets no event
            await asyncio.sleep(_LOOK)
        session.frontier.hurry()
        session.turns.close()
        session.intake.share.close()
        await asyncio.sleep(_GRACE)
        self._spider.end_readings()

    def spider_opened(self) -> None:
        """Close a spider that could not join; closing it earlier would leave parts half open."""
        if not self._open:
            raise CloseSpider(_UNAVAILABLE)

    def spider_idle(self) -> None:
        """Close the spider with a reason if the crawl failed or met a limit.

        For a limit the reason is the setting's name, like Scrapy's ``closespider_pagecount``.
        """
        if self._source.failure:
            raise CloseSpider(_FAILED)
        if self._open and (limit := self._source.session().limit):
            raise CloseSpider(limit.lower())

    def close(self, reason: str) -> Deferred[None]:
        """Leave the session."""
        return deferred_from_coro(self._leave(reason))

    async def _leave(self, reason: str) -> None:
        if (closed := self._others.close(reason)) is not None:
            await maybe_deferred_to_future(closed)
        if self._watch is not None:
            self._watch.cancel()
        if self._open:
            self._open = False
            await self._source.session().detach(self._spider.queue)

    def has_pending_requests(self) -> bool:
        """Whether more requests may come: true until the crawl is finished."""
        if self._ready or self._others.has_pending_requests():
            return True
        return self._open and not self._source.session().finished.is_set()

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request; return whether it is new."""
        if ATTEMPT not in request.meta:
            return self._others.enqueue_request(request)
        self._ready.append(request)
        return True

    def next_request(self) -> Request | None:
        """Return the next request: the user's own before those of links."""
        if self._others.has_pending_requests():
            return self._others.next_request()
        return self._ready.popleft() if self._ready else None

    def _has_others(self) -> bool:
        """Whether requests with callbacks of the user's wait or are under way."""
        if self._others.has_pending_requests():
            return True
        slot = getattr(self.crawler.engine, "_slot", None)
        return slot is not None and any(ATTEMPT not in each.meta for each in slot.inprogress)

    def _deliver(self, lease: Lease) -> None:
        """Give the engine the request of a leased link."""
        engine = self.crawler.engine
        if engine is None or engine.spider is None:
            return
        if (request := self._spider.make_request(lease)) is not None:
            self._widen(engine.downloader)
            engine.crawl(request)

    def _widen(self, downloader: Downloader) -> None:
        """Let the engine send what the session allows beyond the concurrency, robots.txt too."""
        if downloader.total_concurrency > 0:  # 0 = no limit
            beyond = 2 * self._source.session().beyond
            downloader.total_concurrency += beyond - self._beyond
            self._beyond = beyond
