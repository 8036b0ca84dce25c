"""Reads SPARQL endpoints query by query: each query is a link, its answer yields the next."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils.log import SpiderLoggerAdapter

from semcrawl.config.options import EndpointOptions
from semcrawl.config.targets import Targets
from semcrawl.crawl.attempt import Attempt, header_values
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.querylinks import endpoints_among, links_after
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Link, Page, header_text
from semcrawl.metadata.records import MAX_TEXT
from semcrawl.reading.answer import Received
from semcrawl.reading.queryanswers import QueryReading, read_query
from semcrawl.reading.reader import Reader, discard
from semcrawl.sources.endpoints import (
    PAGES,
    ROWS,
    Ask,
    EndpointWalk,
    Following,
    Step,
    brings_triples,
)
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.results import document_of, record_of
from semcrawl.web.bodies import body_file
from semcrawl.web.robots import HEADER
from semcrawl.web.vocabulary import Kind

#: verdict on an answer that is not kept
_NOTHING = Verdict(target=False)
#: most log lines about one endpoint
_MOST_LINES = 10


@dataclass
class EndpointReader:
    """Reads the answers of endpoints for a spider, and adds the next queries."""

    logger: SpiderLoggerAdapter
    stats: StatsCollector | None
    session: CrawlSession
    policy: LinkPolicy
    reader: Reader
    targets: Targets
    judge: TopicJudge
    options: EndpointOptions
    #: the spider's own queue
    queue: str

    def __post_init__(self) -> None:
        """Begin without any queries."""
        #: when the first query to each endpoint was sent (``time.monotonic``)
        self._began: dict[str, float] = {}
        #: number of log lines about each endpoint
        self._lines: dict[str, int] = {}
        self._walk = EndpointWalk(self.options.skipped)

    # -- requests
    def refusal(self, attempt: Attempt) -> str:
        """Say why this run does not fetch a link; empty if it does."""
        if not attempt.link_state.query:
            return ""
        step = Step.unpack(attempt.link_state.query)
        if step is None or self.options.allowed == "never":
            return "no endpoints are queried (SEMCRAWL_ENDPOINTS)"
        now = time.monotonic()
        took = now - self._began.setdefault(step.endpoint, now)
        if 0 < self.options.seconds < took:
            return "the endpoint's time is over"
        return ""

    def prepare(self, attempt: Attempt, headers: dict[str, str], meta: dict[str, Any]) -> None:
        """Set the ``Accept`` header and the timeout of a query's request."""
        step = Step.unpack(attempt.link_state.query)
        if step is not None and step.accept:
            headers["Accept"] = step.accept
        meta["download_timeout"] = self.options.timeout

    # -- endpoints found in documents
    async def take_found(self, page: Page, links: Sequence[Link]) -> Sequence[Link]:
        """Begin to query the endpoints among a document's links; return the other links."""
        found, others = endpoints_among(self.options, self.policy, page, links)
        for first, then in found:
            if not await self.session.intake.put_queries([first], self.queue):
                await self.session.intake.put_queries([then], self.queue)
        return others

    # -- answers
    async def read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Read the answer of a query."""
        self._count("queries")
        step = Step.unpack(attempt.link_state.query)
        if step is None:
            record = attempt.record(FetchOutcome.PARSE_ERROR, response)
            record.errors = "the frontier holds a query that cannot be read"
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]
        step = self._walk.fitted(step)
        body = body_file(attempt.meta) or response.body
        attempt.digest = await self.reader.digest(body)
        got = Received(attempt.url, body, partial(header_values, response), response.status)
        read = await read_query(self.reader, got, step, attempt.digest)
        if step.ask in ROWS:
            return [await self._take_rows(attempt, response, step, read)]
        return await self._take_triples(attempt, response, step, read)

    async def refused(
        self, attempt: Attempt, response: Response | None, record: FetchRecord
    ) -> bool:
        """Add other queries after the failure of ``record``; return whether there are any."""
        step = Step.unpack(attempt.link_state.query)
        if step is None:
            return False
        status = None if response is None else response.status
        following = self._walk.after_refusal(step, record.errors, status)
        if not following.steps:
            return False
        self.session.learn(attempt.outcome(None, response), self.queue)
        await self._follow(attempt, step, following, record)
        return True

    async def _take_rows(
        self, attempt: Attempt, response: Response, step: Step, read: QueryReading
    ) -> FetchRecord:
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = f"sparql:{step.ask}"
        self.session.learn(attempt.outcome(Kind.OTHER, response), self.queue)
        if read.rows is None:
            record.outcome = FetchOutcome.PARSE_ERROR
        following = self._walk.after_rows(step, read.rows)
        await self._follow(attempt, step, following, record)
        return record

    async def _take_triples(
        self, attempt: Attempt, response: Response, step: Step, read: QueryReading
    ) -> list[Any]:
        reading, detection = read.data, read.detection
        if reading is None or read.triples is None or detection is None:
            record = attempt.record(FetchOutcome.PARSE_ERROR, response)
            record.errors = "its answer is not RDF"
            if not await self.refused(attempt, response, record):
                self.session.learn(attempt.outcome(None, response), self.queue)
                attempt.failed = True
            return [record]
        record = record_of(attempt, response, reading)
        if detection.kind is not Kind.RDF:
            html = detection.kind is Kind.HTML
            record.outcome = FetchOutcome.FETCHED_HTML if html else FetchOutcome.FETCHED_OTHER
            record.real_type, record.errors = str(detection.kind), ""
        following = self._walk.after_triples(step, read.triples)
        wanted = brings_triples(step, following, reading.quads)
        kept = wanted and self._may_keep(response)
        if kept:
            record.outcome = FetchOutcome.FETCHED_RDF
        elif wanted:
            record.outcome, following = FetchOutcome.NOT_KEPT, Following()
        elif following.again:
            record.outcome = FetchOutcome.TOO_LARGE
        elif step.ask is not Ask.DESCRIPTION:
            record.outcome = FetchOutcome.FETCHED_OTHER
        counts = kept and self.targets.include(Kind.RDF, record.content_type)
        verdict = await self.judge.rdf(attempt.url, reading, counts=counts) if kept else _NOTHING
        verdict.note_in(record)
        if not verdict.kept:
            kept, record.outcome = False, FetchOutcome.OFF_TOPIC
        kind = Kind.RDF if wanted else Kind.OTHER
        self.session.learn(verdict.outcome(attempt, kind, response), self.queue)
        await self._follow(attempt, step, following, record)
        if not kept:
            record.quads = 0
            discard(reading)
            return [record]
        if step.ask in PAGES:
            self._count("triples", reading.quads)
        return [document_of(attempt, response, reading), record]

    def _may_keep(self, response: Response) -> bool:
        """Whether the robots directives in its headers allow keeping an answer."""
        tags = self.policy.robots_tags
        return tags.keeps(tags.said(map(header_text, header_values(response, HEADER))))

    async def _follow(
        self, attempt: Attempt, step: Step, following: Following, record: FetchRecord
    ) -> None:
        """Add the next queries, and log the notes of the walk."""
        self._walk.settle(step, following)
        steps = links_after(attempt.url, attempt.link_state, following)
        await self.session.intake.put_queries(steps, self.queue)
        if following.again:
            self._count("smaller")
        if following.lost:
            self._count("lost", following.lost)
        if following.notes:
            notes = dict.fromkeys(filter(None, [record.errors, *following.notes]))
            record.errors = "; ".join(notes)[:MAX_TEXT]
            lines = self._lines[step.endpoint] = self._lines.get(step.endpoint, 0) + 1
            if lines <= _MOST_LINES:
                log = self.logger.error if following.lost else self.logger.info
                log("the endpoint %s: %s", step.endpoint, "; ".join(following.notes))

    def _count(self, name: str, number: int = 1) -> None:
        if self.stats is not None:
            self.stats.inc_value(f"semcrawl/endpoint/{name}", number)
