"""Finds the sitemaps of hosts, reads them, and adds their links in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, Self

from scrapy.http import Response

from semcrawl.config.leadoptions import SitemapRules
from semcrawl.crawl.attempt import Attempt, location_of
from semcrawl.crawl.keptlists import KeptLists, Place
from semcrawl.crawl.listgroups import put_last, waiting_last
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.linkstate import GUESS, SITEMAP, LinkState
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import FoundBy, Page
from semcrawl.machine.recent import Recent
from semcrawl.reading.answer import ListedSitemap
from semcrawl.relevance import Outcome
from semcrawl.settings.reader import fill
from semcrawl.sources import (
    GUESSED_AFTER,
    NAMED_AFTER,
    NEXT,
    UntriedShapes,
    turn,
)
from semcrawl.sources.listing import SOON
from semcrawl.spiders._sitemapdates import SitemapDates
from semcrawl.spiders.endpoints import EndpointReader
from semcrawl.spiders.linking import LinkFeed
from semcrawl.web.hosts import host_of, netloc_of, origin_of
from semcrawl.web.urls import Normalisation, resolve

#: hosts whose search for sitemaps is remembered, those that answered last
_MOST_HOSTS = 10_000
#: new links after which a turn ends, even if it has not reached all shapes
_ENOUGH = 400
#: prefix, in a link's rules, of another host whose robots.txt names the sitemap
_OF = "of:"


class Sitemaps:
    """Finds the sitemaps of hosts, reads them, and puts their links into the frontier.

    A host's sitemaps are those that its robots.txt names, or else ``/sitemap.xml`` if a seed names
    the host. Each sitemap is a link with a record of its own. It is fetched when nothing else of
    its host waits, or when its host has given some answers. Then it waits again and stands for its
    links: these are kept in the frontier's blobs and added in turns
    (:mod:`semcrawl.sources.listing`).
    """

    def __init__(
        self,
        session: CrawlSession,
        feed: LinkFeed,
        endpoints: EndpointReader,
        rules: SitemapRules,
        queue: str,
        normalisation: Normalisation,
        dates: SitemapDates,
    ) -> None:
        """Add links to ``queue`` through the spider's ``feed``."""
        self._session = session
        self._feed = feed
        self._endpoints = endpoints
        self._rules = rules
        self._queue = queue
        self._normalisation = normalisation
        self.dates = dates
        #: by origin, the number of answers that its sitemaps wait for, and their group, which is
        #: empty if there are none
        self._sought: Recent[str, tuple[int, str]] = Recent(_MOST_HOSTS)
        #: number of sitemaps read, by host
        self._of_host: Counter[str] = Counter()
        self._untried = UntriedShapes()
        self._lists = KeptLists(session.frontier.blobs)
        #: places in lists from which more links were added
        self._passed: set[Place] = set()

    @classmethod
    def of_spider(
        cls, spider: Any, session: CrawlSession, feed: LinkFeed, endpoints: EndpointReader
    ) -> Self:
        """Make the sitemaps of a spider; a spider that follows no pages uses none."""
        rules = fill(SitemapRules, spider.settings)
        if not spider.follows(Page("")):
            rules = replace(rules, use="never")
        feed.only_sitemaps = rules.use == "only"
        dates = SitemapDates(spider.settings, session, spider.crawler.stats)
        return cls(session, feed, endpoints, rules, spider.queue, spider.normalisation, dates)

    @property
    def on(self) -> bool:
        """Whether sitemaps are used at all."""
        return self._rules.use != "never"

    # -- finding
    async def note_answer(self, url: str) -> None:
        """Note an answer of a host; add its sitemaps, or some of their links, if they are due."""
        if not self.on:
            return
        origin = origin_of(url)
        if origin not in self._sought:
            self._sought[origin] = 0, ""
            await self._look_up(url, origin)
        if untried := self._untried.note(url):
            name, shelf = untried
            await self._put_in(Place(name, shelf, 0), 1)
        after, group = self._sought[origin]
        if group and self._untried.answers(url) >= after:
            self._sought[origin] = 0, ""
            await self._session.frontier.set_values({group: SOON})

    async def _look_up(self, url: str, origin: str) -> None:
        """Add the sitemaps of a host, to wait until nothing else of it does."""
        if not self._feed.policy.scope.inside(url):
            return
        robots, after = f"{origin}/robots.txt", NAMED_AFTER
        words: tuple[str, ...] = (SITEMAP,)
        named = await self._session.robots.sitemaps(origin)
        found = [resolve(robots, each, self._normalisation) for each in named]
        if not found and host_of(url) in self._feed.policy.scope.roots:
            found, words, after = [f"{origin}/sitemap.xml"], (SITEMAP, GUESS), GUESSED_AFTER
        if self._rules.use == "only":
            after = 0
        host, links = netloc_of(url), []
        for each in dict.fromkeys(filter(None, found)):
            if self._feed.policy.may_fetch_sitemap(each):
                of = (_OF + host,) if netloc_of(each) != host else ()
                state = LinkState(robots, 1, rules=words + of, found_by=FoundBy.SITEMAP)
                links.append((each, state))
        if links:
            session = self._session
            group = await put_last(
                session.frontier, links, self._queue, host, session.intake.host_key
            )
            session.wake()
            self._sought[origin] = after, group

    # -- reading
    def refusal(self, attempt: Attempt) -> str:
        """Say why a sitemap is not fetched; empty if it is."""
        return self._why_enough(netloc_of(attempt.url)) if attempt.link_state.is_sitemap else ""

    def _why_enough(self, host: str) -> str:
        """Say that enough sitemaps of a host were read; empty if they were not."""
        if self._of_host[host] < self._rules.most:
            return ""
        return f"{self._rules.most} sitemaps of its host were read already"

    async def take(
        self, attempt: Attempt, response: Response, sitemap: ListedSitemap
    ) -> list[FetchRecord]:
        """Keep the links of a sitemap, unless enough sitemaps of its host were read."""
        host = netloc_of(attempt.url)
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.errors = self._why_enough(host) or "; ".join(sitemap.faults)
        if self._why_enough(host) or not sitemap.file.form:
            return [record]
        self._of_host[host] += 1
        await self.dates.note(attempt, sitemap.latest)
        record.outcome = FetchOutcome.FETCHED_SITEMAP
        record.real_type = f"sitemap:{sitemap.file.form}"
        if shelves := sitemap.shelves:
            depth = attempt.link_state.depth
            name = await self._lists.keep(attempt.url, depth, attempt.digest, shelves)
            self._untried.add(name, attempt.url, shelves)
            self._session.outlook.listed[name] = sum(len(shelf.links) for shelf in shelves)
            await self._wait_again(attempt, f"{name}.0.0")
        return [record]

    def hosts_of(self, attempt: Attempt) -> frozenset[str]:
        """Return the other hosts whose addresses a sitemap may list: those that name it."""
        rules = attempt.link_state.rules
        return frozenset(word.removeprefix(_OF) for word in rules if word.startswith(_OF))

    async def _wait_again(self, attempt: Attempt, turn: str) -> None:
        """Put a sitemap back into the frontier, where it stands for its links."""
        attempt.link_state = replace(attempt.link_state, turn=turn, retries=0)
        await self._session.retry(waiting_last(attempt.lease), attempt.link_state, 0.0)

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
        await self._session.frontier.not_sent([attempt.lease])
        name, number, shelf = _numbers(attempt.link_state.turn)
        index = await self._lists.index(name)
        new = 0
        while index is not None and new < _ENOUGH:
            start, end = turn(number)
            if shelf < len(index.lengths):
                new += await self._put_in(Place(name, shelf, start), end)
                shelf += 1
                continue
            shelf, number = 0, number + 1
            if max(index.lengths, default=0) <= turn(number)[0]:
                await self._lists.drop(name, index)
                index = None
            elif new:
                break
        self._session.outlook.listed[name] = 0 if index is None else _left(index.lengths, number)
        if index is not None:
            await self._wait_again(attempt, f"{name}.{number}.{shelf}")
        return []

    async def go_on(self, attempt: Attempt) -> None:
        """Add more links of a shape, at least one new one if there is any, as one was a target."""
        place = Place.parse(attempt.link_state.more) if attempt.is_target else None
        while place is not None and place not in self._passed:
            self._passed.add(place)
            index = await self._lists.index(place.name)
            if index is None or place.number >= index.length(place.shelf):
                return
            end = place.number + NEXT
            if await self._put_in(place, end):
                return
            place = place._replace(number=end)

    async def _put_in(self, place: Place, end: int) -> int:
        """Add the links of a shelf from a place up to ``end``; return how many were new."""
        listing = await self._lists.links(place, end)
        if listing is None or not listing.links:
            return 0
        page = Page(listing.page, listing.depth)
        rest = str(place._replace(number=end))
        more = {link.url: rest for link in listing.links}
        links = await self._endpoints.take_found(page, listing.links)
        new = await self._feed.discover(page, links, more=more, votes=False)
        if new:
            # report them as links of a duplicate page: no outcome of their own brings them
            outcome = Outcome(
                url=page.url,
                kind=None,
                target=False,
                final_url=page.url,
                parent=page.url,
                depth=page.depth,
                duplicate=True,
                new_links=new,
            )
            self._session.intake.learning.learn(outcome, self._queue)
        return len(new)


def leads_to_sitemap(response: Response) -> bool:
    """Whether a redirect's target has a name like that of a sitemap."""
    return "sitemap" in location_of(response).lower()


def _left(lengths: Sequence[int], number: int) -> int:
    """Return how many links of a list wait for its turn of a number and later ones."""
    start = turn(number)[0]
    return sum(max(0, length - start) for length in lengths)


def _numbers(turn: str) -> tuple[str, int, int]:
    """Parse the state of a list: its name, the number of the turn, and the next shelf."""
    name, number, shelf = turn.split(".")
    return name, int(number), int(shelf)
