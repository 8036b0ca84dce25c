"""Finds the sitemaps of hosts, reads them, and adds their links in batches."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from scrapy.http import Response

from semcrawl.crawl.attempt import Attempt
from semcrawl.crawl.lists import (
    KeptLists,
    ListRules,
    Portion,
    first_turn,
    left,
    outcome_of_list,
    put_last,
    waiting_last,
)
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Page
from semcrawl.reading.answer import ListedSitemap
from semcrawl.sources.listing import SOON
from semcrawl.spiders.endpoints import EndpointReader
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.revisits import SitemapDates
from semcrawl.web.hosts import netloc_of

T = TypeVar("T")


@dataclass
class Sitemaps:
    """Carries out, for one spider, what the rules of lists decide.

    A host's sitemaps are those that its robots.txt names, or else ``/sitemap.xml`` if a seed names
    the host. Each sitemap is a link with a record of its own. It is fetched when nothing else of
    its host waits, or when its host has given some answers. Then it waits again and stands for its
    links: these are kept in the frontier's blobs and added in turns
    (:mod:`semcrawl.sources.listing`).
    """

    session: CrawlSession
    feed: LinkFeed
    endpoints: EndpointReader
    rules: ListRules
    lists: KeptLists
    dates: SitemapDates
    #: the spider's queue
    queue: str

    # -- finding
    async def note_answer(self, url: str) -> None:
        """Note an answer of a host; add its sitemaps, or some of their links, if they are due."""
        if not self.rules.on:
            return
        session = self.session
        if origin := self.rules.seeks(url):
            links = self.rules.found(origin, await session.robots.sitemaps(origin))
            if links:
                key = session.intake.host_key
                await put_last(session.frontier, links, self.queue, netloc_of(url), key)
                session.wake()
        if (untried := self.rules.note_answer(url)) is not None:
            await self._put_in(untried)
        if group := self.rules.due(url):
            await session.frontier.set_values({group: SOON})

    # -- reading
    def refusal(self, attempt: Attempt) -> str:
        """Say why a sitemap is not fetched; empty if it is."""
        return self.rules.why_enough(attempt.url) if attempt.link_state.is_sitemap else ""

    async def take(
        self, attempt: Attempt, response: Response, sitemap: ListedSitemap
    ) -> list[FetchRecord]:
        """Keep the links of a sitemap, unless enough sitemaps of its host were read."""
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        enough = self.rules.why_enough(attempt.url)
        record.errors = enough or "; ".join(sitemap.faults)
        if enough or not sitemap.file.form:
            return [record]
        await self.dates.note(attempt, sitemap.latest)
        record.outcome = FetchOutcome.FETCHED_SITEMAP
        record.real_type = f"sitemap:{sitemap.file.form}"
        name, shelves = "", sitemap.shelves
        if shelves:
            depth = attempt.link_state.depth
            name = await self.lists.keep(attempt.url, depth, attempt.digest, shelves)
            self.session.outlook.listed[name] = sum(len(shelf.links) for shelf in shelves)
        self.rules.note_read(attempt.url, name, shelves)
        if shelves:
            await self._wait_again(attempt, first_turn(name))
        return [record]

    async def _wait_again(self, attempt: Attempt, turn: str) -> None:
        """Put a sitemap back into the frontier, where it stands for its links."""
        attempt.link_state = replace(attempt.link_state, turn=turn, retries=0)
        await self.session.retry(waiting_last(attempt.lease), attempt.link_state, 0.0)

    # -- links of lists, and links that need no request
    def instead(self, attempt: Attempt) -> Coroutine[Any, Any, list[FetchRecord]] | None:
        """Return the work that replaces a link's request; ``None`` if the link is fetched."""
        if attempt.link_state.turn:
            return self.take_turn(attempt)
        if self.dates.may_be_behind(attempt):
            return self.dates.catch_up(attempt)
        return self.dates.record(attempt) if self.dates.leaves_out(attempt) else None

    async def take_turn(self, attempt: Attempt) -> list[FetchRecord]:
        """Add links of each shape of a list, as nothing else of their host waits; no record."""
        await self.session.frontier.release([attempt.lease], sent=False)
        name = attempt.link_state.turn.partition(".")[0]
        index = await self.lists.index(name)
        if index is None:
            self.session.outlook.listed[name] = 0
            return []
        turn = await self._add(self.rules.take_turn(attempt.link_state.turn, index.lengths))
        self.session.outlook.listed[name] = left(index.lengths, turn)
        if turn:
            await self._wait_again(attempt, turn)
        else:
            await self.lists.drop(name, index)
        return []

    async def go_on(self, attempt: Attempt) -> None:
        """Add more links of a shape, at least one new one if there is any, as one was a target."""
        more = attempt.link_state.more if attempt.is_target else ""
        index = await self.lists.index(more.partition(".")[0]) if more else None
        if index is not None:
            await self._add(self.rules.go_on(more, index.lengths))

    async def _add(self, portions: Generator[Portion, int, T]) -> T:
        """Add portions of lists, as long as the rules ask for more; return what they conclude."""
        try:
            portion = next(portions)
            while True:
                portion = portions.send(await self._put_in(portion))
        except StopIteration as end:
            concluded: T = end.value
            return concluded

    async def _put_in(self, portion: Portion) -> int:
        """Add the links of a portion; return how many were new."""
        listing = await self.lists.links(portion.place, portion.end)
        if listing is None or not listing.links:
            return 0
        page = Page(listing.page, listing.depth)
        rest = str(portion.place._replace(number=portion.end))
        more = {link.url: rest for link in listing.links}
        links = await self.endpoints.take_found(page, listing.links)
        new = await self.feed.discover(page, links, more=more, votes=False)
        if new:
            self.session.intake.learning.learn(outcome_of_list(page, new), self.queue)
        return len(new)
