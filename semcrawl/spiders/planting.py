"""A spider that plants its seeds in the frontier, and passes on what belongs to no link."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Request

from semcrawl.config.jobdir import job_path
from semcrawl.config.scope import Scope
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError, SemcrawlError, UsageError
from semcrawl.frontier.payload import LinkMemo
from semcrawl.links import Link, Page
from semcrawl.relevance import Ranked
from semcrawl.spiders.reach import Reach, pages_had
from semcrawl.spiders.revisits import due_links
from semcrawl.spiders.seeds import (
    Planted,
    by_page,
    read_planted,
    read_seeds,
    seed_list,
    seed_url,
)
from semcrawl.spiders.spelling import normalisation
from semcrawl.web.hosts import public_address
from semcrawl.web.urls import Normalisation, dropped_index

#: name of the frontier's blob with what earlier runs might follow
_REACH = "reach"


class PlantingSpider(Spider):
    """A spider whose links, the seeds first, wait in the frontier.

    Arguments (``-a``): ``seeds`` (``URL,URL`` or ``@file``), ``scope`` (see
    :class:`~semcrawl.config.scope.Scope`), ``redis_key`` (name of its list). The ``start_urls`` of
    a subclass are seeds, too, and so is what its ``start`` gives, unless a request has a callback
    of its own. Without any of these the spider waits on its Redis list.
    """

    #: name of its queue in the frontier
    queue: ClassVar[str]

    session: CrawlSession
    normalisation: Normalisation
    scope: Scope
    _key_pattern: str

    def __init__(
        self,
        name: str | None = None,
        seeds: str | None = None,
        scope: str = "",
        redis_key: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._seeds_text = seeds
        self._scope_text = scope
        self._redis_key = redis_key
        self._given_seeds = 0
        self._new_seeds = 0
        self._closed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and read its settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = crawler.settings
        spider.normalisation = normalisation(settings)
        spider.scope = Scope.parse(
            spider._scope_text or settings.get("SEMCRAWL_SCOPE", "site"),
            [host.strip().lower() for host in settings.getlist("SEMCRAWL_REDIRECTORS")],
        )
        pattern = spider._redis_key or settings.get("REDIS_START_URLS_KEY", "%(name)s:start_urls")
        spider._key_pattern = pattern
        crawler.signals.connect(spider._end_start, signals.spider_closed)
        return spider

    def join(self, session: CrawlSession) -> None:
        """Take part in a session, in the scope that all its seeds give."""
        self.session = session
        self.scope.roots = session.intake.roots
        self.scope.named = session.intake.named

    @property
    def seed_key(self) -> str:
        """Name of the Redis list that seeds come from."""
        return self._list_of(self.name)

    @property
    def waits(self) -> bool:
        """Whether the spider waits on its list, having no seeds of its own."""
        seeded = self._seeds_text is not None or self.start_urls
        if seeded or self.settings.getbool("SEMCRAWL_HARVEST"):
            return False
        return getattr(self.start, "__func__", None) is Spider.start

    def _list_of(self, name: str) -> str:
        return seed_list(self._key_pattern, name)

    async def plant_own(self) -> None:
        """Plant the seeds that were given; wrong ones end the crawl."""
        try:
            await self._plant_own()
        except SemcrawlError as error:
            self.logger.error("%s", error)
            self.session.fail(str(error))
            raise CloseSpider("usage" if isinstance(error, UsageError) else "error") from None
        except Exception as error:
            self.logger.exception("the seeds cannot be planted")
            self.session.fail(f"{type(error).__name__}: {error}")
            raise CloseSpider("error") from None

    async def until_over(self) -> None:
        """Say that all seeds are planted, and wait until the crawl ends."""
        self.session.planted(self.queue)
        ends = [
            asyncio.create_task(event.wait()) for event in (self.session.finished, self._closed)
        ]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()

    async def plant_request(self, request: Request, *, own: bool = False) -> None:
        """Put what ``start``, ``start_urls`` or a callback asks for into the frontier, as a seed.

        Only its URL goes there: the link is asked for as all others are. ``own``: no page gave it,
        and it may name a private address.
        """
        await self._guarded(self._plant_request(request, own=own))

    async def _plant_request(self, request: Request, *, own: bool) -> None:
        try:
            if request.method != "GET":
                raise UsageError(f"needs a callback of its own, being a {request.method}")
            url = seed_url(request.url, self.normalisation)
        except UsageError as error:
            self.logger.error("%s: %s", request.url, error)
            return
        await self.session.intake.widen(self.scope.roots_of(url), named=own)
        memo = LinkMemo(index=dropped_index(request.url))
        await self._plant_seeds([(url, memo)])

    async def _plant_seeds(self, seeds: Sequence[tuple[str, LinkMemo]]) -> None:
        """Put seeds in, and count them."""
        self._new_seeds += await self.session.intake.plant(seeds, self.queue)
        self._given_seeds += len(seeds)

    async def _plant_own(self) -> None:
        if self.settings.getbool("SEMCRAWL_REVISIT") and self.queue == "html":
            await self._plant_revisits()
        if self.queue == "html":
            await self._look_further()
        if self._seeds_text is None:
            if self.waits:
                self._tell_of_waiting()
            return
        written = read_seeds(self._seeds_text, Normalisation(exact=True))
        seeds = [
            (seed_url(url, self.normalisation), LinkMemo(index=dropped_index(url)))
            for url in written
        ]
        roots = {root for url, _ in seeds for root in self.scope.roots_of(url)}
        await self.session.intake.widen(roots, named=True)
        await self._plant_seeds(seeds)

    def _tell_of_waiting(self) -> None:
        """Say where seeds are awaited: a list that nobody writes to is waited on for ever."""
        if url := self.settings.get("REDIS_URL"):
            place = f"the Redis at {public_address(str(url))}"
        else:
            place = "the job folder's own Redis (no REDIS_URL and no -a seeds=… is given)"
        self.logger.info("Waiting for seeds on the list %s of %s", self.seed_key, place)

    async def _look_further(self) -> None:
        """Have pages read again where more of their links may be followed than in earlier runs."""
        frontier = self.session.frontier
        scope = self._scope_text or self.settings.get("SEMCRAWL_SCOPE") or "site"
        reach = Reach.of(scope, UrlPatterns.from_settings(self.settings))
        saved = await frontier.blobs.get(_REACH)
        if reach.exceeds(Reach.load(saved)):
            pages = await asyncio.to_thread(pages_had, self.settings)
            if planted := await self.session.intake.revisit(pages, self.queue):
                self.logger.info("%d pages are read again for links that were left out", planted)
        if reach.dump() != saved:
            await frontier.blobs.put(_REACH, reach.dump())

    async def _plant_revisits(self) -> None:
        """Put in what was had before and is due again."""
        due = await asyncio.to_thread(due_links, self.settings)
        planted = await self.session.intake.revisit(due, self.queue)
        self.logger.info("%d documents and pages are due again", planted)

    def _end_start(self) -> None:
        self._closed.set()
        session: CrawlSession | None = getattr(self, "session", None)
        if session is None or self.settings.getbool("SEMCRAWL_HARVEST"):
            return  # (whose summary says it)
        if self._given_seeds and not self._new_seeds and not session.requests:
            self.logger.warning(
                "Nothing was asked for: an earlier run of this crawl (in %s) has had all of these "
                "seeds. For a new crawl give another folder, -s JOBDIR=…; to ask again for what is "
                "there, -s SEMCRAWL_REVISIT=1",
                self._kept_in(),
            )

    def _kept_in(self) -> str:
        """Say where the crawl's frontier is."""
        if url := self.settings.get("REDIS_URL"):
            return f"the Redis at {public_address(str(url))}"
        return str(job_path(self.settings).resolve() / "frontier")

    def emit(self, item: Any) -> None:
        """Send an item to the pipelines that belongs to no link (a robots.txt, say)."""
        self.count(item)
        self._run(self._pass_on(item))

    async def _pass_on(self, item: Any) -> None:
        engine = self.crawler.engine
        if engine is None or engine.scraper.slot is None:
            return
        slot = engine.scraper.slot
        await engine.scraper.start_itemproc_async(item, response=None)
        # a scraper that closes waits until it is idle, but looks only when a response is done
        if slot.closing is not None and not slot.closing.called and slot.is_idle():
            slot.closing.callback(self)

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
        await self.session.intake.widen(roots)
        for (page, barren), links in by_page(planted).items():
            try:
                if page is None:
                    seeds = [(link.url, LinkMemo(index=link.index)) for link in links]
                    await self.session.intake.plant(seeds, self.queue)
                else:
                    await self.discover(page, links, barren)
            except FrontierError:
                raise
            except Exception as error:
                # a fault of ours: it must not come back from the list for ever
                self.logger.error("seeds cannot be planted: %s: %s", type(error).__name__, error)
                self.logger.debug("where it happened", exc_info=True)
        await self.session.frontier.seeds.done(self.seed_key, raw)
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
            self.session.fail(str(error))

    # -- what the kinds of spider do
    async def discover(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and put the new ones into the frontier; return these."""
        raise NotImplementedError

    def count(self, item: Any) -> None:
        """Take an item into the statistics."""
