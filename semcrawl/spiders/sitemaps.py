"""Finds the sitemaps of hosts, reads them, and adds their links in batches."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from scrapy.http import Response

from semcrawl.config.leadoptions import SitemapRules, SitemapUse
from semcrawl.crawl.attempt import Attempt, header
from semcrawl.crawl.keptlists import KeptLists, Place
from semcrawl.crawl.listgroups import SOON, put_last, waiting_last
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.linkstate import GUESS, SITEMAP, LinkState
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import FoundBy, Page
from semcrawl.relevance import Outcome
from semcrawl.sources import (
    GUESSED_AFTER,
    NAMED_AFTER,
    NEXT,
    Shelf,
    SitemapFile,
    SitemapLimits,
    UntriedShapes,
    arrange,
    is_sitemap_name,
    links_of,
    read_sitemap,
    turn,
)
from semcrawl.spiders._sitemapdates import SitemapDates
from semcrawl.spiders.endpoints import EndpointReader
from semcrawl.spiders.linking import LinkFeed, is_seed
from semcrawl.spiders.reading import Reader
from semcrawl.web.bodies import BodyFile, body_file
from semcrawl.web.hosts import host_of, netloc_of, origin_of
from semcrawl.web.urls import Normalisation, resolve

#: root element of a sitemap
_ROOT = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>/]")
#: bytes of a body in which the root element is looked for
_HEAD = 2048
#: bytes above which a body is read in a thread
_LARGE = 1 << 16
#: new links after which a turn ends, even if it has not reached all shapes
_ENOUGH = 400
#: prefix, in a link's rules, of another host whose robots.txt names the sitemap
_OF = "of:"


@dataclass(frozen=True, slots=True)
class _Read:
    """The content of a sitemap, with its links in order."""

    file: SitemapFile
    shelves: Sequence[Shelf]
    faults: Sequence[str]
    entries: int
    #: the latest times at which addresses may have changed
    latest: dict[str, int]


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
        reader: Reader,
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
        self._reader = reader
        self._rules = rules
        self._queue = queue
        self._normalisation = normalisation
        self.dates = dates
        #: by origin, the number of answers that its sitemaps wait for, and their group, which is
        #: empty if there are none
        self._sought: dict[str, tuple[int, str]] = {}
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
        rules = SitemapRules.from_settings(spider.settings)
        if not spider.follows(Page("")):
            rules = replace(rules, use=SitemapUse.NEVER)
        feed.only_sitemaps = rules.use is SitemapUse.ONLY
        parts = (session, feed, spider.reader, endpoints)
        dates = SitemapDates(spider.settings, session, spider.crawler.stats)
        return cls(*parts, rules, spider.queue, spider.normalisation, dates)

    @property
    def on(self) -> bool:
        """Whether sitemaps are used at all."""
        return self._rules.use is not SitemapUse.NEVER

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
        if self._rules.use is SitemapUse.ONLY:
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
    def expects(self, attempt: Attempt, head: bytes) -> bool:
        """Whether to read a link's body, which begins with ``head``, as a sitemap."""
        if not self.on:
            return False
        by_name = is_seed(attempt) and is_sitemap_name(attempt.link_url)
        return attempt.link_state.is_sitemap or by_name or bool(_ROOT.search(head[:_HEAD]))

    def refusal(self, attempt: Attempt) -> str:
        """Say why a sitemap is not fetched; empty if it is."""
        return self._why_enough(netloc_of(attempt.url)) if attempt.link_state.is_sitemap else ""

    def _why_enough(self, host: str) -> str:
        """Say that enough sitemaps of a host were read; empty if they were not."""
        if self._of_host[host] < self._rules.most:
            return ""
        return f"{self._rules.most} sitemaps of its host were read already"

    async def read(self, attempt: Attempt, response: Response) -> list[FetchRecord] | None:
        """Read a sitemap and keep its links; ``None`` if it turns out to be none."""
        state, host = attempt.link_state, netloc_of(attempt.url)
        if reason := self._why_enough(host):
            record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
            record.errors = reason
            return [record]
        body = body_file(attempt.meta)
        if body is not None:
            body = await self._reader.decoded(body)
        by_name = state.is_sitemap or is_sitemap_name(attempt.link_url)
        arguments = (attempt.url, by_name, self._hosts(attempt), self._rules.limits)
        size = len(response.body) if body is None else body.size
        if size > _LARGE:
            read = await asyncio.to_thread(
                _read, body or response.body, *arguments, self._normalisation
            )
        else:
            read = _read(body or response.body, *arguments, self._normalisation)
        if not read.file.form and not read.file.faults:
            if not state.is_guess:
                return None
            read.file.faults.append("it is no sitemap")
        if not read.file.form:
            record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
            record.errors = "; ".join(read.file.faults)
            return [record]
        self._of_host[host] += 1
        await self.dates.note(attempt, read.latest)
        record = attempt.record(FetchOutcome.FETCHED_SITEMAP, response)
        record.real_type = f"sitemap:{read.file.form}"
        record.errors = "; ".join(read.faults)
        if read.shelves:
            name = await self._lists.keep(attempt.url, state.depth, attempt.digest, read.shelves)
            self._untried.add(name, attempt.url, read.shelves)
            await self._wait_again(attempt, f"{name}.0.0")
        return [record]

    def _hosts(self, attempt: Attempt) -> frozenset[str]:
        """Return the hosts whose addresses a sitemap may list: its own, and hosts that name it."""
        rules = attempt.link_state.rules
        others = [word.removeprefix(_OF) for word in rules if word.startswith(_OF)]
        own = [netloc_of(url) for url in (attempt.url, attempt.link_url)]
        return frozenset(_bare(host) for host in (*own, *others))

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
        new = await self._feed.discover(page, links, more=more)
        if new:
            # report them as links of a duplicate page: no outcome of their own brings them
            outcome = Outcome(
                *(page.url, None, False, page.url, page.url, page.depth),
                duplicate=True,
                new_links=new,
            )
            self._session.intake.learning.learn(outcome, self._queue)
        return len(new)


def leads_to_sitemap(response: Response) -> bool:
    """Whether a redirect's target has a name like that of a sitemap."""
    return "sitemap" in header(response, b"Location").lower()


def _numbers(turn: str) -> tuple[str, int, int]:
    """Parse the state of a list: its name, the number of the turn, and the next shelf."""
    name, number, shelf = turn.split(".")
    return name, int(number), int(shelf)


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _read(
    body: bytes | BodyFile,
    url: str,
    expected: bool,
    hosts: frozenset[str],
    limits: SitemapLimits,
    normalisation: Normalisation,
) -> _Read:
    """Read a sitemap and sort its links; a pure function, for a thread."""
    file = read_sitemap(
        [body] if isinstance(body, bytes) else body.stream(), limits, expected=expected
    )
    latest: dict[str, int] = {}
    links, odd = links_of(
        *(file.entries, url, lambda each: _bare(netloc_of(each)) in hosts, normalisation),
        latest=latest,
    )
    faults = [*file.faults, *(f"{number:,} entries {what}" for what, number in odd.items())]
    return _Read(file, arrange(links), faults, len(links), latest)
