"""What both spiders do with a body: tell its real type, read RDF, send its links on."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import Any

from scrapy.http import Response

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.links import Page
from semcrawl.rdf import Detection, Reading
from semcrawl.relevance import Ranked
from semcrawl.spiders.attempt import ENDED, Attempt, content_type, header
from semcrawl.spiders.focused import FocusedSpider
from semcrawl.vocabulary import Kind


class DocumentSpider(FocusedSpider):
    """Reads what was fetched."""

    async def read_body(self, attempt: Attempt, response: Response) -> list[Any]:
        """Tell the real type of a body and read it (T.5, step 3)."""
        try:
            detection = self.reader.detect(response.body, content_type(response), attempt.url)
            if detection.kind is Kind.RDF:
                return await self.read_rdf(attempt, response, detection)
            if detection.kind is Kind.HTML:
                return await self.read_html(attempt, response)
        except (ValueError, RecursionError, MemoryError) as error:
            record = attempt.record(FetchOutcome.PARSE_ERROR, response)
            record.errors = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            await self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = str(Kind.OTHER)
        await self.session.learn(attempt.outcome(Kind.OTHER, response), self.queue)
        return [record]

    async def read_html(self, attempt: Attempt, response: Response) -> list[Any]:
        """Read a page; the spiders differ in where its links go."""
        raise NotImplementedError

    def follows_rdf(self) -> bool:
        """Whether links inside RDF wait in the spider's own queue."""
        return self.follow_rdf

    async def read_rdf(
        self, attempt: Attempt, response: Response, detection: Detection
    ) -> list[Any]:
        """Read an RDF document into quads; send its links on."""
        duplicate = self.is_duplicate(response.body)
        reading = await self.reader.read(response.body, attempt.url, content_type(response))
        record = self._record(attempt, response, reading)
        whole = record.outcome is FetchOutcome.FETCHED_RDF
        page = Page(attempt.url, attempt.memo.depth, rdf=True)
        new: tuple[Ranked, ...] = ()
        links = self.reader.rdf_links(reading)
        if self.follows_rdf():
            new = await self.discover(page, links)
        else:
            await self.hand_over(page, links)
        outcome = attempt.outcome(Kind.RDF, response, target=whole, duplicate=duplicate)
        await self.session.learn(replace(outcome, new_links=new), self.queue)
        if not whole:
            return [record]
        return [self._document(attempt, response, reading), record]

    def _record(self, attempt: Attempt, response: Response, reading: Reading) -> FetchRecord:
        lost = reading.error_count > 0 and reading.quads == 0
        record = attempt.record(
            FetchOutcome.PARSE_ERROR if lost else FetchOutcome.FETCHED_RDF, response
        )
        record.real_type = f"{Kind.RDF}:{reading.detection.format or ''}"
        record.quads = reading.quads
        if reading.error_count:
            first = reading.errors[0] if reading.errors else None
            record.errors = f"{reading.error_count} error(s)"
            if first is not None:
                message = " ".join(first.message.split())[:300]
                record.errors += f"; line {first.line}, column {first.column}: {message}"
        return record

    def _document(self, attempt: Attempt, response: Response, reading: Reading) -> RdfDocument:
        return RdfDocument(
            url=attempt.url,
            request_url=attempt.asked,
            parent_url=attempt.memo.parent,
            depth=attempt.memo.depth,
            label=str(attempt.memo.label),
            rules=attempt.memo.rules,
            format=str(reading.detection.format or ""),
            content_type=content_type(response),
            bytes=len(response.body),
            quads=reading.quads,
            errors=reading.errors,
            error_count=reading.error_count,
            redirects=attempt.memo.redirects,
            etag=header(response, b"ETag"),
            last_modified=header(response, b"Last-Modified"),
            content_hash=hashlib.sha256(response.body).hexdigest(),
            fetched_at=float(attempt.meta.get(ENDED) or time.time()),
            nquads=reading.nquads,
            spool=reading.spool,
        )
