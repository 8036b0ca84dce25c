"""Reads the bodies of responses: detects the type, reads the data, passes the links on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrapy.http import Response
from scrapy.utils.log import SpiderLoggerAdapter

from semcrawl.config.targets import Targets
from semcrawl.crawl.attempt import Attempt, content_type
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError
from semcrawl.images.imagelinks import image_links
from semcrawl.images.imageplaces import ShownImage
from semcrawl.items import FetchOutcome
from semcrawl.links import Link, Page, merge_links
from semcrawl.rdf import Detection, Reading
from semcrawl.reading.pool import ReadingLost
from semcrawl.relevance import Outcome, Ranked
from semcrawl.sources.listedlinks import DataList
from semcrawl.sources.negotiation import is_as_rdf
from semcrawl.spiders.contexts import ContextFetcher
from semcrawl.spiders.endpoints import EndpointReader
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.leads import Leads
from semcrawl.spiders.linking import LinkFeed, LinkPolicy, is_seed
from semcrawl.spiders.otherbodies import OtherBodies
from semcrawl.spiders.reading import Reader, discard
from semcrawl.spiders.results import (
    MAX_TEXT,
    NOT_KEPT,
    document_of,
    errors_of,
    file_of,
    record_of,
    saved_name_of,
    topic_page_of,
)
from semcrawl.spiders.sitemaps import Sitemaps
from semcrawl.web.bodies import BODY_FILE, body_file
from semcrawl.web.robotstags import NOFOLLOW
from semcrawl.web.vocabulary import Kind, RdfFormat

#: bytes of a body on disk that the detection of its type reads
_HEAD = 1 << 22
#: statuses of success without a body
_NO_CONTENT = (204, 205)


@dataclass
class BodyReader:
    """Reads bodies for a spider: makes items, feeds links to the frontier, reports outcomes."""

    logger: SpiderLoggerAdapter
    session: CrawlSession
    policy: LinkPolicy
    feed: LinkFeed
    reader: Reader
    targets: Targets
    endpoints: EndpointReader
    judge: TopicJudge
    leads: Leads
    contexts: ContextFetcher
    #: the spider's own queue
    queue: str
    #: queue of the links that the spider does not follow
    other: str
    #: whether the links of a page, or of an RDF document, go to the spider's own queue
    follows: Callable[[Page], bool]
    sitemaps: Sitemaps
    others: OtherBodies

    async def read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Detect the type of a body and read it (T.5, step 3).

        An exception while reading becomes the outcome of this attempt.
        """
        try:
            if attempt.link_state.query:
                return await self.endpoints.read(attempt, response)
            return await self._read_by_type(attempt, response)
        except FrontierError:
            raise
        except Exception as error:
            self.logger.debug("%s cannot be read", attempt.url, exc_info=True)
            text = (
                str(error) if isinstance(error, ReadingLost) else f"{type(error).__name__}: {error}"
            )
            record = attempt.record(FetchOutcome.PARSE_ERROR, response)
            record.errors = text.splitlines()[0][:MAX_TEXT]
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]

    async def _read_by_type(self, attempt: Attempt, response: Response) -> list[Any]:
        file = body_file(attempt.meta)
        attempt.digest = await self.reader.digest(file or response.body)
        if response.status in _NO_CONTENT:  # its headers may name a type all the same
            return await self.others.take(attempt, response)
        head = response.body if file is None else file.head(_HEAD)
        if self.sitemaps.expects(attempt, head):
            records = await self.sitemaps.read(attempt, response)
            if records is not None:
                return list(records)
        media = content_type(response)
        detection = self.reader.detect(head, media, attempt.url)
        listed = await self.leads.read_list(attempt, response, head, media)
        if listed is not None:
            if listed.rdf:
                found = Detection(Kind.RDF, RdfFormat.RDF_XML, 1.0, listed.form)
                reading = await self.reader.read(listed.rdf, attempt.url, "", found)
                return await self._take_rdf(attempt, response, reading, listed)
            if detection.kind is not Kind.RDF and (listed.links or listed.faults):
                return await self._take_list(attempt, response, listed)
        if detection.kind is Kind.RDF or detection.compression is not None:
            reading = await self._read_rdf(attempt, response, detection)
            # the type of a compressed body is known only now
            if Kind.RDF in (detection.kind, reading.detection.kind):
                return await self._take_rdf(attempt, response, reading, listed)
            discard(reading)
            if file is not None and (plain := await self.reader.decoded(file)) is not file:
                attempt.meta[BODY_FILE] = plain
                return await self._read_by_type(attempt, response)
        elif detection.kind is Kind.HTML:
            if is_as_rdf(attempt.url):
                return [self.leads.note_same_page(attempt, response)]
            faults: list[str] = []
            if file is not None:  # of a very large page, read the beginning
                response = response.replace(body=file.head(self.reader.options.max_in_memory))
                if file.size > len(response.body):
                    faults.append(
                        f"only the first {len(response.body)} of its {file.size} bytes are read"
                    )
            return await self._read_html(attempt, response, faults)
        return await self.others.take(attempt, response)

    async def _read_html(
        self, attempt: Attempt, response: Response, faults: Sequence[str] = ()
    ) -> list[Any]:
        """Read a page: its links, and the data embedded in it.

        Its record lists ``faults`` and those found here.
        """
        duplicate = self.others.is_duplicate(attempt)
        rules = self.policy.robots_rules(response, page=True)
        kept = self.policy.robots_tags.keeps(rules)
        media = content_type(response)
        read = await self.leads.of_page(response, attempt.url, media)

        async def embedded(contexts: Mapping[str, bytes] | None = None) -> Reading:
            return await self.reader.read_embedded(response.body, attempt.url, media, contexts)

        async def judge(data: Reading | None) -> Verdict:
            quads = data.quads if data is not None else 0
            # the content, not the file name, tells that it is a page
            counts = self.targets.include(Kind.HTML, media, quads)
            return await self.judge.page(
                attempt.url, read.text, data, response.body, counts=kept and counts
            )

        async def follow(links: Sequence[Link], data: Reading | None) -> tuple[Ranked, ...]:
            if NOFOLLOW in rules or not (verdict.leads_on or is_seed(attempt)):
                return ()
            if data is not None:
                links = self.reader.with_data_links(links, data, attempt.url)
            return await self._follow(page, links, attempt.lease.entry.barren + 1)

        data = await embedded() if kept and self.reader.options.embedded else None
        links, images = read.links, None
        if kept and self.others.images is not None:
            images = await self.others.images.of_page(attempt, response, data)
            links = self._with_images(links, images.shown)
        verdict = await judge(data)
        page = Page(attempt.url, attempt.link_state.depth, relevance=verdict.relevance)
        new = await follow(links, data)
        if data is not None and data.contexts_needed:
            data = await self.contexts.read_again(data, embedded, attempt, len(response.body))
            verdict = await judge(data)
            links = []
            if images is not None and self.others.images is not None:
                links = self._with_images([], self.others.images.add(images, data))
            new += await follow(links, data)
        await self.leads.note_page(attempt, response, data, read.links, target=verdict.target)
        record = attempt.record(FetchOutcome.FETCHED_HTML, response)
        record.real_type = str(Kind.HTML)
        verdict.note_in(record)
        items: list[Any] = [images] if images is not None else []
        if data is not None:
            record.errors = errors_of(data)
            if data.quads and verdict.kept:
                record.quads = data.quads
                items.append(document_of(attempt, response, data))
            else:
                discard(data)
        if not kept:
            record.errors = NOT_KEPT
        record.errors = "; ".join(filter(None, [*faults, read.fault, record.errors]))
        if kept and verdict.kept:
            if self.targets.has_type(record.content_type):
                items.append(file_of(attempt, response))
            if self.targets.html:
                content = await self.reader.content(response.body, media)
                items.append(topic_page_of(attempt, response, content, record, self.judge.about))
        outcome = verdict.outcome(attempt, Kind.HTML, response, new, duplicate=duplicate)
        self._learn(outcome, page)
        return [*items, record]

    def _with_images(self, links: Sequence[Link], shown: Iterable[ShownImage]) -> list[Link]:
        """Return the links of a document, including those to its images."""
        found = image_links(shown, self.judge.near_text)
        return merge_links([*links, *found], self.reader.extraction.max_links)

    async def _follow(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Put links into the spider's own queue or hand them over; return the new ones."""
        links = await self.endpoints.take_found(page, links)
        put_in = self.feed.discover if self.follows(page) else self.feed.hand_over
        return await put_in(page, links, barren)

    def _learn(self, outcome: Outcome, page: Page) -> None:
        """Report the outcome of a document with links."""
        links_in = self.queue if self.follows(page) else self.other
        self.session.learn(outcome, self.queue, links_in=links_in)

    # -- RDF
    async def _read_rdf(
        self, attempt: Attempt, response: Response, detection: Detection
    ) -> Reading:
        async def read(contexts: Mapping[str, bytes] | None = None) -> Reading:
            return await self.reader.read(
                body_file(attempt.meta) or response.body,
                attempt.url,
                content_type(response),
                detection,
                contexts=contexts,
            )

        reading = await read()
        if not reading.contexts_needed:
            return reading
        return await self.contexts.read_again(reading, read, attempt, len(response.body))

    async def _take_rdf(
        self,
        attempt: Attempt,
        response: Response,
        reading: Reading,
        listed: DataList | None = None,
    ) -> list[Any]:
        """Pass on the quads and links of an RDF document, and the links of its catalogue."""
        duplicate = self.others.is_duplicate(attempt)
        self.leads.note_immutable(attempt, response)
        record = record_of(attempt, response, reading)
        rules = self.policy.robots_rules(response)
        if not self.policy.robots_tags.keeps(rules):
            record.outcome, record.quads, record.errors = FetchOutcome.NOT_KEPT, 0, NOT_KEPT
        whole = record.outcome is FetchOutcome.FETCHED_RDF
        links = [] if NOFOLLOW in rules else await self.leads.of_rdf(attempt, reading, listed)
        links += await self.leads.of_headers(response, attempt.url, rdf=True)
        images = None
        if self.others.images is not None and whole and NOFOLLOW not in rules:
            images = self.others.images.of_rdf(attempt, response, reading)
            links = self._with_images(links, images.shown)
        name = saved_name_of(response)
        # JSON-LD whose context is missing is still RDF
        kept = record.outcome is not FetchOutcome.NOT_KEPT
        counts = (
            kept
            and (whole or bool(reading.contexts_needed))
            and self.targets.include(Kind.RDF, record.content_type, url=attempt.url, name=name)
        )
        verdict = await self.judge.rdf(attempt.url, reading, counts=counts)
        verdict.note_in(record)
        if whole and not verdict.kept:
            record.outcome, record.quads = FetchOutcome.OFF_TOPIC, 0
        page = Page(attempt.url, attempt.link_state.depth, rdf=True, relevance=verdict.relevance)
        new: tuple[Ranked, ...] = ()
        if verdict.leads_on or is_seed(attempt):
            new = await self._follow(page, links)
        await self.leads.note_rdf(attempt, whole=whole, target=verdict.target)
        outcome = verdict.outcome(attempt, Kind.RDF, response, new, duplicate=duplicate)
        self._learn(outcome, page)
        items: list[Any] = [record]
        if images is not None:
            items.insert(0, images)
        if kept and verdict.kept and self.targets.has_type(record.content_type, attempt.url, name):
            items.insert(0, file_of(attempt, response))
        if whole and verdict.kept:
            items.insert(0, document_of(attempt, response, reading))
        else:
            discard(reading)
        return items

    async def _take_list(self, attempt: Attempt, response: Response, listed: DataList) -> list[Any]:
        """Follow the links of a catalogue or linkset that is not RDF."""
        record = attempt.record(FetchOutcome.FETCHED_LIST, response)
        record.real_type = f"list:{listed.form}"
        record.errors = "; ".join(listed.faults)
        page = Page(attempt.url, attempt.link_state.depth)
        nofollow = NOFOLLOW in self.policy.robots_rules(response)
        new = await self._follow(page, () if nofollow else listed.links)
        # to the strategy, a list is a page with links
        kind = Kind.HTML if listed.links else Kind.OTHER
        self._learn(attempt.outcome(kind, response, new_links=new), page)
        wanted = self.targets.has_type(record.content_type, attempt.url, saved_name_of(response))
        return [file_of(attempt, response), record] if wanted else [record]
