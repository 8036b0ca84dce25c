"""The common base of both spiders: makes the requests of links and takes their responses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.settings import BaseSettings
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.spider import iterate_spider_output
from twisted.python.failure import Failure

from semcrawl.config.checks import START_URLS_KEY
from semcrawl.config.components import install
from semcrawl.config.jobdir import ResultOptions
from semcrawl.config.options import (
    BrowserOptions,
    EndpointOptions,
    LeadOptions,
    ReaderOptions,
    SitemapRules,
    answer_reader,
)
from semcrawl.config.scope import Scope, UrlPatterns, url_normalisation
from semcrawl.config.targets import Targets
from semcrawl.crawl.acknowledgement import Acknowledgement
from semcrawl.crawl.attempt import FILTERED, NOT_RECORDED, Attempt, attempt_of, location_of
from semcrawl.crawl.courses import Course, RetryRules, course_of
from semcrawl.crawl.crawllimits import keep_limits
from semcrawl.crawl.downloadhandler import spool_folder
from semcrawl.crawl.failures import PutBack, RobotsUnavailable, outcome_of_failure
from semcrawl.crawl.healthsigns import Fate
from semcrawl.crawl.leadrules import LeadRules
from semcrawl.crawl.lists import KeptLists, ListRules
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.redirects import DEAD, RedirectOptions, RedirectRules
from semcrawl.crawl.session import CrawlSession
from semcrawl.crawl.topicfiles import fetch_topic_files
from semcrawl.errors import FrontierError, UsageError
from semcrawl.frontier.contract import Lease, WaitingLink
from semcrawl.houses import houses
from semcrawl.items import FAILED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.links import Link, Page
from semcrawl.metadata.records import NO_SLASH
from semcrawl.metadata.summary import why_missed
from semcrawl.rdf.detection import unread_format
from semcrawl.reading.answer import AnswerReader, has_only_context
from semcrawl.reading.reader import Reader
from semcrawl.relevance import Ranked
from semcrawl.settings.reader import fill, read_switch
from semcrawl.sources.listing import is_judged
from semcrawl.sources.negotiation import address_of
from semcrawl.spiders._documents import BodyReader, OtherBodies
from semcrawl.spiders._submissions import Submissions
from semcrawl.spiders.contexts import ContextFetcher, ContextRules
from semcrawl.spiders.endpoints import EndpointReader
from semcrawl.spiders.judging import TopicJudge
from semcrawl.spiders.leads import Leads
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.planting import BackgroundTasks, SeedPlanter
from semcrawl.spiders.redirecting import Redirects, Retries
from semcrawl.spiders.results import (
    begins_later,
    missing_part,
    note_unread,
    outcome_of_unsent,
    record_of_unsent,
)
from semcrawl.spiders.revisits import SitemapDates
from semcrawl.spiders.seeds import seed_list
from semcrawl.spiders.sitemaps import Sitemaps
from semcrawl.web.urls import Normalisation
from semcrawl.web.vocabulary import Kind

if TYPE_CHECKING:
    from semcrawl.crawl.rendering import PageRenderer

#: outcomes of queries that an endpoint may answer if asked for less
_TOO_MUCH = (FetchOutcome.TIMEOUT, FetchOutcome.TOO_LARGE)


@dataclass
class ResponseReader:
    """Makes items of a link's response or failure; puts the link back if it may be tried again.

    Raises ``FrontierError``. A fault in a body is no error, but an outcome.
    """

    session: CrawlSession
    policy: LinkPolicy
    retries: Retries
    redirects: Redirects
    bodies: BodyReader
    #: the spider's queue, whose outcomes it reports
    queue: str

    async def read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Return the items of a response."""
        items = await self._read(attempt, response)
        await self.bodies.sitemaps.dates.check(attempt, items)
        await self.bodies.sitemaps.note_answer(attempt.url)
        if attempt.link_state.more:
            await self.bodies.sitemaps.go_on(attempt)
        return items

    async def _read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Return the items of a response, whatever its status."""
        status, leads, rules = response.status, self.bodies.leads, self.redirects.rules
        middle = begins_later(response)
        choices = status == HTTPStatus.MULTIPLE_CHOICES and (
            bool(response.body) or self.bodies.names_choices(attempt, response)
        )
        course = course_of(
            attempt.link_state, status, location_of(response), choices=choices, part=middle
        )
        if course is Course.GUESSED_WRONG:
            return [self._guessed_wrong(attempt, response)]
        if course is Course.NO_SITEMAP:
            record = attempt.record(FetchOutcome.REDIRECTED, response)
            record.errors = "it leads to no sitemap"
            return [record]
        if course is Course.MOVED:
            await leads.after_redirect(attempt, response)
            record, known = await self.redirects.follow(attempt, response)
            if known:
                await leads.note_known_target(attempt, record)
            return [*self.bodies.others.redirected(attempt, record), record]
        if course is Course.UNCHANGED:
            self.session.learn(attempt.outcome(None, response, duplicate=True), self.queue)
            return [attempt.record(FetchOutcome.NOT_MODIFIED, response)]
        if course is Course.FAILED:
            record = attempt.record(FetchOutcome.HTTP_ERROR, response)
            record.errors = missing_part(response) if middle else f"HTTP status {status}"
            record.errors += NO_SLASH if attempt.link_state.foreseen else ""
            if status == HTTPStatus.FORBIDDEN:
                fate = self.session.health.fate_of_forbidden(attempt.lease)
                if fate is Fate.UNCOUNTED:
                    await self.session.retry(attempt.lease, attempt.link_state, 0.0)
                if fate is not Fate.USUAL:
                    attempt.failed = fate is Fate.OVER
                    return [record]
            left = self.retries.rules.is_left(attempt.link_state, status)
            if left and await self.bodies.endpoints.refused(attempt, response, record):
                return [record]
            if (
                await self.retries.after_response(attempt, response)
                or await self.redirects.after_error(attempt, status)
                or (
                    leads.gave_nothing(attempt, response) and await leads.ask_again(attempt, record)
                )
            ):
                return [record]
            rules.note_dead(attempt.url, attempt.link_state, status)
            if status in DEAD:
                await leads.note_dead_end(attempt)
            # the summary offers another try to all that count as failed
            counted = why_missed(FetchOutcome.HTTP_ERROR, status, "") == FAILED
            attempt.failed = counted or status in self.retries.rules.codes
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]
        rules.note_folder(attempt.url, attempt.link_state, added=attempt.link_state.foreseen)
        if attempt.link_state.redirects:
            await self.redirects.arrived(attempt, attempt.url)
        if attempt.meta.get(FILTERED):
            new = await self.bodies.follow_headers(attempt, response)
            self.session.learn(attempt.outcome(None, response, new_links=new), self.queue)
            record = attempt.record(FetchOutcome.FILTERED_TYPE, response)
            note_unread(record, unread_format(b"", record.content_type, attempt.url))
            return [record]
        if leads.gave_nothing(attempt, response):
            record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
            record.real_type = str(Kind.OTHER)
            record.errors = "a page of choices" if choices else "it has no content"
            if await leads.ask_again(attempt, record):
                return [record]
        items = await self.bodies.read(attempt, response)
        return _records_of(items) if attempt.link_state.check else items

    def _guessed_wrong(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Record that a guessed address does not exist; it is not tried again."""
        record = attempt.record(FetchOutcome.HTTP_ERROR, response)
        record.errors = f"the guessed address does not exist: HTTP status {response.status}"
        if not attempt.link_state.is_sitemap:
            self.session.learn(attempt.outcome(None, response), self.queue)
        return record

    async def read_failure(self, attempt: Attempt, failure: Failure) -> list[Any]:
        """Record why there is no response, unless a middleware put the link back."""
        if isinstance(failure.value, PutBack):
            await self.session.retry(attempt.lease, attempt.link_state, failure.value.delay)
            return []
        if isinstance(failure.value, FrontierError):
            raise failure.value  # the frontier failed just before the request left
        outcome, message = outcome_of_failure(failure)
        record = attempt.record(outcome)
        record.errors = message
        if attempt.link_state.query and outcome in _TOO_MUCH:
            usual = self.session.health.fate(attempt.lease) is Fate.USUAL
            if usual and await self.bodies.endpoints.refused(attempt, None, record):
                return [record]
        if outcome in (FetchOutcome.TIMEOUT, FetchOutcome.NETWORK_ERROR):
            attempt.failed = not await self.retries.after_failure(attempt, failure, message)
        elif isinstance(failure.value, RobotsUnavailable):
            wait = failure.value.until - time.time()
            attempt.failed = not await self.retries.again(attempt, message, wait)
        else:
            # these links stay, to be tried when the host is back, the limits wider, or next run
            late = outcome is FetchOutcome.IGNORED and bool(attempt.link_state.query)
            limited = outcome in (FetchOutcome.EXCLUDED, FetchOutcome.OVER_BUDGET)
            attempt.failed = outcome is FetchOutcome.HOST_DOWN or limited or late
            if limited and (limits := self.session.intake.limits) is not None:
                await limits.note_set_aside()
            self.session.learn(attempt.outcome(None), self.queue)
            return [record]
        # report silence at once, so that hosts named beside the silent one lose their worth
        if attempt.failed or self.session.health.is_in_doubt(attempt.lease):
            self.session.learn(attempt.outcome(None), self.queue)
        return [record]


def _records_of(items: Sequence[Any]) -> list[FetchRecord]:
    """Return only the records, for a link that checks its host: the crawl has the document."""
    for item in items:
        if isinstance(item, RdfDocument) and item.spool is not None:
            item.spool.unlink(missing_ok=True)
    return [item for item in items if isinstance(item, FetchRecord)]


class FocusedSpider(Spider):
    """Fetches leased links, and records each attempt.

    Arguments (``-a``): ``seeds`` (``URL,URL`` or ``@file``), ``scope`` (see
    :class:`~semcrawl.config.scope.Scope`), ``redis_key`` (name of its seed list) and
    ``follow_rdf=1`` (one spider does both). The ``start_urls`` of a subclass are seeds, too, and so
    are the requests of its ``start``, unless they have a callback. Without any of these the spider
    waits on its seed list.

    It delegates: seeds to :class:`~semcrawl.spiders.planting.SeedPlanter`, the choice of links to
    :class:`~semcrawl.spiders.linking.LinkPolicy`, responses to
    :class:`~semcrawl.spiders.focused.ResponseReader`.
    """

    #: its queue in the frontier
    queue: ClassVar[str]
    #: the spider that gets the links that this one does not follow
    other: ClassVar[str]

    session: CrawlSession
    normalisation: Normalisation
    scope: Scope
    targets: Targets
    answers: AnswerReader
    submissions: Submissions
    judge: TopicJudge
    _policy: LinkPolicy
    _acknowledgement: Acknowledgement
    _tasks: BackgroundTasks
    _feed: LinkFeed
    _planter: SeedPlanter
    _endpoints: EndpointReader
    _redirects: Redirects
    _responses: ResponseReader
    _renderer: PageRenderer | None = None

    def __init__(
        self,
        name: str | None = None,
        seeds: str | None = None,
        scope: str = "",
        redis_key: str = "",
        follow_rdf: str | bool = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._seeds_text = seeds
        self._scope_text = scope
        #: a subclass may give it as spiders of scrapy-redis do
        self._redis_key = redis_key or getattr(self, "redis_key", "")
        self.follow_rdf = read_switch("follow_rdf", follow_rdf)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Install the parts of semcrawl in the settings."""
        super().update_settings(settings)
        install(settings)
        fetch_topic_files(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and read its settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = crawler.settings
        spider._scope_text = spider._scope_text or settings.get("SEMCRAWL_SCOPE") or "site"
        redirectors = [host.strip().lower() for host in settings.getlist("SEMCRAWL_REDIRECTORS")]
        spider.scope = Scope.parse(spider._scope_text, redirectors)
        spider.normalisation = url_normalisation(settings)
        spider.targets = fill(ReaderOptions, settings).targets
        judge = spider.judge = TopicJudge.from_settings(settings)
        spider.answers = answer_reader(settings, judge.text_chars, spool_folder(settings))
        spider._policy = LinkPolicy.from_settings(
            settings, spider.scope, getattr(spider, "allowed_domains", None) or ()
        )
        fill(BrowserOptions, settings).check()
        crawler.signals.connect(spider.reader.close, signals.spider_closed)
        crawler.signals.connect(spider.judge.close, signals.spider_closed)
        return spider

    @property
    def reader(self) -> Reader:
        """The reader of pages and RDF."""
        return self.answers.reader

    def end_readings(self) -> None:
        """End the readings of documents that are under way; they are interrupted."""
        self.reader.close()
        if self._renderer is not None:
            self._renderer.end()

    def join(self, session: CrawlSession) -> None:
        """Take part in a session: make the parts that need it.

        Raises ``UsageError`` if the middleware that acknowledges links is missing.
        """
        acknowledgement = self.crawler.get_spider_middleware(Acknowledgement)
        if acknowledgement is None:
            raise UsageError(f"the spider middleware {Acknowledgement.__module__} is switched off")
        self._acknowledgement = acknowledgement
        self.session = session
        self.judge.remember_in(session.frontier.shared)
        self.scope.roots = session.intake.roots
        self.scope.named = session.intake.named
        self._tasks = BackgroundTasks(self, session)
        self._tasks.start(keep_limits(session, self.settings, self._take_patterns))
        self._feed = LinkFeed(
            self._policy, session, self.queue, self.other, self._list_of(self.other)
        )
        self._planter = SeedPlanter(
            spider=self,
            session=session,
            feed=self._feed,
            tasks=self._tasks,
            normalisation=self.normalisation,
            queue=self.queue,
            key=self.seed_key,
            seeds=self._seeds_text,
            scope=self._scope_text,
        )
        self._redirects = Redirects(
            session=session,
            rules=RedirectRules(
                policy=self._policy,
                options=RedirectOptions.from_settings(self.settings),
                normalisation=self.normalisation,
            ),
            queue=self.queue,
        )
        self.submissions = Submissions.from_settings(
            self.settings,
            session=session,
            policy=self._policy,
            normalisation=self.normalisation,
            queue=self.queue,
        )
        self._endpoints = EndpointReader(
            logger=self.logger,
            stats=self.crawler.stats,
            session=session,
            policy=self._policy,
            reader=self.reader,
            targets=self.targets,
            judge=self.judge,
            options=fill(EndpointOptions, self.settings),
            queue=self.queue,
        )
        sitemaps = fill(SitemapRules, self.settings)
        if not self.follows(Page("")):  # a spider that follows no pages uses none
            sitemaps = replace(sitemaps, use="never")
        self._policy.only_sitemaps = sitemaps.use == "only"
        self._sitemaps = Sitemaps(
            session=session,
            feed=self._feed,
            endpoints=self._endpoints,
            rules=ListRules(sitemaps, self._policy, self.normalisation),
            lists=KeptLists(session.frontier.shared),
            dates=SitemapDates(self.settings, session, self.crawler.stats),
            queue=self.queue,
        )
        self.answers.options = replace(self.answers.options, sitemaps=self._sitemaps.rules.on)
        leads = Leads(
            logger=self.logger,
            session=session,
            feed=self._feed,
            rules=LeadRules(fill(LeadOptions, self.settings)),
            queue=self.queue,
            stats=self.crawler.stats,
        )
        parts = (
            house.part(self.settings, self.reader, self.judge.topic, self.crawler.stats)
            for house in houses()
        )
        self._renderer = self._new_renderer()
        others = OtherBodies(
            session=session,
            policy=self._policy,
            feed=self._feed,
            targets=self.targets,
            judge=self.judge,
            leads=leads,
            queue=self.queue,
            part=next(filter(None, parts), None),
        )
        bodies = BodyReader(
            logger=self.logger,
            session=session,
            policy=self._policy,
            feed=self._feed,
            answers=self.answers,
            targets=self.targets,
            endpoints=self._endpoints,
            judge=self.judge,
            leads=leads,
            contexts=ContextFetcher(
                crawler=self.crawler,
                session=session,
                rules=fill(ContextRules, self.settings),
                emit=self.emit,
            ),
            queue=self.queue,
            other=self.other,
            follows=self.follows,
            sitemaps=self._sitemaps,
            others=others,
            keeps_links=fill(ResultOptions, self.settings).record_links,
            renderer=self._renderer,
        )
        self._responses = ResponseReader(
            session=session,
            policy=self._policy,
            retries=Retries(
                session=session,
                rules=RetryRules.from_settings(self.settings),
                stats=self.crawler.stats,
            ),
            redirects=self._redirects,
            bodies=bodies,
            queue=self.queue,
        )

    def _new_renderer(self) -> PageRenderer | None:
        """Make what gives pages to a browser, if the crawl uses one."""
        if fill(BrowserOptions, self.settings).use == "never":
            return None
        # it loads what drives a browser
        from semcrawl.crawl.rendering import PageRenderer, PartRules

        rules = PartRules(
            lambda url: self._policy.patterns.exclude_it(url), self.emit, self.session.count_errand
        )
        renderer = PageRenderer.from_settings(self.crawler, rules)
        self.crawler.signals.connect(renderer.close, signals.spider_closed)
        return renderer

    def follows(self, page: Page) -> bool:
        """Whether the links of a page, or of an RDF document, go to the spider's own queue."""
        raise NotImplementedError

    # -- seeds, and links of the other spider
    @property
    def seed_key(self) -> str:
        """Name of the spider's seed list."""
        return self._list_of(self.name)

    def _list_of(self, name: str) -> str:
        key = self._redis_key or self.settings.get("REDIS_START_URLS_KEY")
        return seed_list(key or START_URLS_KEY, name)

    @property
    def waits(self) -> bool:
        """Whether the spider has no seeds of its own and waits for some on its list."""
        return self._planter.waits

    async def plant_own(self) -> None:
        """Put the spider's own seeds into the frontier; wrong ones end the crawl."""
        await self._planter.plant_own()

    async def until_over(self) -> None:
        """Report that the own seeds are planted, and wait until the crawl ends."""
        await self._planter.until_over()

    async def plant_request(self, request: Request, *, own: bool = False) -> None:
        """Put the URL of a request into the frontier, as a seed."""
        await self._planter.plant_request(request, own=own)

    def plant_raw(self, raw: list[str]) -> None:
        """Put entries of the seed list into the frontier."""
        self._tasks.start(self._planter.plant_raw(raw))

    async def discover(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and put the new ones into the frontier; return these."""
        return await self._feed.discover(page, links, barren)

    # -- requests
    def make_request(self, lease: Lease) -> Request | None:
        """Make the request of a leased link.

        ``None`` if none is needed: the link stands for links of a sitemap, its sitemap calls it
        unchanged, or it will be redirected to its folder, which takes its place.
        """
        attempt = self.session.attempt(lease)
        instead: Any = self._sitemaps.instead(attempt)
        if instead is None and not attempt.link_state.revisit:
            contexts = self.session.contexts
            task = contexts.asking(attempt.url)
            if task is not None or has_only_context(contexts.known(attempt.url)):
                contexts.awaited.add(attempt.url)
                instead = self._known_context(attempt, task)
        if instead is None and (folder := self._redirects.foreseen(attempt)):
            instead = self._redirects.go_ahead(attempt, folder)
        if instead is not None:
            self._tasks.start(self._without_request(attempt, instead))
            return None
        headers, meta = attempt.request_parts(self.queue)
        if attempt.link_state.query:
            self._endpoints.prepare(attempt, headers, meta)
        return Request(
            address_of(lease.entry.url),
            callback=self.parse,
            errback=self._failed,
            headers=headers,
            dont_filter=True,
            meta=meta,
        )

    async def _known_context(
        self, attempt: Attempt, task: asyncio.Task[bytes] | None
    ) -> list[FetchRecord]:
        """Pass over a link to a JSON-LD context that was fetched for a document.

        If ``task`` fetches it now, wait; what turns out to be more, or to fail, is fetched.
        """
        try:
            is_context = task is None or has_only_context(await asyncio.shield(task))
        finally:
            self.session.contexts.awaited.discard(attempt.url)
        if not is_context:
            await self.session.retry(attempt.lease, attempt.link_state, 0.0)
            return []
        await self.session.frontier.release([attempt.lease], sent=False)
        self.session.learn(attempt.outcome(Kind.OTHER, duplicate=True), self.queue)
        return []

    async def _without_request(self, attempt: Attempt, work: Any) -> None:
        """Finish a link that needs no request."""
        for record in await self._conclude(attempt, work):
            self.emit(record)
        attempt.complete = True
        if attempt.read:
            self.session.acknowledge(attempt.lease, failed=attempt.failed)

    def _take_patterns(self, patterns: UrlPatterns) -> None:
        """Apply other patterns from now on, and remember what they leave out."""
        if patterns is self._policy.patterns:
            return
        self._policy.take_patterns(patterns)
        self._tasks.start(self._planter.note_reach(patterns))

    def excludes(self, request: Request) -> bool:
        """Whether the patterns that hold now exclude a link, which then waits for others."""
        attempt = attempt_of(request)
        return attempt is not None and self._policy.is_excluded(attempt.url, attempt.link_state)

    def why_refused(self, request: Request) -> str:
        """Say why this run does not fetch a link; empty if it does."""
        attempt = attempt_of(request)
        if attempt is None:
            return ""
        return self._endpoints.refusal(attempt) or self._sitemaps.refusal(attempt)

    # -- responses
    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        """Read a link's response: items for the pipelines, links for the frontier.

        Subclasses may filter the items. A response to a request of their own is refused.
        """
        attempt = attempt_of(response.request)
        if attempt is None:
            self.logger.error(
                "%s is no link of the frontier: its request needs a callback of its own",
                response.url,
            )
            return
        for item in await self._conclude(attempt, self._responses.read(attempt, response)):
            self.count(item)
            yield item
        attempt.complete = True

    async def failed(self, failure: Failure) -> AsyncIterator[Any]:
        """Record a request that got no response."""
        attempt = attempt_of(failure.request)  # type: ignore[attr-defined]
        if attempt is None:
            return
        for item in await self._conclude(attempt, self._responses.read_failure(attempt, failure)):
            self.count(item)
            yield item
        attempt.complete = True

    def _failed(self, failure: Failure) -> Any:
        """Pass :meth:`failed` through the acknowledgement: errbacks skip spider middlewares."""
        given: Any = iterate_spider_output(self.failed(failure))
        output = given if isinstance(given, AsyncIterator) else as_async_generator(given)
        return self._acknowledgement.process_spider_output(failure, output)

    def abandoned(self, response: Response | Failure, reason: str) -> None:
        """Record an attempt whose callback failed; its link joins the failed links."""
        attempt = attempt_of(response.request)  # type: ignore[union-attr]
        if attempt is None:
            return
        got = response if isinstance(response, Response) else None
        record = attempt.record(FetchOutcome.PARSE_ERROR, got)
        record.errors = " ".join(reason.split())[:300]
        self.logger.error("%s: %s", attempt.url, record.errors)
        if self.session.awaits(attempt.lease):
            self.session.downloaded(attempt.lease)
            self.session.learn(attempt.outcome(None, got), self.queue)
        self.emit(record)
        self.session.acknowledge(attempt.lease, failed=True)

    async def _conclude(self, attempt: Attempt, reading: Awaitable[Any]) -> Sequence[Any]:
        """Await and return an attempt's items; note when it is downloaded and when processed."""
        self.session.downloaded(attempt.lease)
        try:
            items: Sequence[Any] = await reading
            attempt.read = True
        except FrontierError as error:
            # the lease expires, and the next run fetches the link again
            self.session.fail_with(error, self.logger)
            items, attempt.handled_elsewhere = attempt.interrupted(str(error)), True
        except Exception as error:
            # a bug of ours: the link must neither hang on its lease nor vanish
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            self.logger.error("%s: %s", attempt.url, reason)
            self.logger.debug("where it happened", exc_info=True)
            record = attempt.record(FetchOutcome.PARSE_ERROR)
            record.errors = reason
            items, attempt.failed, attempt.read = [record], True, True
        finally:
            self.session.processed(attempt.lease)
        attempt.failed = attempt.failed or NOT_RECORDED in attempt.meta
        return items

    def set_aside(self, links: Sequence[WaitingLink]) -> None:
        """Record links that are set aside because their host was down for long.

        One of them teaches what its request would have: the worth of hosts named beside it falls.
        """
        for link in links:
            self.emit(record_of_unsent(link, self.session.health.reason(link.entry.host)))
        tried = self.session.health.gave_something
        for link in links:
            if is_judged(link.entry.group) and not tried(link.entry.host):
                self.session.intake.learning.learn(outcome_of_unsent(link), link.entry.queue)
                break

    # -- items
    def emit(self, item: Any) -> None:
        """Send an item that belongs to no link, such as a robots.txt, to the pipelines."""
        self.count(item)
        self._tasks.pass_on(item)

    def count(self, item: Any) -> None:
        """Count a record in the tally and the stats."""
        if not isinstance(item, FetchRecord):
            return
        self.session.tally.add(item)
        if (stats := self.crawler.stats) is None:
            return
        stats.inc_value(f"semcrawl/outcome/{item.outcome}")
        if item.outcome is FetchOutcome.FETCHED_RDF and item.quads:
            stats.inc_value("semcrawl/quads", item.quads)
