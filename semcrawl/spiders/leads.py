"""Ways to data besides the links of pages and documents, for the spiders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Self
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.http import Response
from scrapy.utils.log import SpiderLoggerAdapter

from semcrawl.config.leadoptions import LeadOptions
from semcrawl.config.revisit import IMMUTABLE
from semcrawl.crawl.attempt import Attempt, header
from semcrawl.crawl.leadmemory import PutIn
from semcrawl.crawl.listgroups import PLACES, SOON, put_last
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.linkstate import GUESS, LinkState
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import (
    Link,
    Page,
    PageReading,
    header_links,
    header_text,
    merge_links,
    metadata_links,
    refresh_target,
)
from semcrawl.rdf import Reading
from semcrawl.relevance import Label
from semcrawl.relevance.rules import relevancy_r
from semcrawl.sources.cataloguepages import next_pages
from semcrawl.sources.datalists import form_of, read_list
from semcrawl.sources.hostsigns import catalogue_places
from semcrawl.sources.listedlinks import DataList
from semcrawl.sources.negotiation import (
    as_rdf,
    is_as_rdf,
    may_be_candidate,
    names_itself,
    other_form,
    shape_of,
    varies_by_type,
)
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.reading import Reader
from semcrawl.spiders.redirecting import is_redirect
from semcrawl.web.bodies import body_file
from semcrawl.web.hosts import netloc_of
from semcrawl.web.robotstags import NOFOLLOW
from semcrawl.web.vocabulary import FoundBy, Kind

#: lines about catalogues without end in the log
_MOST_TOLD = 10
#: targets of a host from which on its well-known places are asked for at once
_MANY_TARGETS = 200


class Leads:
    """Finds links where no element of a page has them, for one spider."""

    def __init__(
        self,
        logger: SpiderLoggerAdapter,
        session: CrawlSession,
        feed: LinkFeed,
        reader: Reader,
        options: LeadOptions,
        queue: str,
    ) -> None:
        """Put links into ``queue``, by way of the spider's ``feed`` where they are judged."""
        self._logger = logger
        self._session = session
        self._feed = feed
        self._reader = reader
        self.options = options
        self._queue = queue
        self._memory = session.lead_memory
        #: targets by origin; hosts whose software was looked at
        self._targets: Counter[str] = Counter()
        self._signed: set[str] = set()
        self._told: set[str] = set()

    @classmethod
    def from_settings(
        cls, spider: Spider, session: CrawlSession, feed: LinkFeed, reader: Reader, queue: str
    ) -> Self:
        """Read the spider's settings; raise ``UsageError`` for wrong ones."""
        options = LeadOptions.from_settings(spider.settings)
        return cls(spider.logger, session, feed, reader, options, queue)

    # -- pages and headers
    async def of_page(self, response: Response, url: str, media: str) -> PageReading:
        """Return the links of a page and of its headers, with those that its software has.

        ``media`` is its ``Content-Type``.
        """
        headers = self.signposts(response) + _refreshes(response)
        knows = self._session.intake.seen_check()
        read = await self._reader.page(response.body, url, media, headers, knows)
        more = self.of_software(response, url)
        return replace(read, links=[*read.links, *more]) if more else read

    async def of_headers(self, response: Response, url: str, *, rdf: bool = False) -> list[Link]:
        """Return the links to RDF in the headers of an RDF document, or of another file.

        A file may lead on by a ``Refresh`` header: often it has no body.
        """
        if NOFOLLOW in self._feed.policy.robots_rules(response):
            return []
        spelling = self._reader.extraction.normalisation
        found = [
            link
            for value in self.signposts(response)
            for link in header_links(value, url, spelling)
        ]
        links = await self.bounded(url, metadata_links(found, rdf=rdf))
        if not rdf:
            for target in _refreshes(response):
                links += header_links(target, url, spelling)
        return links

    def signposts(self, response: Response) -> list[str]:
        """Return the ``Link:`` headers, if they are followed."""
        if not self.options.signposts:
            return []
        return [header_text(value) for value in response.headers.getlist(b"Link")]

    def note_immutable(self, attempt: Attempt, response: Response) -> None:
        """Note in the records that a document never changes, as pages of an event stream say."""
        if "immutable" in header(response, b"Cache-Control").lower():
            state = attempt.link_state
            attempt.link_state = replace(state, rules=(*state.rules, IMMUTABLE))

    # -- lists
    async def read_list(
        self, attempt: Attempt, response: Response, head: bytes, media: str
    ) -> DataList | None:
        """Read a catalogue or a linkset within bounds; ``None`` for what seems to be neither.

        ``head`` is the beginning of the body, ``media`` its ``Content-Type``.
        """
        form = form_of(head, media)
        if not self.options.reads(form):
            return None
        body = response.body if body_file(attempt.meta) is None else None
        if body is None or len(body) > self.options.most_bytes:
            limit = min(self.options.most_bytes, self._reader.options.max_in_memory)
            return DataList(form, faults=[f"it has more than {limit:,} bytes and is not read"])
        extraction = self._reader.extraction
        listed = await self._reader.run(
            read_list, body, form, attempt.url, extraction.normalisation, extraction.max_links
        )
        listed.links = await self.bounded(attempt.url, listed.links)
        return listed

    async def of_rdf(
        self, attempt: Attempt, reading: Reading, listed: DataList | None
    ) -> list[Link]:
        """Return the links of an RDF document, those of a catalogue first."""
        links = self._reader.rdf_links(reading)
        if not self.options.catalogues:
            return links
        more = self._reader.catalogue_links(reading, attempt.url)
        more += listed.links if listed is not None else ()
        if more:
            links = merge_links([*more, *links], self._reader.extraction.max_links)
        return await self.bounded(attempt.url, links)

    async def bounded(self, url: str, links: Sequence[Link]) -> list[Link]:
        """Leave out the next pages of a catalogue that goes on for ever."""
        left: set[str] = set()
        for link in next_pages(url, links):
            if not await self._memory.may_follow(link.url, self.options.most_pages):
                left.add(link.url)
                self._tell(shape_of(link.url), url)
        return [link for link in links if link.url not in left] if left else list(links)

    def _tell(self, shape: str, url: str) -> None:
        if shape not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(shape)
            self._logger.info(
                "%s: %d pages of its catalogue were followed, and no more are "
                "(SEMCRAWL_MAX_CATALOGUE_PAGES)",
                url,
                self.options.most_pages,
            )

    def of_software(self, response: Response, url: str) -> list[Link]:
        """Return links to the catalogue that a host has, once, if a page shows its software."""
        host = netloc_of(url)
        if not self.options.catalogues or host in self._signed:
            return []
        links = catalogue_places(response.body, url)
        if links:
            self._signed.add(host)
        return links

    # -- hosts
    async def look_at_host(self, url: str) -> None:
        """Put in the well-known places of the host of a target, once.

        They are asked for when nothing else of the host waits, or when it has given many targets: a
        look that finds nothing delays no target of a small site.
        """
        if not self.options.well_known:
            return
        parts, frontier = urlsplit(url), self._session.frontier
        origin = f"{parts.scheme}://{parts.netloc}"
        self._targets[origin] += 1
        if self._targets[origin] == _MANY_TARGETS:
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
        """Put in the other form of a page, or of what leads to it, where there may be one.

        A page whose ``links`` lead to RDF by type or extension shows its other form by itself.
        """
        asked_as_rdf = attempt.link_state.label is Label.R or self._queue == "rdf"
        if asked_as_rdf or not self.options.asks_as_rdf or is_as_rdf(attempt.link_url):
            return
        varies = varies_by_type(map(header_text, response.headers.getlist(b"Vary")))
        if not varies and is_redirect(response):
            return
        url = attempt.url
        if not may_be_candidate(url, varies=varies):
            return
        itself = data is not None and names_itself(data.nquads, url)
        if not (varies or itself or await self._memory.gives_forms(url)):
            return
        if not any(relevancy_r(link)[0] is Label.R for link in links):
            await self._memory.ask(url, self.options.tries, self._put_in_of(attempt))

    async def note_page(
        self,
        attempt: Attempt,
        response: Response,
        data: Reading | None,
        links: Sequence[Link],
        *,
        target: bool,
    ) -> None:
        """Take in a page that was read: its other form, and its host if it is a target."""
        await self.ask_as_rdf(attempt, response, data, links)
        if target:
            await self.look_at_host(attempt.url)

    async def note_rdf(self, attempt: Attempt, *, whole: bool, target: bool) -> None:
        """Take in an RDF document: its host if it is a target, others of its shape."""
        if target:
            await self.look_at_host(attempt.url)
        if whole and is_as_rdf(attempt.link_url):
            put_in = self._put_in_of(attempt)
            await self._memory.note_found(attempt.link_url, self.options.tries, put_in)

    def note_same_page(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Record that an address was asked for as RDF and gave its page again."""
        record = attempt.record(FetchOutcome.DUPLICATE, response)
        record.errors = "it is there as a page only"
        outcome = attempt.outcome(Kind.HTML, response, duplicate=True)
        self._session.learn(outcome, self._queue)
        return record

    def _put_in_of(self, attempt: Attempt) -> PutIn:
        """Return what puts the other form of an address in, as a link of a page."""

        async def put_in(url: str) -> None:
            if not self._session.intake.has_seen(as_rdf(url)):
                page = Page(url, attempt.link_state.depth)
                await self._feed.discover(page, [other_form(url)])

        return put_in


def _refreshes(response: Response) -> list[str]:
    """Return the ``Refresh`` headers as ``Link`` headers."""
    values = map(header_text, response.headers.getlist(b"Refresh"))
    return [f"<{target}>" for target in map(refresh_target, values) if target]
