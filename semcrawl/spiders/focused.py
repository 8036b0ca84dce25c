"""The common part of both spiders: requests, and how their responses are taken in."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.settings import BaseSettings
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.spider import iterate_spider_output
from twisted.python.failure import Failure

from semcrawl.config.components import install
from semcrawl.config.targets import Targets
from semcrawl.crawl.acknowledgement import Acknowledgement
from semcrawl.crawl.attempt import FILTERED, MEMO, UNKEPT, Attempt
from semcrawl.crawl.failures import (
    Foreseen,
    Postponed,
    RobotsUnavailable,
    outcome_of_failure,
)
from semcrawl.crawl.health import Fate
from semcrawl.crawl.scheduler import LEASE
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError, UsageError
from semcrawl.frontier.contract import Lease, WaitingLink
from semcrawl.frontier.payload import LinkMemo
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.links import Page
from semcrawl.relevance import Label, Ranked
from semcrawl.spiders.reading import Reader
from semcrawl.spiders.redirecting import RedirectingSpider, is_redirect
from semcrawl.web.vocabulary import HTML_FIRST, RDF_FIRST

#: outcomes of what a host does not give, and another may
_NOT_GIVEN = frozenset(
    {
        FetchOutcome.HTTP_ERROR,
        FetchOutcome.NETWORK_ERROR,
        FetchOutcome.TIMEOUT,
        FetchOutcome.ROBOTS_DENIED,
        FetchOutcome.HOST_DOWN,
    }
)


class FocusedSpider(RedirectingSpider):
    """Fetches the links that the frontier hands out, and records each attempt.

    Arguments (``-a``) beside those of its base class: ``follow_rdf=1`` (one spider does both).
    """

    targets: Targets
    _acknowledgement: Acknowledgement

    def __init__(self, name: str | None = None, follow_rdf: str | bool = "", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self.follow_rdf = str(follow_rdf).lower() in ("1", "true", "yes", "on")

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Switch the parts of semcrawl on."""
        super().update_settings(settings)
        install(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and read its settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = crawler.settings
        spider.reader = Reader.from_settings(settings, spider.normalisation)
        crawler.signals.connect(spider.reader.close, signals.spider_closed)
        spider.targets = Targets.parse(settings.getlist("SEMCRAWL_TARGETS"))
        return spider

    def join(self, session: CrawlSession) -> None:
        """Take part in a session. Raises ``UsageError`` without what acknowledges links."""
        acknowledgement = self.crawler.get_spider_middleware(Acknowledgement)
        if acknowledgement is None:
            raise UsageError(f"the spider middleware {Acknowledgement.__module__} is switched off")
        self._acknowledgement = acknowledgement
        super().join(session)

    # -- requests
    def make_request(self, lease: Lease) -> Request:
        """Make the request of a link that the frontier handed out."""
        memo = LinkMemo.unpack(lease.entry)
        rdf_first = memo.label is Label.R or self.queue == "rdf"
        headers = {"Accept": RDF_FIRST if rdf_first else HTML_FIRST}
        if memo.etag:
            headers["If-None-Match"] = memo.etag
        if memo.last_modified:
            headers["If-Modified-Since"] = memo.last_modified
        return Request(
            lease.entry.url,
            callback=self.parse,
            errback=self._failed,
            headers=headers,
            dont_filter=True,
            meta={
                LEASE: lease,
                MEMO: memo,
                "depth": memo.depth,
                "dont_redirect": True,
                "dont_retry": True,
                "handle_httpstatus_all": True,
                "retry_times": memo.retries,
            },
        )

    # -- what comes back
    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        """Read a response: items for the pipelines, links for the frontier.

        Subclasses pass on what this gives, or what they like of it; what no link of the frontier
        brought is refused.
        """
        request = self._request_of(response)
        if LEASE not in request.meta:
            self.logger.error(
                "%s is no link of the frontier: its request needs a callback of its own",
                response.url,
            )
            return
        attempt = Attempt.of(request)
        self.session.downloaded(attempt.lease)
        async for item in self._conclude(attempt, self._read(attempt, response)):
            yield item

    async def failed(self, failure: Failure) -> AsyncIterator[Any]:
        """Record a request that got no response."""
        attempt = Attempt.of(failure.request)  # type: ignore[attr-defined]
        self.session.downloaded(attempt.lease)
        async for item in self._conclude(attempt, self._read_failure(attempt, failure)):
            yield item

    def _failed(self, failure: Failure) -> Any:
        """Have :meth:`failed` acknowledged as well: errbacks pass no spider middleware."""
        given: Any = iterate_spider_output(self.failed(failure))
        output = given if isinstance(given, AsyncIterator) else as_async_generator(given)
        return self._acknowledgement.process_spider_output(failure, output)

    def abandoned(self, response: Response | Failure, reason: str) -> None:
        """Record an attempt whose callback failed; its link is kept among the failed ones."""
        attempt = Attempt.of(response.request)  # type: ignore[union-attr, arg-type]
        got = response if isinstance(response, Response) else None
        record = attempt.record(FetchOutcome.PARSE_ERROR, got)
        record.errors = " ".join(reason.split())[:300]
        self.logger.error("%s: %s", attempt.url, record.errors)
        if self.session.awaits(attempt.lease):
            self.session.downloaded(attempt.lease)
            self.session.learn(attempt.outcome(None, got), self.queue)
        self.emit(record)
        self.session.acknowledge(attempt.lease, failed=True)

    @staticmethod
    def _request_of(response: Response) -> Request:
        if response.request is None:
            raise ValueError("a response without its request")
        return response.request

    async def _conclude(self, attempt: Attempt, reading: Any) -> AsyncIterator[Any]:
        """Await what an attempt gives, free its place, and pass the items on."""
        acknowledgement, left = self._acknowledgement, False
        try:
            items: Sequence[Any] = await reading
            await self._ask_mirrors(attempt, items)
        except FrontierError as error:
            self.logger.error("%s", error)
            # its lease runs out, and it is fetched again when the crawl goes on
            self.session.fail(str(error))
            acknowledgement.leave(attempt.lease)
            items, left = attempt.interrupted(str(error)), True
        except Exception as error:
            # a fault of ours: the link must neither hang on its lease nor vanish
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            self.logger.error("%s: %s", attempt.url, reason)
            self.logger.debug("where it happened", exc_info=True)
            record = attempt.record(FetchOutcome.PARSE_ERROR)
            record.errors = reason
            items, attempt.failed = [record], True
        finally:
            self.session.processed(attempt.lease)
        if not left:
            failed = attempt.failed or UNKEPT in attempt.meta
            acknowledgement.read(attempt.lease, self.session.acknowledge, failed=failed)
        for item in items:
            self.count(item)
            yield item
        acknowledgement.complete(attempt.lease)

    async def _read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Read a response of whatever status."""
        status = response.status
        if is_redirect(response):
            return await self._redirected(attempt, response)
        if status == 304:
            self.session.learn(attempt.outcome(None, response, duplicate=True), self.queue)
            return [attempt.record(FetchOutcome.NOT_MODIFIED, response)]
        if not 200 <= status < 300:
            record = attempt.record(FetchOutcome.HTTP_ERROR, response)
            record.errors = f"HTTP status {status}"
            if status == HTTPStatus.FORBIDDEN:
                fate = self.session.health.fate_of_forbidden(attempt.lease)
                if fate is Fate.SPARED:
                    await self.session.retry(attempt.lease, attempt.memo, 0.0)
                if fate is not Fate.USUAL:
                    attempt.failed = fate is Fate.OVER
                    return [record]
            if status in self._retry_codes and await self._retried_later(attempt, response):
                return [record]
            if await self._asked_by_name(attempt, status) or await self._asked_as_linked(
                attempt, status
            ):
                return [record]
            self._note_dead(attempt, status)
            attempt.failed = status in self._retry_codes
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]
        self._note_folder(attempt, added=attempt.memo.foreseen)
        if attempt.memo.redirects:
            await self._arrived(attempt, attempt.url)
        if attempt.meta.get(FILTERED):
            new = await self.follow_metadata(attempt, response)
            self.session.learn(attempt.outcome(None, response, new_links=new), self.queue)
            return [attempt.record(FetchOutcome.FILTERED_TYPE, response)]
        items = await self.read_body(attempt, response)
        return _records_of(items) if attempt.memo.check else items

    async def follow_metadata(self, attempt: Attempt, response: Response) -> tuple[Ranked, ...]:
        """Put in what the headers of something that is neither page nor RDF say is RDF about it."""
        links = self.metadata_links(response, attempt.url)
        return await self.discover(Page(attempt.url, attempt.memo.depth), links) if links else ()

    async def read_body(self, attempt: Attempt, response: Response) -> list[Any]:
        """Read a body that came whole; the spiders differ in what they do with it."""
        raise NotImplementedError

    async def _read_failure(self, attempt: Attempt, failure: Failure) -> list[Any]:
        if isinstance(failure.value, Postponed):
            await self.session.retry(attempt.lease, attempt.memo, failure.value.delay)
            return []
        if isinstance(failure.value, Foreseen):
            return await self._goes_ahead(attempt, failure.value.target)
        if isinstance(failure.value, FrontierError):
            raise failure.value  # it could not be told that the request leaves
        outcome, message = outcome_of_failure(failure)
        record = attempt.record(outcome)
        record.errors = message
        if outcome in (FetchOutcome.TIMEOUT, FetchOutcome.NETWORK_ERROR):
            attempt.failed = not await self._tried_later(attempt, failure, message)
        elif isinstance(failure.value, RobotsUnavailable):
            wait = failure.value.until - time.time()
            attempt.failed = not await self._retried(attempt, message, wait)
        else:
            attempt.failed = outcome is FetchOutcome.HOST_DOWN
            self.session.learn(attempt.outcome(None), self.queue)
            return [record]
        if attempt.failed:
            self.session.learn(attempt.outcome(None), self.queue)
        return [record]

    def set_aside(self, links: Sequence[WaitingLink]) -> None:
        """Record links that are kept aside as their host was down for long."""
        for link in links:
            memo = LinkMemo.unpack(link.entry)
            self.emit(
                FetchRecord(
                    link.entry.url,
                    FetchOutcome.HOST_DOWN,
                    link.entry.url,
                    memo.parent,
                    memo.depth,
                    str(memo.label),
                    memo.rules,
                    errors=self.session.health.reason(link.entry.host),
                    started_at=time.time(),
                    revisit=memo.revisit,
                )
            )

    def is_duplicate(self, attempt: Attempt) -> bool:
        """Whether an attempt's body was read before in this run."""
        # (links of what is off the sites are not followed: there, it stands for no other)
        if self.scope.inside(attempt.url):
            self.session.intake.mirrors.gave(attempt.lease, attempt.digest)
        short = bytes.fromhex(attempt.digest[:24])
        if short in self.session.digests:
            return True
        self.session.digests.add(short)
        return False

    async def _ask_mirrors(self, attempt: Attempt, items: Sequence[Any]) -> None:
        """Have the mirrors of a host asked for what it does not give."""
        missing = any(isinstance(i, FetchRecord) and i.outcome in _NOT_GIVEN for i in items)
        if not missing or not self.session.awaits(attempt.lease):  # (it is tried again)
            return
        for url in self.session.intake.mirrors.others(attempt.url):
            may = self.scope.inside(url) and self.is_allowed(url) and self.patterns.allow(url)
            if may:
                await self.session.intake.ask_elsewhere(attempt.lease, url, attempt.memo)

    def count(self, item: Any) -> None:
        """Take a record into the tally and the stats."""
        stats = self.crawler.stats
        if not isinstance(item, FetchRecord):
            return
        self.session.tally.add(item)
        if stats is None:
            return
        stats.inc_value(f"semcrawl/outcome/{item.outcome}")
        if item.outcome is FetchOutcome.FETCHED_RDF and item.quads:
            stats.inc_value("semcrawl/quads", item.quads)


def _records_of(items: Sequence[Any]) -> list[FetchRecord]:
    """Leave out what a check of a host brings: the crawl has it already."""
    for item in items:
        if isinstance(item, RdfDocument) and item.spool is not None:
            item.spool.unlink(missing_ok=True)
    return [item for item in items if isinstance(item, FetchRecord)]
