"""Finds links in headers and catalogues, well-known places, and RDF forms of pages."""

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
from semcrawl.crawl.attempt import Attempt, header, header_values
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

#: most log lines about endless catalogues
_MOST_LINES = 10
#: targets of an origin after which its well-known places are fetched at once
_MANY_TARGETS = 200


class Leads:
    """Finds links, for one spider, that no element of a page names."""

    def __init__(
        self,
        logger: SpiderLoggerAdapter,
        session: CrawlSession,
        feed: LinkFeed,
        reader: Reader,
        options: LeadOptions,
        queue: str,
    ) -> None:
        """Well-known places go to ``queue``, links that the strategy judges to ``feed``."""
        self._logger = logger
        self._session = session
        self._feed = feed
        self._reader = reader
        self.options = options
        self._queue = queue
        self._memory = session.lead_memory
        #: number of targets by origin
        self._targets: Counter[str] = Counter()
        #: hosts whose catalogue was found by their software
        self._catalogue_hosts: set[str] = set()
        #: shapes of the catalogues that the log has named
        self._logged: set[str] = set()

    @classmethod
    def from_settings(
        cls, spider: Spider, session: CrawlSession, feed: LinkFeed, reader: Reader, queue: str
    ) -> Self:
        """Read the spider's settings; raise ``UsageError`` for wrong ones."""
        options = LeadOptions.from_settings(spider.settings)
        return cls(spider.logger, session, feed, reader, options, queue)

    # -- pages and headers
    async def of_page(self, response: Response, url: str, media: str) -> PageReading:
        """Read a page: its links, those of its headers, and those of its host's software.

        ``media`` is its ``Content-Type``.
        """
        headers = self.signposts(response) + _refreshes(response)
        knows = self._session.intake.seen_check()
        read = await self._reader.page(response.body, url, media, headers, knows)
        more = self.of_software(response, url)
        return replace(read, links=[*read.links, *more]) if more else read

    async def of_headers(self, response: Response, url: str, *, rdf: bool = False) -> list[Link]:
        """Return the links to RDF in the headers of an RDF document or of another file.

        Another file may also name its successor in a ``Refresh`` header.
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
        """Return the ``Link`` headers, if the crawl follows them."""
        if not self.options.signposts:
            return []
        return [header_text(value) for value in header_values(response, b"Link")]

    def note_immutable(self, attempt: Attempt, response: Response) -> None:
        """Note that a document never changes, as pages of event streams declare in a header."""
        if "immutable" in header(response, b"Cache-Control").lower():
            state = attempt.link_state
            attempt.link_state = replace(state, rules=(*state.rules, IMMUTABLE))

    # -- lists
    async def read_list(
        self, attempt: Attempt, response: Response, head: bytes, media: str
    ) -> DataList | None:
        """Read a catalogue or a linkset; ``None`` for a body that seems to be neither.

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
        """Leave out further pages of a catalogue of which enough pages were followed."""
        left_out: set[str] = set()
        for link in next_pages(url, links):
            if not await self._memory.may_follow(link.url, self.options.most_pages):
                left_out.add(link.url)
                self._log_bound(shape_of(link.url), url)
        return [link for link in links if link.url not in left_out] if left_out else list(links)

    def _log_bound(self, shape: str, url: str) -> None:
        if shape not in self._logged and len(self._logged) < _MOST_LINES:
            self._logged.add(shape)
            self._logger.info(
                "%s: %d pages of its catalogue were followed; further ones are not "
                "(SEMCRAWL_MAX_CATALOGUE_PAGES)",
                url,
                self.options.most_pages,
            )

    def of_software(self, response: Response, url: str) -> list[Link]:
        """Return links to a host's catalogue, once, if a page shows which software runs there."""
        host = netloc_of(url)
        if not self.options.catalogues or host in self._catalogue_hosts:
            return []
        links = catalogue_places(response.body, url)
        if links:
            self._catalogue_hosts.add(host)
        return links

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
        """Add the RDF form of a page, or of a redirect, if the address may have one.

        It is not needed if one of the page's ``links`` leads to RDF by type or extension.
        """
        asked_as_rdf = attempt.link_state.label is Label.R or self._queue == "rdf"
        if asked_as_rdf or not self.options.asks_as_rdf or is_as_rdf(attempt.link_url):
            return
        varies = varies_by_type(map(header_text, header_values(response, b"Vary")))
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
        """After reading a page, add its RDF form and, if it is a target, well-known places."""
        await self.ask_as_rdf(attempt, response, data, links)
        if target:
            await self.add_well_known(attempt.url)

    async def note_rdf(self, attempt: Attempt, *, whole: bool, target: bool) -> None:
        """After reading RDF, add well-known places and RDF forms of pages of the same shape."""
        if target:
            await self.add_well_known(attempt.url)
        if whole and is_as_rdf(attempt.link_url):
            put_in = self._put_in_of(attempt)
            await self._memory.note_found(attempt.link_url, self.options.tries, put_in)

    def note_same_page(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Record that a request for RDF got the page again."""
        record = attempt.record(FetchOutcome.DUPLICATE, response)
        record.errors = "the address gives only a page"
        outcome = attempt.outcome(Kind.HTML, response, duplicate=True)
        self._session.learn(outcome, self._queue)
        return record

    def _put_in_of(self, attempt: Attempt) -> PutIn:
        """Return a function that adds the RDF form of an address, as a link of its page."""

        async def put_in(url: str) -> None:
            if not self._session.intake.has_seen(as_rdf(url)):
                page = Page(url, attempt.link_state.depth)
                await self._feed.discover(page, [other_form(url)])

        return put_in


def _refreshes(response: Response) -> list[str]:
    """Return the targets of ``Refresh`` headers, written as ``Link`` headers."""
    values = map(header_text, header_values(response, b"Refresh"))
    return [f"<{target}>" for target in map(refresh_target, values) if target]
