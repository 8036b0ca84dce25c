"""Puts seeds into the frontier: the user's, requests, and entries of the seed list."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from scrapy import Spider, signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Request

from semcrawl.config.jobdir import ResultOptions, job_path
from semcrawl.config.options import EndpointOptions, SitemapRules
from semcrawl.config.revisit import RevisitOptions
from semcrawl.config.scope import UrlPatterns
from semcrawl.crawl.crawllimits import limits_now, take_back
from semcrawl.crawl.querylinks import first_links
from semcrawl.crawl.session import CrawlSession
from semcrawl.crawl.shareddates import SharedDates
from semcrawl.errors import FrontierError, SemcrawlError, UsageError
from semcrawl.frontier.backends import frontier_file
from semcrawl.frontier.links import LinkState
from semcrawl.metadata.database import CRAWL_DB, crawl_db_url
from semcrawl.metadata.seedfates import seeds_to_repeat
from semcrawl.settings.reader import fill
from semcrawl.sources.endpoints import endpoint_of_seed
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.revisits import (
    Reach,
    due_links,
    fetched_pages,
    known_sitemaps,
    lost_documents,
)
from semcrawl.spiders.seeds import (
    Planted,
    by_page,
    read_planted,
    read_priorities,
    seed_url,
)
from semcrawl.web.hosts import public_address
from semcrawl.web.urls import Normalisation, dropped_index

#: name of the frontier's blob with scope and patterns of earlier runs
_REACH = "reach"


class SeedPlanter:
    """Puts a spider's seeds into the frontier, and keeps the spider open for more."""

    def __init__(
        self,
        spider: Spider,
        session: CrawlSession,
        feed: LinkFeed,
        tasks: BackgroundTasks,
        normalisation: Normalisation,
        *,
        queue: str,
        key: str,
        seeds: str | None,
        scope: str,
    ) -> None:
        """Plant ``seeds`` and the seeds of the list ``key``.

        ``seeds`` and ``scope`` are as the user wrote them.
        """
        self._logger = spider.logger
        self._settings = spider.settings
        self._session = session
        self._feed = feed
        self._scope = feed.policy.scope
        self._tasks = tasks
        self._normalisation = normalisation
        self._queue = queue
        self._key = key
        self._seeds = seeds
        self._scope_text = scope
        self._endpoints = fill(EndpointOptions, self._settings)
        harvests = self._settings.getbool("SEMCRAWL_HARVEST")
        has_start = getattr(spider.start, "__func__", None) is not Spider.start
        #: whether the spider has no seeds of its own and waits for some on its list
        self.waits = seeds is None and not (spider.start_urls or harvests or has_start)
        self._given_seeds = 0
        self._new_seeds = 0
        self._closed = asyncio.Event()
        spider.crawler.signals.connect(self._end, signals.spider_closed)

    # -- the user's seeds
    async def plant_own(self) -> None:
        """Plant the user's seeds; wrong ones end the crawl."""
        try:
            await self._plant_own()
        except SemcrawlError as error:
            self._session.fail_with(error, self._logger)
            raise CloseSpider("usage" if isinstance(error, UsageError) else "error") from None
        except Exception as error:
            self._logger.exception("the seeds cannot be planted")
            self._session.fail(f"{type(error).__name__}: {error}")
            raise CloseSpider("error") from None

    async def _plant_own(self) -> None:
        if self._queue == "html":
            lost = await asyncio.to_thread(lost_documents, self._settings)
            if planted := await self._session.intake.revisit(lost, self._queue):
                self._logger.info("%d documents whose lines were lost are read again", planted)
            if fill(RevisitOptions, self._settings).on:
                await self._plant_revisits()
            await self._read_pages_again()
        if self._seeds is None:
            if self.waits:
                self._log_waiting()
            return
        written = read_priorities(self._seeds, Normalisation(exact=True))
        self._endpoints.check(written)
        endpoints = [found for url in written if (found := endpoint_of_seed(url))]
        seeds = [
            (seed_url(url, self._normalisation), LinkState(index=dropped_index(url)))
            for url in written
            if not endpoint_of_seed(url)
        ]
        named = [*endpoints, *(url for url, _ in seeds)]
        roots = {root for url in named for root in self._scope.roots_of(url)}
        await self._session.intake.add_roots(roots, named=True)
        priorities = {seed_url(url, self._normalisation): p for url, p in written.items() if p}
        await self._plant(seeds, priorities)
        await self._repeat(seeds)
        await self._plant_endpoints(endpoints)

    async def _repeat(self, seeds: Sequence[tuple[str, LinkState]]) -> None:
        """Ask again for seeds that failed in an earlier run for a reason that may have passed."""
        if self._new_seeds == len(seeds):
            return
        database = fill(ResultOptions, self._settings).metadata_url or ""
        folder = job_path(self._settings)
        if not database and not (folder / CRAWL_DB).is_file():
            return
        failed = await asyncio.to_thread(seeds_to_repeat, database or crawl_db_url(folder))
        for url, state in seeds:
            if url in failed:
                await self._session.intake.put_first(url, state, self._queue)
                self._logger.info("%s failed in an earlier run, and is asked again", url)

    async def _plant(
        self, seeds: Sequence[tuple[str, LinkState]], priorities: Mapping[str, float] | None = None
    ) -> None:
        """Add seeds to the frontier, and count them."""
        self._new_seeds += await self._session.intake.plant(seeds, self._queue, priorities)
        self._given_seeds += len(seeds)

    async def _plant_endpoints(self, endpoints: Sequence[str]) -> None:
        """Add the first query of each endpoint, or the second if the first was sent before."""
        for endpoint in endpoints:
            before = self._new_seeds
            description, graphs = first_links(self._endpoints, endpoint)
            await self._plant([description])
            if self._new_seeds == before:
                self._new_seeds += await self._session.intake.put_queries([graphs], self._queue)

    def _log_waiting(self) -> None:
        """Log which seed list the spider waits on: it may be the wrong one."""
        if url := self._settings.get("REDIS_URL"):
            place = f"the Redis at {public_address(str(url))}"
        else:
            place = "the job folder's own frontier (no REDIS_URL and no -a seeds=… is given)"
        self._logger.info("Waiting for seeds on the list %s of %s", self._key, place)

    async def _read_pages_again(self) -> None:
        """Plant the pages of earlier runs if this run may follow more of their links."""
        frontier = self._session.frontier
        limits = await limits_now(frontier, self._settings)
        if back := await take_back(frontier, limits):
            self._logger.info("%d links that other limits had set aside wait again", back)
        reach = Reach.of(self._scope_text, limits.patterns)
        saved = await frontier.shared.get(_REACH)
        if reach.exceeds(Reach.load(saved)):
            pages = await asyncio.to_thread(fetched_pages, self._settings)
            if planted := await self._session.intake.revisit(pages, self._queue):
                self._logger.info("%d pages are read again for links that were left out", planted)
        if reach.dump() != saved:
            await frontier.shared.put(_REACH, reach.dump())

    async def note_reach(self, patterns: UrlPatterns) -> None:
        """Note that new links are left out from now on, so that a later run finds them."""
        blobs = self._session.frontier.shared
        reach = Reach.of(self._scope_text, patterns)
        saved = await blobs.get(_REACH)
        if saved and Reach.load(saved).exceeds(reach):
            await blobs.put(_REACH, reach.dump())

    async def _plant_revisits(self) -> None:
        """Plant the documents and pages that are due for a re-visit."""
        if fill(SitemapRules, self._settings).use != "never":
            await SharedDates(self._session.frontier.shared).forget()
            sitemaps = await asyncio.to_thread(known_sitemaps, self._settings)
            await self._session.intake.revisit(sitemaps, self._queue)
        due = await asyncio.to_thread(due_links, self._settings)
        planted = await self._session.intake.revisit(due, self._queue)
        self._logger.info("%d documents and pages are due again", planted)

    # -- later seeds
    async def plant_request(self, request: Request, *, own: bool = False) -> None:
        """Put the URL of a request into the frontier, as a seed.

        ``own``: it comes from the user, not from a page, so its host may be private.
        """
        await self._tasks.guard(self._plant_request(request, own=own))

    async def _plant_request(self, request: Request, *, own: bool) -> None:
        try:
            if request.method != "GET":
                raise UsageError(f"needs a callback of its own, being a {request.method}")
            url = seed_url(request.url, self._normalisation)
        except UsageError as error:
            self._logger.error("%s: %s", request.url, error)
            return
        await self._session.intake.add_roots(self._scope.roots_of(url), named=own)
        await self._plant([(url, LinkState(index=dropped_index(request.url)))])

    async def plant_raw(self, raw: list[str]) -> None:
        """Plant entries of the seed list: seeds, and links that the other spider handed over."""
        planted: list[Planted] = []
        endpoints: list[str] = []
        encoding = self._settings.get("REDIS_ENCODING") or "utf-8"
        for text in raw:
            try:
                one = read_planted(_decoded(text, encoding), self._normalisation)
                if endpoint := endpoint_of_seed(one.link.url):
                    self._endpoints.check([one.link.url])
                    endpoints.append(endpoint)
                else:
                    planted.append(one)
            except UsageError as error:
                self._logger.error("%s", error)
        roots = {root for one in planted for root in one.roots}
        for one in planted:
            if one.page is None:
                roots |= self._scope.roots_of(one.link.url)
        for endpoint in endpoints:
            roots |= self._scope.roots_of(endpoint)
        await self._session.intake.add_roots(roots)
        await self._plant_endpoints(endpoints)
        for (page, barren), links in by_page(planted).items():
            try:
                if page is None:
                    seeds = [(link.url, LinkState(index=link.index)) for link in links]
                    await self._session.intake.plant(seeds, self._queue)
                else:
                    await self._feed.discover(page, links, barren)
            except FrontierError:
                raise
            except Exception as error:
                # a bug of ours: drop the entry, which would otherwise come back for ever
                self._logger.error("seeds cannot be planted: %s: %s", type(error).__name__, error)
                self._logger.debug("where it happened", exc_info=True)
        await self._session.frontier.shared.done_seeds(self._key, raw)
        self._session.wake()

    # -- the end
    async def until_over(self) -> None:
        """Report that the own seeds are planted, and wait until the crawl ends."""
        self._session.planted(self._queue)
        ends = [
            asyncio.create_task(event.wait()) for event in (self._session.finished, self._closed)
        ]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()

    def _end(self) -> None:
        """Warn if an earlier run of the crawl had all the seeds."""
        self._closed.set()
        if self._settings.getbool("SEMCRAWL_HARVEST"):
            return  # the summary of the harvest says so
        if self._given_seeds and not self._new_seeds and not self._session.requests:
            if url := self._settings.get("REDIS_URL"):
                place = f"the Redis at {public_address(str(url))}"
            else:
                place = str(frontier_file(job_path(self._settings).resolve()))
            self._logger.warning(
                "No request was sent: an earlier run of this crawl (in %s) had all of these seeds. "
                "For a new crawl name another folder, -s JOBDIR=…; to visit known documents again, "
                "-s SEMCRAWL_REVISIT=1",
                place,
            )


def _decoded(text: str, encoding: str) -> str:
    """Return an entry of a seed list in ``REDIS_ENCODING``, which was read as UTF-8."""
    try:
        return text.encode("utf-8", "surrogateescape").decode(encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise UsageError(f"not a seed: {text[:200]!r} (REDIS_ENCODING: {error})") from None


class BackgroundTasks:
    """Runs coroutines of a spider; if the frontier fails, the crawl ends with one line."""

    def __init__(self, spider: Spider, session: CrawlSession) -> None:
        self._spider = spider
        self._session = session
        self._running: set[asyncio.Task[None]] = set()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background."""
        task = asyncio.ensure_future(self.guard(coroutine))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def guard(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Await a coroutine; end the crawl if the frontier fails."""
        try:
            await coroutine
        except FrontierError as error:
            self._session.fail_with(error, self._spider.logger)

    def pass_on(self, item: Any) -> None:
        """Send an item that belongs to no response to the pipelines."""
        self.start(self._pass_on(item))

    async def _pass_on(self, item: Any) -> None:
        engine = self._spider.crawler.engine
        if engine is None or engine.scraper.slot is None:
            return
        slot = engine.scraper.slot
        await engine.scraper.start_itemproc_async(item, response=None)
        # a closing scraper waits until it is idle, but checks that only after a response
        if slot.closing is not None and not slot.closing.called and slot.is_idle():
            slot.closing.callback(self._spider)
