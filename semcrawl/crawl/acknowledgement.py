"""Acknowledges a link once all its results are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Self, cast

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.referer import RefererMiddleware
from twisted.python.failure import Failure

from semcrawl.crawl.attempt import ATTEMPT, Attempt
from semcrawl.crawl.failures import ItemNotWritten, end_crawl
from semcrawl.crawl.session import SessionSpider


class Referers(RefererMiddleware):
    """Spider middleware: names the page that a request comes from, as Scrapy's own does.

    Scrapy's passes on every item of every page through a generator, in search of requests. This one
    is asked by :class:`~semcrawl.crawl.acknowledgement.Acknowledgement` when there is a request,
    and by Scrapy's redirects.
    """

    process_spider_output = None  # type: ignore[assignment]
    process_spider_output_async = None  # type: ignore[assignment]

    def name_page(self, request: Request, response: Response) -> None:
        """Set the header, unless the request has it."""
        self.get_processed_request(request, response)


class Acknowledgement:
    """Spider middleware, the last before the pipelines: counts the items of each attempt.

    It runs after everything that may drop, add or change items: callbacks of subclasses and other
    spider middlewares. So it counts exactly the items that reach the pipelines; Scrapy's signals
    say when an item is through. The base spider's callback sets ``Attempt.read`` when it has read
    the response. If a callback fails before that, or does not call ``super()``, the spider's
    ``abandoned`` records the link as failed, and the crawl goes on.

    A request without a callback is a link: the spider's ``plant_request`` puts it into the
    frontier.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware and listen for finished items."""
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware.item_over, signals.item_scraped)
        connect(middleware.item_dropped, signals.item_dropped)
        connect(middleware.item_lost, signals.item_error)
        connect(middleware.callback_failed, signals.spider_error)
        return middleware

    @property
    def _spider(self) -> SessionSpider:
        return cast(SessionSpider, self._crawler.spider)

    # -- output of callbacks
    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Plant the seeds, pass on the output of ``start``, then wait for the crawl's end."""
        await self._spider.plant_own()
        async for output in start:
            if isinstance(output, Request) and output.callback is None:
                await self._spider.plant_request(output, own=True)
            else:
                yield output
        await self._spider.until_over()

    async def process_spider_output(
        self, response: Response | Failure, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on the results of a callback or an errback, and count them."""
        attempt = _attempt_of(response)
        # the output of an errback that Scrapy calls for another middleware's error passes twice
        mine = attempt is not None and not attempt.counted
        if attempt is not None:
            attempt.counted = True
        try:
            async for output in result:
                if isinstance(output, Request):
                    if not await self._is_planted(output, attempt):
                        self._name_page(output, response)
                        yield output
                    continue
                if mine and attempt is not None and output is not None:
                    attempt.items += 1
                yield output
        except (CloseSpider, GeneratorExit, asyncio.CancelledError):
            # the crawl ends: a link whose results are incomplete goes back into the frontier
            if attempt is not None:
                attempt.handled_elsewhere = attempt.handled_elsewhere or not attempt.complete
            raise
        except Exception as error:
            if attempt is not None:
                self._give_up(attempt, response, f"{type(error).__name__}: {error}")
            raise
        finally:
            if mine and attempt is not None:
                if not attempt.read and not attempt.handled_elsewhere:
                    self._give_up(attempt, response, "the spider's callback left super() out")
                attempt.ended = True
                self._settle(attempt)

    def _name_page(self, request: Request, response: Response | Failure) -> None:
        """Give a request the header that names the page it comes from."""
        referers = self._crawler.get_spider_middleware(Referers)
        if referers is not None and isinstance(response, Response):
            referers.name_page(request, response)

    async def _is_planted(self, request: Request, attempt: Attempt | None) -> bool:
        """Put a request without a callback into the frontier; return whether it was one."""
        if (own := request.meta.get(ATTEMPT)) is None:
            if request.callback is None:
                await self._spider.plant_request(request)
                return True
        elif request.errback is None or attempt is None or own is not attempt:
            # the user copied ``meta``: this is not the link's request
            for name in [name for name in request.meta if str(name).startswith("semcrawl_")]:
                del request.meta[name]
            return await self._is_planted(request, attempt)
        else:
            # the request is sent again
            attempt.handled_elsewhere = attempt.handled_elsewhere or not attempt.read
        return False

    # -- the end of an attempt
    def callback_failed(self, failure: Failure, response: Response | Failure) -> None:
        """Give up a link when a middleware between its callback and this one raises."""
        attempt = _attempt_of(response)
        if attempt is None or attempt.counted:
            return
        if self._spider.session.awaits(attempt.lease):
            self._spider.abandoned(response, f"{type(failure.value).__name__}: {failure.value}")

    def item_over(self, item: Any, response: Response | None) -> None:
        """Count an item that was written."""
        self._one_less(response, lost=False)

    def item_dropped(self, item: Any, response: Response | None, exception: BaseException) -> None:
        """Count an item that was dropped: on purpose, or because it could not be written."""
        if isinstance(exception, ItemNotWritten) and exception.ends_crawl:
            self._end_crawl(response, str(exception))
        self._one_less(response, lost=isinstance(exception, ItemNotWritten))

    def item_lost(self, item: Any, response: Response | None) -> None:
        """Count an item that a pipeline raised for: its link joins the failed links."""
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value("semcrawl/pipelines/failed")
        self._one_less(response, lost=True)

    def _end_crawl(self, response: Response | None, reason: str) -> None:
        """End a crawl whose result files are gone; its session gives the link back at the end."""
        end_crawl(self._crawler, reason)
        if (attempt := _attempt_of(response)) is not None and attempt.counted:
            attempt.handled_elsewhere = True

    def _one_less(self, response: Response | None, *, lost: bool) -> None:
        if (attempt := _attempt_of(response)) is not None and attempt.counted:
            attempt.items -= 1
            attempt.failed = attempt.failed or lost
            self._settle(attempt)

    def _give_up(self, attempt: Attempt, response: Response | Failure, reason: str) -> None:
        """Mark a link as failed, and record it if it has no record yet."""
        attempt.failed = True
        if not attempt.handled_elsewhere and (not attempt.read or not attempt.items):
            attempt.handled_elsewhere = True
            self._spider.abandoned(response, reason)

    def _settle(self, attempt: Attempt) -> None:
        """Acknowledge a link once its callback has ended and all its items are through."""
        if attempt.ended and attempt.items <= 0:
            if attempt.read and not attempt.handled_elsewhere:
                self._spider.session.acknowledge(attempt.lease, failed=attempt.failed)
            attempt.begin_again()


def _attempt_of(response: Response | Failure | None) -> Attempt | None:
    """Return the attempt that a response or a failure belongs to."""
    request = getattr(response, "request", None)
    return request.meta.get(ATTEMPT) if request is not None else None
