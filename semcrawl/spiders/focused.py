"""What the two spiders have in common: seeds, requests, outcomes, redirects, retries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import CloseSpider
from scrapy.http import Request, Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from semcrawl.components import install
from semcrawl.errors import FrontierError, UsageError
from semcrawl.frontier.acknowledgement import Acknowledgement
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.payload import LinkMemo
from semcrawl.frontier.scheduler import LEASE
from semcrawl.frontier.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Ranked
from semcrawl.scope import Scope
from semcrawl.spiders.attempt import FILTERED, Attempt, content_type, header
from semcrawl.spiders.failures import outcome_of_failure
from semcrawl.spiders.reading import Reader
from semcrawl.spiders.revisits import due_links
from semcrawl.spiders.seeds import Planted, by_page, hand_over, read_planted, read_seeds
from semcrawl.targets import Targets
from semcrawl.urls import Normalisation, resolve
from semcrawl.vocabulary import HTML_FIRST, RDF_FIRST

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: seconds before the first retry; doubled for each further one
_RETRY_DELAY = 2.0


class FocusedSpider(Spider):
    """A spider whose links wait in the frontier.

    Arguments (``-a``): ``seeds`` (``URL,URL`` or ``@file``; without, the spider waits on its Redis
    list), ``scope`` (see :class:`~semcrawl.scope.Scope`), ``follow_rdf=1`` (one spider does
    both), ``redis_key`` (name of its list).
    """

    #: name of its queue in the frontier
    queue: ClassVar[str]
    #: name of the spider that gets what this one does not follow
    other: ClassVar[str]

    session: CrawlSession

    def __init__(
        self,
        name: str | None = None,
        seeds: str = "",
        scope: str = "",
        follow_rdf: str | bool = "",
        redis_key: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._seeds_text = seeds
        self._scope_text = scope
        self.follow_rdf = str(follow_rdf).lower() in ("1", "true", "yes", "on")
        self._redis_key = redis_key
        self._out: asyncio.Queue[Any] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

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
        spider.normalisation = Normalisation(
            presentational=frozenset(
                name.lower() for name in settings.getlist("SEMCRAWL_URL_DROP_PARAMETERS")
            ),
            https_to_http=settings.getbool("SEMCRAWL_URL_HTTPS_TO_HTTP"),
            drop_www=settings.getbool("SEMCRAWL_URL_DROP_WWW"),
            drop_query=settings.getbool("SEMCRAWL_URL_DROP_QUERY"),
        )
        spider.scope = Scope.parse(
            spider._scope_text or settings.get("SEMCRAWL_SCOPE", "site"),
            settings.getlist("SEMCRAWL_REDIRECTORS"),
        )
        spider.reader = Reader.from_settings(settings, spider.normalisation)
        spider.targets = Targets.parse(settings.getlist("SEMCRAWL_TARGETS"))
        pattern = spider._redis_key or settings.get("REDIS_START_URLS_KEY", "%(name)s:start_urls")
        spider._key_pattern = pattern
        spider._retry_codes = frozenset(int(code) for code in settings.getlist("RETRY_HTTP_CODES"))
        spider._retries = settings.getint("RETRY_TIMES") if settings.getbool("RETRY_ENABLED") else 0
        spider._max_redirects = settings.getint("REDIRECT_MAX_TIMES")
        crawler.signals.connect(spider._end_start, signals.spider_closed)
        return spider

    normalisation: Normalisation
    scope: Scope
    reader: Reader
    targets: Targets
    _key_pattern: str
    _retry_codes: frozenset[int]
    _retries: int
    _max_redirects: int

    def join(self, session: CrawlSession) -> None:
        """Take part in a session, in the scope that all its seeds give."""
        self.session = session
        self.scope.roots = session.roots

    # -- seeds
    @property
    def seed_key(self) -> str:
        """Name of the Redis list that seeds come from."""
        return self._list_of(self.name)

    @property
    def waits(self) -> bool:
        """Whether the spider waits on its list, having no seeds of its own."""
        return not self._seeds_text and not self.settings.getbool("SEMCRAWL_HARVEST")

    def _list_of(self, name: str) -> str:
        try:
            return self._key_pattern % {"name": name}
        except (TypeError, ValueError, KeyError):
            return self._key_pattern

    async def start(self) -> AsyncIterator[Any]:
        """Plant the seeds, then pass on records that come from elsewhere until the crawl ends."""
        try:
            await self._plant_own()
        except UsageError as error:
            self.logger.error("%s", error)
            self.session.fail(str(error))
            raise CloseSpider("usage") from None
        except Exception as error:
            self.logger.exception("the seeds cannot be planted")
            self.session.fail(f"{type(error).__name__}: {error}")
            raise CloseSpider("error") from None
        self.session.planted(self.queue)
        waiter = asyncio.create_task(self._await_end())
        try:
            while (item := await self._out.get()) is not None:
                yield item
        finally:
            waiter.cancel()

    async def _plant_own(self) -> None:
        if self.settings.getbool("SEMCRAWL_REVISIT") and self.queue == "html":
            await self._plant_revisits()
        if not self._seeds_text:
            return
        urls = read_seeds(self._seeds_text, self.normalisation)
        await self.session.widen({root for url in urls for root in self.scope.roots_of(url)})
        await self.session.plant([(url, LinkMemo()) for url in urls], self.queue)

    async def _plant_revisits(self) -> None:
        """Put in what was had before and is due again."""
        due = await asyncio.to_thread(due_links, self.settings)
        planted = await self.session.revisit(due, self.queue)
        self.logger.info("%d documents and pages are due again", planted)

    async def _await_end(self) -> None:
        await self.session.finished.wait()
        self._out.put_nowait(None)

    def _end_start(self) -> None:
        self._out.put_nowait(None)

    def emit(self, item: Any) -> None:
        """Send an item to the pipelines that belongs to no link (a robots.txt, say)."""
        self._count(item)
        self._out.put_nowait(item)

    def plant_raw(self, raw: list[str]) -> None:
        """Take in entries of the seed list."""
        self._run(self._plant_raw(raw))

    async def _plant_raw(self, raw: list[str]) -> None:
        planted: list[Planted] = []
        for text in raw:
            try:
                planted.append(read_planted(text, self.normalisation))
            except UsageError as error:
                self.logger.error("%s", error)
        roots = {root for one in planted for root in one.roots}
        for one in planted:
            if one.page is None:
                roots |= self.scope.roots_of(one.link.url)
        await self.session.widen(roots)
        for (page, barren), links in by_page(planted).items():
            if page is None:
                await self.session.plant([(link.url, LinkMemo()) for link in links], self.queue)
            else:
                await self.discover(page, links, barren)
        await self.session.frontier.done_seeds(self.seed_key, raw)
        self.session.wake()

    def _run(self, coroutine: Any) -> None:
        task = asyncio.ensure_future(self._guarded(coroutine))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, coroutine: Any) -> None:
        try:
            await coroutine
        except FrontierError as error:
            self.logger.error("%s", error)

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
            errback=self.failed,
            headers=headers,
            dont_filter=True,
            meta={
                LEASE: lease,
                "dont_redirect": True,
                "dont_retry": True,
                "handle_httpstatus_all": True,
                "retry_times": memo.retries,
            },
        )

    # -- what comes back
    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        """Read a response: items for the pipelines, links for the frontier."""
        attempt = Attempt.of(self._request_of(response))
        self.session.downloaded(attempt.lease)
        async for item in self._conclude(attempt, self._read(attempt, response)):
            yield item

    async def failed(self, failure: Failure) -> AsyncIterator[Any]:
        """Record a request that got no response."""
        attempt = Attempt.of(failure.request)  # type: ignore[attr-defined]
        self.session.downloaded(attempt.lease)
        async for item in self._conclude(attempt, self._read_failure(attempt, failure)):
            yield item

    @staticmethod
    def _request_of(response: Response) -> Request:
        if response.request is None:
            raise ValueError("a response without its request")
        return response.request

    async def _conclude(self, attempt: Attempt, reading: Any) -> AsyncIterator[Any]:
        """Await what an attempt gives, free its place, and pass the items on."""
        acknowledgement = self._acknowledgement()
        try:
            items: Sequence[Any] = await reading
        except FrontierError as error:
            self.logger.error("%s", error)
            return
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
        for item in items:
            acknowledgement.item(attempt.lease)
            self._count(item)
            yield item
        acknowledgement.end(attempt.lease, self.session.acknowledge, failed=attempt.failed)

    def _acknowledgement(self) -> Acknowledgement:
        extension = self.crawler.get_extension(Acknowledgement)
        if extension is None:
            raise UsageError("the extension semcrawl.frontier.acknowledgement is switched off")
        return extension

    async def _read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Read a response of whatever status."""
        status = response.status
        if status in _REDIRECTS and header(response, b"Location"):
            return await self._redirected(attempt, response)
        if status == 304:
            await self.session.learn(attempt.outcome(None, response, duplicate=True), self.queue)
            return [attempt.record(FetchOutcome.NOT_MODIFIED, response)]
        if not 200 <= status < 300:
            record = attempt.record(FetchOutcome.HTTP_ERROR, response)
            record.errors = f"HTTP status {status}"
            if status in self._retry_codes and await self._retried(attempt, f"status {status}"):
                return [record]
            attempt.failed = status in self._retry_codes
            await self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]
        if attempt.meta.get(FILTERED):
            await self.session.learn(attempt.outcome(None, response), self.queue)
            return [attempt.record(FetchOutcome.FILTERED_TYPE, response)]
        return await self.read_body(attempt, response)

    async def read_body(self, attempt: Attempt, response: Response) -> list[Any]:
        """Read a body that came whole; the spiders differ in what they do with it."""
        raise NotImplementedError

    async def _read_failure(self, attempt: Attempt, failure: Failure) -> list[Any]:
        outcome, message = outcome_of_failure(failure)
        record = attempt.record(outcome)
        record.errors = message
        passing = outcome in (FetchOutcome.TIMEOUT, FetchOutcome.NETWORK_ERROR)
        if passing and await self._retried(attempt, message):
            return [record]
        attempt.failed = passing or outcome is FetchOutcome.HOST_DOWN
        await self.session.learn(attempt.outcome(None), self.queue)
        return [record]

    async def _retried(self, attempt: Attempt, reason: str) -> bool:
        """Give a link back for another try, if it may have one."""
        request = Request(attempt.url, meta={"retry_times": attempt.memo.retries})
        again = get_retry_request(
            request, spider=self, reason=reason, max_retry_times=self._retries
        )
        if again is None:
            return False
        memo = replace(attempt.memo, retries=attempt.memo.retries + 1)
        await self.session.retry(attempt.lease, memo, _RETRY_DELAY * 2**attempt.memo.retries)
        return True

    async def _redirected(self, attempt: Attempt, response: Response) -> list[Any]:
        """Put a redirect's target into the frontier, in the place of the link."""
        record = attempt.record(FetchOutcome.REDIRECTED, response)
        target = resolve(attempt.url, header(response, b"Location"), self.normalisation)
        problem = ""
        if target is None:
            problem, record.outcome = "Location is no http(s) URL", FetchOutcome.HTTP_ERROR
        elif len(attempt.memo.redirects) >= self._max_redirects:
            problem, record.outcome = "too many redirects", FetchOutcome.HTTP_ERROR
        elif not self.scope.allows(target, label_r=attempt.memo.label is Label.R):
            record.final_url = target
            problem, record.outcome = "redirected out of the scope", FetchOutcome.OUT_OF_SCOPE
        record.errors = problem
        if target is not None and not problem:
            record.final_url = target
            memo = replace(
                attempt.memo, redirects=(*attempt.memo.redirects, attempt.url), retries=0
            )
            if await self.session.follow_redirect(attempt.lease, target, memo):
                return [record]
        await self.session.learn(attempt.outcome(None, response, duplicate=not problem), self.queue)
        return [record]

    # -- links
    async def discover(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and put the new ones that are in scope into the frontier."""
        inside = self.scope.inside(page.url)
        links = [x for x in links if self.scope.may_lead(x.url, page_inside=inside)]
        if not links:
            return ()

        def allowed(ranked: Ranked) -> bool:
            return self.scope.allows(
                ranked.link.url, label_r=ranked.label is Label.R, page_inside=inside
            )

        return await self.session.discover(page, links, self.queue, allowed, barren)

    async def hand_over(self, page: Page, links: Sequence[Link], barren: int = 0) -> None:
        """Give links to the other spider, by its Redis list."""
        inside = self.scope.inside(page.url)
        links = [x for x in links if self.scope.may_lead(x.url, page_inside=inside)]
        if links:
            entries = hand_over(page, links, self.scope.roots, barren)
            await self.session.frontier.push_seeds(self._list_of(self.other), entries)

    async def page_links(self, response: Response, url: str) -> list[Link]:
        """Return the links of a page and of its headers."""
        headers = [value.decode("latin-1") for value in response.headers.getlist(b"Link")]
        return await self.reader.links(
            response.body, url, content_type(response), headers, self.session.knows
        )

    def is_duplicate(self, digest: str) -> bool:
        """Whether a body of this SHA-256 was read before in this run."""
        short = bytes.fromhex(digest[:24])
        if short in self.session.digests:
            return True
        self.session.digests.add(short)
        return False

    def _count(self, item: Any) -> None:
        stats = self.crawler.stats
        if not isinstance(item, FetchRecord):
            return
        self.session.tally.add(item)
        if stats is None:
            return
        stats.inc_value(f"semcrawl/outcome/{item.outcome}")
        if item.outcome is FetchOutcome.FETCHED_RDF and item.quads:
            stats.inc_value("semcrawl/quads", item.quads)
