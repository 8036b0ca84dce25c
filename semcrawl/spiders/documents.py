"""Bodies, as both spiders treat them: tell the real type, read the data, send the links on."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from scrapy.http import Response

from semcrawl.config.targets import saved_name
from semcrawl.crawl.attempt import ENDED, RECEIVED, Attempt, content_type, header
from semcrawl.errors import FrontierError
from semcrawl.items import EMBEDDED, FetchedFile, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.links import Link, Page
from semcrawl.rdf import Detection, Reading
from semcrawl.reading.pool import ReadingLost
from semcrawl.relevance import Outcome, Ranked
from semcrawl.spiders.contexts import MAX_ROUNDS, ContextFetcher, ContextRules
from semcrawl.spiders.focused import FocusedSpider
from semcrawl.spiders.reading import discard
from semcrawl.web.bodies import BODY_FILE, body_file
from semcrawl.web.robotstags import NOFOLLOW
from semcrawl.web.vocabulary import Kind

#: longest text about errors in a record (characters)
_MAX_TEXT = 300
#: bytes of a body on disk that tell what it is
_HEAD = 1 << 22
#: what is said of data of which no copy may be kept
_NOT_KEPT = "it asks robots to keep no copy"
#: statuses of a success without a body
_NO_CONTENT = (204, 205)


class DocumentSpider(FocusedSpider):
    """Reads what was fetched."""

    _contexts: ContextFetcher | None = None

    async def read_body(self, attempt: Attempt, response: Response) -> list[Any]:
        """Tell the real type of a body and read it (T.5, step 3).

        Whatever goes wrong in reading is an outcome of this attempt only.
        """
        try:
            return await self._read_by_type(attempt, response)
        except FrontierError:
            raise
        except Exception as error:
            self.logger.debug("%s cannot be read", attempt.url, exc_info=True)
            text = (
                str(error) if isinstance(error, ReadingLost) else f"{type(error).__name__}: {error}"
            )
            record = attempt.record(FetchOutcome.PARSE_ERROR, response)
            record.errors = text.splitlines()[0][:_MAX_TEXT]
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]

    async def _read_by_type(self, attempt: Attempt, response: Response) -> list[Any]:
        file = body_file(attempt.meta)
        attempt.digest = await self.reader.digest(file or response.body)
        if response.status in _NO_CONTENT:  # whatever its headers say
            return await self._take_other(attempt, response)
        head = response.body if file is None else file.head(_HEAD)
        detection = self.reader.detect(head, content_type(response), attempt.url)
        if detection.kind is Kind.RDF or detection.compression is not None:
            reading = await self._read_rdf(attempt, response, detection)
            # a packed body shows what it is only now
            if Kind.RDF in (detection.kind, reading.detection.kind):
                return await self._take_rdf(attempt, response, reading)
            discard(reading)
            if file is not None and (plain := await self.reader.uncoded(file)) is not file:
                attempt.meta[BODY_FILE] = plain
                return await self._read_by_type(attempt, response)
        elif detection.kind is Kind.HTML:
            faults: list[str] = []
            if file is not None:  # the beginning of a page, however large it may be
                response = response.replace(body=file.head(self.reader.options.max_in_memory))
                if file.size > len(response.body):
                    faults.append(
                        f"only the first {len(response.body)} of its {file.size} bytes are read"
                    )
            return await self.read_html(attempt, response, faults)
        return await self._take_other(attempt, response)

    async def read_html(
        self, attempt: Attempt, response: Response, faults: Sequence[str] = ()
    ) -> list[Any]:
        """Read a page: its links, and the data embedded in it.

        Its record tells the ``faults`` that are known already, and those that are found.
        """
        duplicate = self.is_duplicate(attempt)
        page = Page(attempt.url, attempt.memo.depth)
        said = self.said_to_robots(response, page=True)
        faults = list(faults)
        links: list[Link] = []
        if NOFOLLOW not in said:
            links = await self.page_links(response, attempt.url, faults)
        new = await self.follow(page, links, attempt.lease.entry.barren + 1)
        record = attempt.record(FetchOutcome.FETCHED_HTML, response)
        record.real_type = str(Kind.HTML)
        items: list[Any] = []
        if kept := self.robots_tags.keeps(said):
            items += await self._embedded(attempt, response, record)
        else:
            record.errors = _NOT_KEPT
        record.errors = "; ".join(filter(None, [*faults, record.errors]))
        # (what a page is, its content says: its name counts for nothing)
        target = self.targets.include(Kind.HTML, record.content_type, record.quads)
        if kept and self.targets.has_type(record.content_type):
            items.append(self._file(attempt, response))
        outcome = attempt.outcome(
            Kind.HTML, response, target=target, duplicate=duplicate, new_links=new
        )
        self._learn(outcome, page)
        return [*items, record]

    def follows(self, page: Page) -> bool:
        """Whether the links of a page, or of an RDF document, wait in the spider's own queue."""
        raise NotImplementedError

    async def follow(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Send the links of a page where they belong; return those that are new."""
        put_in = self.discover if self.follows(page) else self.hand_over
        return await put_in(page, links, barren)

    def _learn(self, outcome: Outcome, page: Page) -> None:
        """Learn from a fetch that brought links of a page."""
        links_in = self.queue if self.follows(page) else self.other
        self.session.learn(outcome, self.queue, links_in=links_in)

    # -- RDF
    async def _read_rdf(
        self, attempt: Attempt, response: Response, detection: Detection
    ) -> Reading:
        async def read(contexts: Mapping[str, bytes]) -> Reading:
            return await self.reader.read(
                body_file(attempt.meta) or response.body,
                attempt.url,
                content_type(response),
                detection,
                contexts=contexts,
            )

        return await self._with_contexts(read, attempt, len(response.body))

    async def _take_rdf(self, attempt: Attempt, response: Response, reading: Reading) -> list[Any]:
        """Pass the quads of an RDF document on, and its links."""
        duplicate = self.is_duplicate(attempt)
        record = _record(attempt, response, reading)
        said = self.said_to_robots(response)
        if not self.robots_tags.keeps(said):
            record.outcome, record.quads, record.errors = FetchOutcome.NOT_KEPT, 0, _NOT_KEPT
        whole = record.outcome is FetchOutcome.FETCHED_RDF
        page = Page(attempt.url, attempt.memo.depth, rdf=True)
        links = [] if NOFOLLOW in said else self.reader.rdf_links(reading)
        links += self.metadata_links(response, attempt.url, rdf=True)
        new = await self.follow(page, links)
        name = _saved_name(response)
        # (where only its context cannot be had it is RDF all the same)
        kept = record.outcome is not FetchOutcome.NOT_KEPT
        target = (
            kept
            and (whole or bool(reading.contexts_needed))
            and self.targets.include(Kind.RDF, record.content_type, url=attempt.url, name=name)
        )
        outcome = attempt.outcome(
            Kind.RDF, response, target=target, duplicate=duplicate, new_links=new
        )
        self._learn(outcome, page)
        items: list[Any] = [record]
        if kept and self.targets.has_type(record.content_type, attempt.url, name):
            items.insert(0, self._file(attempt, response))
        if whole:
            items.insert(0, self._document(attempt, response, reading))
        else:
            discard(reading)
        return items

    async def _with_contexts(
        self,
        read: Callable[[Mapping[str, bytes]], Awaitable[Reading]],
        attempt: Attempt,
        size: int,
    ) -> Reading:
        """Read, and read again with the JSON-LD contexts that turn out to be needed.

        These are fetched beside the crawl: a document of ``size`` bytes keeps its lease, and no
        place, until they are there.
        """
        contexts: dict[str, bytes] = {}
        tried: set[str] = set()
        reading = await read(contexts)
        for _ in range(MAX_ROUNDS):
            missing = [url for url in reading.contexts_needed if url not in tried]
            tried.update(missing)
            if not missing:
                break
            found = await self._fetcher.fetch(missing, attempt, size)
            if not found:
                break
            contexts.update(found)
            discard(reading)
            reading = await read(contexts)
        return reading

    @property
    def _fetcher(self) -> ContextFetcher:
        if self._contexts is None:
            rules = ContextRules.from_settings(self.settings)
            self._contexts = ContextFetcher(self.crawler, self.session, rules, self.emit)
        return self._contexts

    def _document(self, attempt: Attempt, response: Response, reading: Reading) -> RdfDocument:
        syntax = EMBEDDED if reading.embedded else str(reading.detection.format or "")
        return RdfDocument(
            url=attempt.url,
            request_url=attempt.asked,
            parent_url=attempt.memo.parent,
            depth=attempt.memo.depth,
            label=str(attempt.memo.label),
            rules=attempt.memo.rules,
            format=syntax,
            content_type=content_type(response),
            bytes=int(attempt.meta.get(RECEIVED, len(response.body))),
            quads=reading.quads,
            errors=reading.errors,
            error_count=reading.error_count,
            redirects=attempt.memo.redirects,
            etag=header(response, b"ETag"),
            last_modified=header(response, b"Last-Modified"),
            content_hash=attempt.digest,
            fetched_at=float(attempt.meta.get(ENDED) or time.time()),
            nquads=reading.nquads,
            spool=reading.spool,
            revisit=attempt.memo.revisit,
            members=tuple(member.name for member in reading.members),
        )

    # -- pages and the rest
    async def _embedded(
        self, attempt: Attempt, response: Response, record: FetchRecord
    ) -> list[Any]:
        """Read the data embedded in a page; note in its record what came of it."""
        if not self.reader.options.embedded:
            return []

        async def read(contexts: Mapping[str, bytes]) -> Reading:
            return await self.reader.read_embedded(
                response.body, attempt.url, content_type(response), contexts
            )

        reading = await self._with_contexts(read, attempt, len(response.body))
        record.quads = reading.quads
        record.errors = _errors_of(reading)
        if not reading.quads:
            discard(reading)
            return []
        return [self._document(attempt, response, reading)]

    async def _take_other(self, attempt: Attempt, response: Response) -> list[Any]:
        """Keep a body that is neither RDF nor HTML if its type is a target; else drop it."""
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = str(Kind.OTHER)
        new = await self.follow_metadata(attempt, response)
        target = self.targets.include(
            Kind.OTHER, record.content_type, url=attempt.url, name=_saved_name(response)
        )
        outcome = attempt.outcome(
            Kind.OTHER,
            response,
            target=target,
            duplicate=target and self.is_duplicate(attempt),
            new_links=new,
        )
        self.session.learn(outcome, self.queue)
        if target and not self.robots_tags.keeps(self.said_to_robots(response)):
            record.outcome, record.errors = FetchOutcome.NOT_KEPT, _NOT_KEPT
            return [record]
        return [self._file(attempt, response), record] if target else [record]

    def _file(self, attempt: Attempt, response: Response) -> FetchedFile:
        return FetchedFile(
            url=attempt.url,
            body=response.body,
            large=body_file(attempt.meta),
            request_url=attempt.asked,
            parent_url=attempt.memo.parent,
            content_type=content_type(response),
            content_hash=attempt.digest,
            fetched_at=float(attempt.meta.get(ENDED) or time.time()),
            saved_name=_saved_name(response),
        )


def _saved_name(response: Response) -> str:
    return saved_name(header(response, b"Content-Disposition"))


def _record(attempt: Attempt, response: Response, reading: Reading) -> FetchRecord:
    lost = reading.error_count > 0 and reading.quads == 0
    outcome = FetchOutcome.PARSE_ERROR if lost else FetchOutcome.FETCHED_RDF
    record = attempt.record(outcome, response)
    record.real_type = f"{Kind.RDF}:{reading.detection.format or ''}"
    record.quads = reading.quads
    record.errors = _errors_of(reading)
    return record


def _errors_of(reading: Reading) -> str:
    """Say in one line how many errors there were, and the first of them."""
    if not reading.error_count:
        return ""
    text = f"{reading.error_count} error(s)"
    if reading.errors:
        first = reading.errors[0]
        message = " ".join(first.message.split())[:_MAX_TEXT]
        text += f"; line {first.line}, column {first.column}: {message}"
    return text
