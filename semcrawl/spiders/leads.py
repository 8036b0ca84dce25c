"""Finds links in headers and catalogues, well-known places, and RDF forms of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.http import Response
from scrapy.utils.log import SpiderLoggerAdapter

from semcrawl.config.leadoptions import LeadOptions
from semcrawl.config.revisit import IMMUTABLE
from semcrawl.crawl.attempt import Attempt, header, header_values
from semcrawl.crawl.leadmemory import PutIn
from semcrawl.crawl.listgroups import put_last
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.linkstate import GUESS, LinkState
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Link, Page, Reason, header_text
from semcrawl.machine.recent import Recent
from semcrawl.rdf import Reading
from semcrawl.relevance import Label
from semcrawl.relevance.rules import relevancy_r
from semcrawl.settings.reader import fill
from semcrawl.sources.cataloguepages import next_pages
from semcrawl.sources.listing import MANY_TARGETS, PLACES, SOON
from semcrawl.sources.negotiation import (
    Wish,
    as_rdf,
    is_as_rdf,
    may_be_candidate,
    names_itself,
    other_form,
    own_type,
    shape_of,
    varies_by_type,
)
from semcrawl.spiders._renegotiation import Renegotiation
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.redirecting import is_redirect
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, FoundBy, Kind

#: origins whose number of targets is remembered, those that gave one last
_MOST_ORIGINS = 10_000
#: most log lines about endless catalogues
_MOST_LINES = 10
#: the rule of links whose type is RDF (:mod:`semcrawl.relevance.rules`)
_BY_TYPE = "ty1"


class Leads:
    """Finds links, for one spider, that no element of a page names."""

    def __init__(
        self,
        logger: SpiderLoggerAdapter,
        session: CrawlSession,
        feed: LinkFeed,
        options: LeadOptions,
        queue: str,
        again: Renegotiation,
    ) -> None:
        """Well-known places go to ``queue``, links that the strategy judges to ``feed``."""
        self._logger = logger
        self._session = session
        self._feed = feed
        self.options = options
        self._queue = queue
        self._memory = session.lead_memory
        #: number of targets by origin
        self._targets: Recent[str, int] = Recent(_MOST_ORIGINS, int)
        self.again = again
        #: hosts whose catalogue was found by their software
        self._catalogue_hosts: set[str] = set()
        #: addresses of filled forms by host
        self._filled: Recent[str, set[str]] = Recent(_MOST_ORIGINS, set)
        #: shapes of the catalogues that the log has named
        self._logged: set[str] = set()

    @classmethod
    def from_settings(
        cls, spider: Spider, session: CrawlSession, feed: LinkFeed, queue: str
    ) -> Self:
        """Read the spider's settings; raise ``UsageError`` for wrong ones."""
        options = fill(LeadOptions, spider.settings)
        again = Renegotiation(session, options, queue, spider.crawler.stats)
        return cls(spider.logger, session, feed, options, queue, again)

    # -- documents
    def note_immutable(self, attempt: Attempt, response: Response) -> None:
        """Note that a document never changes, as pages of event streams declare in a header."""
        if "immutable" in header(response, b"Cache-Control").lower():
            state = attempt.link_state
            attempt.link_state = replace(state, rules=(*state.rules, IMMUTABLE))

    async def bounded(self, url: str, links: Sequence[Link]) -> list[Link]:
        """Leave out further pages of a catalogue of which enough pages were followed."""
        left_out: set[str] = set()
        for link in next_pages(url, links):
            if not await self._memory.may_follow(link.url, self.options.most_pages):
                left_out.add(link.url)
                self._session.intake.left_out.add(link.url, Reason.CATALOGUE_PAGES)
                self._log_bound(shape_of(link.url), url)
        return [link for link in links if link.url not in left_out] if left_out else list(links)

    def without_more_forms(self, links: Sequence[Link]) -> list[Link]:
        """Leave out filled forms of a host of which enough were followed."""
        beyond: set[str] = set()
        for link in links:
            if link.found_by is FoundBy.FORM:
                asked = self._filled[netloc_of(link.url)]
                if len(asked) < self.options.forms.most:
                    asked.add(link.url)
                elif link.url not in asked:
                    beyond.add(link.url)
        return [link for link in links if link.url not in beyond] if beyond else list(links)

    def _log_bound(self, shape: str, url: str) -> None:
        if shape not in self._logged and len(self._logged) < _MOST_LINES:
            self._logged.add(shape)
            self._logger.info(
                "%s: %d pages of its catalogue were followed; further ones are not "
                "(SEMCRAWL_MAX_CATALOGUE_PAGES)",
                url,
                self.options.most_pages,
            )

    def seeks_software(self, url: str) -> bool:
        """Whether no page has shown which software runs on the host of an address."""
        return netloc_of(url) not in self._catalogue_hosts

    def note_software(self, url: str) -> None:
        """Note that a page showed the software of its host, whose catalogue is followed once."""
        self._catalogue_hosts.add(netloc_of(url))

    # -- hosts
    async def add_well_known(self, url: str) -> None:
        """Add the well-known places of a target's origin, once.

        They come when nothing else of the host waits, or after many targets: so on a small site
        they delay no target.
        """
        if not self.options.well_known:
            return
        parts, frontier = urlsplit(url), self._session.frontier
        origin = f"{parts.scheme}://{parts.netloc}"
        self._targets[origin] += 1
        if self._targets[origin] == MANY_TARGETS:
            await frontier.set_values({PLACES + origin: SOON})
        if self._targets[origin] > 1:
            return
        policy = self._feed.policy
        state = LinkState(url, 1, Label.R, rules=(GUESS, "well-known"), found_by=FoundBy.WELL_KNOWN)
        places = [f"{origin}/.well-known/{name}" for name in self.options.well_known]
        links = [(place, state) for place in places if policy.may_fetch(place)]
        if links:
            key = self._session.intake.host_key
            await put_last(frontier, links, self._queue, origin, key, PLACES)
            self._session.intake.wake()

    # -- negotiation
    async def ask_as_rdf(
        self,
        attempt: Attempt,
        response: Response,
        data: Reading | None = None,
        links: Sequence[Link] = (),
    ) -> None:
        """Add the RDF form of a page, or of a redirect, if the address may have one.

        It is not needed if one of the page's ``links`` leads to RDF by type or extension. If RDF
        was asked for, another header asks for it, but not before the redirects have led to a page.
        A page that names itself as RDF of some type is asked for that type.
        """
        state = attempt.link_state
        if not self.options.asks_as_rdf or is_as_rdf(attempt.link_url) or state.wish:
            return
        varies = varies_by_type(map(header_text, header_values(response, b"Vary")))
        url, asked_as_rdf = attempt.url, attempt.expects_rdf(self._queue)
        if is_redirect(response):
            if not varies:
                return
            if asked_as_rdf:
                if not state.varied:
                    attempt.link_state = replace(state, varied=len(state.redirects) + 1)
                return
        elif state.varied:
            varies, url = True, state.redirects[state.varied - 1]
        named = own_type(attempt.url, links)
        if named:
            varies, url = True, attempt.url
        if not may_be_candidate(url, varies=varies):
            return
        itself = data is not None and names_itself(data.nquads, url)
        by_type = asked_as_rdf and _BY_TYPE in state.rules
        if not (varies or itself or by_type or await self._memory.gives_forms(url)):
            return
        others = (link for link in links if link.url != attempt.url)
        if not any(relevancy_r(link)[0] is Label.R for link in others):
            wish = named or (Wish.TURTLE if asked_as_rdf else Wish.ONLY_RDF)
            await self._memory.ask(url, self.options.tries, self._put_in_of(attempt, wish))

    async def note_dead_end(self, attempt: Attempt, target: str = "") -> None:
        """Ask for RDF in another way where a redirect that depends on the type led to nothing.

        ``target``: a known address, which is not fetched once more. RDF by its name is no dead end.
        """
        state = attempt.link_state
        if not state.varied or state.wish or not self.options.asks_as_rdf:
            return
        if extension_of(path_of(target)) not in RDF_EXTENSIONS:
            # the redirect at hand has not joined those before it
            url = (*state.redirects, attempt.url)[state.varied - 1]
            put_in = self._put_in_of(attempt, Wish.TURTLE)
            await self._memory.ask(url, self.options.tries, put_in)

    async def note_known_target(self, attempt: Attempt, record: FetchRecord) -> None:
        """After a redirect to a known address, ask for RDF in another way; the first led there."""
        target = record.final_url
        if not is_as_rdf(attempt.link_url):
            await self.note_dead_end(attempt, target)
        elif extension_of(path_of(target)) not in RDF_EXTENSIONS:
            await self.again.ask(attempt, record)

    async def note_page(
        self,
        attempt: Attempt,
        response: Response,
        data: Reading | None,
        links: Sequence[Link],
        *,
        target: bool,
    ) -> None:
        """After reading a page, add its RDF form and, if it is a target, well-known places."""
        await self.ask_as_rdf(attempt, response, data, links)
        if attempt.wish is Wish.PAGE:
            await self.again.note_document(attempt)
        if target:
            await self.add_well_known(attempt.url)

    async def note_rdf(self, attempt: Attempt, *, whole: bool, target: bool) -> None:
        """After reading RDF, add well-known places and RDF forms of pages of the same shape."""
        if target:
            await self.add_well_known(attempt.url)
        if whole and is_as_rdf(attempt.link_url):
            put_in = self._put_in_of(attempt)
            await self._memory.note_found(attempt.link_url, self.options.tries, put_in)
        if whole:
            await self.again.note_document(attempt)

    async def note_same_page(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Record that a request for RDF got the page again; ask once more in another way."""
        record = attempt.record(FetchOutcome.DUPLICATE, response)
        record.errors = "the address gives only a page"
        if await self.again.ask(attempt, record):
            return record
        outcome = attempt.outcome(Kind.HTML, response, duplicate=True)
        self._session.learn(outcome, self._queue)
        return record

    def _put_in_of(self, attempt: Attempt, wish: str = Wish.ONLY_RDF) -> PutIn:
        """Return a function that adds the RDF form of an address, as a link of its page."""

        async def put_in(url: str) -> None:
            if not self._session.intake.has_seen(as_rdf(url)):
                page = Page(url, attempt.link_state.depth)
                await self._feed.discover(page, [other_form(url, wish)], votes=False)

        return put_in
