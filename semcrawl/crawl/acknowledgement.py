"""Acknowledging a link only when all its results are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from semcrawl.crawl.lost import ItemLost, end_crawl
from semcrawl.crawl.scheduler import LEASE
from semcrawl.frontier.contract import Lease


@dataclass(slots=True)
class _Attempt:
    lease: Lease
    #: items on their way through the pipelines
    items: int = 0
    #: what to tell that the link is finished, once our callback has read what came back
    acknowledge: Callable[..., None] | None = None
    #: our callback has given all items there are
    complete: bool = False
    #: no more items come
    ended: bool = False
    failed: bool = False
    #: somebody else sees to the link: a crawl that goes on later, or another request
    left: bool = False


class Acknowledgement:
    """Spider middleware, the last before the pipelines: counts the items of each attempt.

    It stands behind everything that may drop, add or change items (callbacks of subclasses, other
    people's spider middlewares), so that what counts is what goes to the pipelines; Scrapy's
    signals tell when an item is through. Our callback tells :meth:`read` when it has done its part.
    A callback that fails before, or leaves ours out, gives its link up: ``abandoned`` of the spider
    records it, and the crawl goes on.

    Requests without a callback are links: ``plant_request`` of the spider puts them into the
    frontier.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._attempts: dict[str, _Attempt] = {}

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

    # -- what callbacks give
    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Plant the seeds, then what ``start`` gives; more may come until the crawl ends."""
        spider: Any = self._crawler.spider
        await spider.plant_own()
        async for output in start:
            if isinstance(output, Request) and output.callback is None:
                await spider.plant_request(output, own=True)
            else:
                yield output
        await spider.until_over()

    async def process_spider_output(
        self, response: Response | Failure, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Pass on what a callback or an errback gives, and count it."""
        lease = _lease_of(response)
        # an errback that Scrapy calls for an error of another middleware comes here twice
        mine = lease is not None and lease.id not in self._attempts
        attempt = self._attempts.setdefault(lease.id, _Attempt(lease)) if lease else None
        try:
            async for output in result:
                if isinstance(output, Request):
                    if not await self._is_planted(output, attempt):
                        yield output
                    continue
                if mine and attempt is not None and output is not None:
                    attempt.items += 1
                yield output
        except (CloseSpider, GeneratorExit, asyncio.CancelledError):
            # the crawl ends: what did not come here whole goes back into the frontier
            if attempt is not None:
                attempt.left = attempt.left or not attempt.complete
            raise
        except Exception as error:
            if attempt is not None:
                self._give_up(attempt, response, f"{type(error).__name__}: {error}")
            raise
        finally:
            if mine and attempt is not None:
                if attempt.acknowledge is None and not attempt.left:
                    self._give_up(attempt, response, "the spider's callback left super() out")
                attempt.ended = True
                self._settle(attempt)

    async def _is_planted(self, request: Request, attempt: _Attempt | None) -> bool:
        """Put a request without a callback into the frontier; whether it was one."""
        if (own := request.meta.get(LEASE)) is None:
            if request.callback is None:
                spider: Any = self._crawler.spider
                await spider.plant_request(request)
                return True
        elif request.errback is None or attempt is None or own is not attempt.lease:
            # ``meta`` was copied: another request than the link's
            for name in [name for name in request.meta if str(name).startswith("semcrawl_")]:
                del request.meta[name]
            return await self._is_planted(request, attempt)
        else:
            attempt.left = attempt.left or attempt.acknowledge is None  # it is sent again
        return False

    # -- what becomes of an attempt
    def read(self, lease: Lease, acknowledge: Callable[..., None], *, failed: bool = False) -> None:
        """Note that an attempt is read; ``acknowledge(lease, failed=…)`` when all is written."""
        attempt = self._attempts[lease.id]
        attempt.acknowledge = acknowledge
        attempt.failed = attempt.failed or failed

    def complete(self, lease: Lease) -> None:
        """Note that all items of an attempt were given."""
        self._attempts[lease.id].complete = True

    def leave(self, lease: Lease) -> None:
        """Note that an attempt cannot be finished now: its lease runs out."""
        self._attempts[lease.id].left = True

    def callback_failed(self, failure: Failure, response: Response | Failure) -> None:
        """Hear of an error; one in a middleware between a callback and here is known by it only."""
        lease = _lease_of(response)
        spider: Any = self._crawler.spider
        if lease is not None and lease.id not in self._attempts and spider.session.awaits(lease):
            spider.abandoned(response, f"{type(failure.value).__name__}: {failure.value}")

    def item_over(self, item: Any, response: Response | None) -> None:
        """Hear that an item was written."""
        self._one_less(response, lost=False)

    def item_dropped(self, item: Any, response: Response | None, exception: BaseException) -> None:
        """Hear that an item was dropped: on purpose, or because it could not be written."""
        if isinstance(exception, ItemLost) and exception.ends_crawl:
            self._end_crawl(response, str(exception))
        self._one_less(response, lost=isinstance(exception, ItemLost))

    def item_lost(self, item: Any, response: Response | None) -> None:
        """Hear that a pipeline failed: the link is kept among the failed ones."""
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value("semcrawl/pipelines/failed")
        self._one_less(response, lost=True)

    def _end_crawl(self, response: Response | Failure | None, reason: str) -> None:
        """End a crawl whose results are gone; the link goes back when its session closes."""
        end_crawl(self._crawler, reason)
        lease = _lease_of(response)
        if lease is not None and lease.id in self._attempts:
            self._attempts[lease.id].left = True

    def _one_less(self, response: Response | Failure | None, *, lost: bool) -> None:
        lease = _lease_of(response)
        attempt = self._attempts.get(lease.id) if lease is not None else None
        if attempt is not None:
            attempt.items -= 1
            attempt.failed = attempt.failed or lost
            self._settle(attempt)

    def _give_up(self, attempt: _Attempt, response: Response | Failure, reason: str) -> None:
        """Keep a link among the failed ones; one without a record gets one now."""
        attempt.failed = True
        if not attempt.left and (attempt.acknowledge is None or not attempt.items):
            attempt.left = True
            spider: Any = self._crawler.spider
            spider.abandoned(response, reason)

    def _settle(self, attempt: _Attempt) -> None:
        if attempt.ended and attempt.items <= 0:
            del self._attempts[attempt.lease.id]
            if attempt.acknowledge is not None and not attempt.left:
                attempt.acknowledge(attempt.lease, failed=attempt.failed)


def _lease_of(response: Response | Failure | None) -> Lease | None:
    """Return the lease of the link that a response or a failure belongs to."""
    request = getattr(response, "request", None)
    return request.meta.get(LEASE) if request is not None else None
