"""Handles responses by their status, and failures by their cause."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from scrapy.http import Response
from twisted.python.failure import Failure

from semcrawl.crawl.attempt import FILTERED, Attempt, location_of
from semcrawl.crawl.courses import Course, course_of
from semcrawl.crawl.failures import PutBack, RobotsUnavailable, outcome_of_failure
from semcrawl.crawl.healthsigns import Fate
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.redirects import DEAD
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import FrontierError
from semcrawl.items import FAILED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.errortexts import NO_SLASH
from semcrawl.metadata.missed import why_missed
from semcrawl.rdf.detection import unread_format
from semcrawl.spiders.documents import BodyReader
from semcrawl.spiders.redirecting import Redirects
from semcrawl.spiders.results import begins_later, missing_part, note_unread
from semcrawl.spiders.retrying import Retries
from semcrawl.web.vocabulary import Kind

#: outcomes of queries that an endpoint may answer if asked for less
_TOO_MUCH = (FetchOutcome.TIMEOUT, FetchOutcome.TOO_LARGE)


@dataclass
class ResponseReader:
    """Makes items of a link's response or failure; puts the link back if it may be tried again.

    Raises ``FrontierError``. A fault in a body is no error, but an outcome.
    """

    session: CrawlSession
    policy: LinkPolicy
    retries: Retries
    redirects: Redirects
    bodies: BodyReader
    #: the spider's queue, whose outcomes it reports
    queue: str

    async def read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Return the items of a response."""
        items = await self._read(attempt, response)
        await self.bodies.sitemaps.dates.check(attempt, items)
        await self.bodies.sitemaps.note_answer(attempt.url)
        if attempt.link_state.more:
            await self.bodies.sitemaps.go_on(attempt)
        return items

    async def _read(self, attempt: Attempt, response: Response) -> list[Any]:
        """Return the items of a response, whatever its status."""
        status, leads, rules = response.status, self.bodies.leads, self.redirects.rules
        middle = begins_later(response)
        choices = status == HTTPStatus.MULTIPLE_CHOICES and (
            bool(response.body) or self.bodies.names_choices(attempt, response)
        )
        course = course_of(
            attempt.link_state, status, location_of(response), choices=choices, part=middle
        )
        if course is Course.GUESSED_WRONG:
            return [self._guessed_wrong(attempt, response)]
        if course is Course.NO_SITEMAP:
            record = attempt.record(FetchOutcome.REDIRECTED, response)
            record.errors = "it leads to no sitemap"
            return [record]
        if course is Course.MOVED:
            await leads.after_redirect(attempt, response)
            record, known = await self.redirects.follow(attempt, response)
            if known:
                await leads.note_known_target(attempt, record)
            return [*self.bodies.others.redirected(attempt, record), record]
        if course is Course.UNCHANGED:
            self.session.learn(attempt.outcome(None, response, duplicate=True), self.queue)
            return [attempt.record(FetchOutcome.NOT_MODIFIED, response)]
        if course is Course.FAILED:
            record = attempt.record(FetchOutcome.HTTP_ERROR, response)
            record.errors = missing_part(response) if middle else f"HTTP status {status}"
            record.errors += NO_SLASH if attempt.link_state.foreseen else ""
            if status == HTTPStatus.FORBIDDEN:
                fate = self.session.health.fate_of_forbidden(attempt.lease)
                if fate is Fate.UNCOUNTED:
                    await self.session.retry(attempt.lease, attempt.link_state, 0.0)
                if fate is not Fate.USUAL:
                    attempt.failed = fate is Fate.OVER
                    return [record]
            left = self.retries.rules.is_left(attempt.link_state, status)
            if left and await self.bodies.endpoints.refused(attempt, response, record):
                return [record]
            if (
                await self.retries.after_response(attempt, response)
                or await self.redirects.after_error(attempt, status)
                or (
                    leads.gave_nothing(attempt, response) and await leads.ask_again(attempt, record)
                )
            ):
                return [record]
            rules.note_dead(attempt.url, attempt.link_state, status)
            if status in DEAD:
                await leads.note_dead_end(attempt)
            # the summary offers another try to all that count as failed
            counted = why_missed(FetchOutcome.HTTP_ERROR, status, "") == FAILED
            attempt.failed = counted or status in self.retries.rules.codes
            self.session.learn(attempt.outcome(None, response), self.queue)
            return [record]
        rules.note_folder(attempt.url, attempt.link_state, added=attempt.link_state.foreseen)
        if attempt.link_state.redirects:
            await self.redirects.arrived(attempt, attempt.url)
        if attempt.meta.get(FILTERED):
            new = await self.bodies.follow_headers(attempt, response)
            self.session.learn(attempt.outcome(None, response, new_links=new), self.queue)
            record = attempt.record(FetchOutcome.FILTERED_TYPE, response)
            note_unread(record, unread_format(b"", record.content_type, attempt.url))
            return [record]
        if leads.gave_nothing(attempt, response):
            record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
            record.real_type = str(Kind.OTHER)
            record.errors = "a page of choices" if choices else "it has no content"
            if await leads.ask_again(attempt, record):
                return [record]
        items = await self.bodies.read(attempt, response)
        return _records_of(items) if attempt.link_state.check else items

    def _guessed_wrong(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Record that a guessed address does not exist; it is not tried again."""
        record = attempt.record(FetchOutcome.HTTP_ERROR, response)
        record.errors = f"the guessed address does not exist: HTTP status {response.status}"
        if not attempt.link_state.is_sitemap:
            self.session.learn(attempt.outcome(None, response), self.queue)
        return record

    async def read_failure(self, attempt: Attempt, failure: Failure) -> list[Any]:
        """Record why there is no response, unless a middleware put the link back."""
        if isinstance(failure.value, PutBack):
            await self.session.retry(attempt.lease, attempt.link_state, failure.value.delay)
            return []
        if isinstance(failure.value, FrontierError):
            raise failure.value  # the frontier failed just before the request left
        outcome, message = outcome_of_failure(failure)
        record = attempt.record(outcome)
        record.errors = message
        if attempt.link_state.query and outcome in _TOO_MUCH:
            usual = self.session.health.fate(attempt.lease) is Fate.USUAL
            if usual and await self.bodies.endpoints.refused(attempt, None, record):
                return [record]
        if outcome in (FetchOutcome.TIMEOUT, FetchOutcome.NETWORK_ERROR):
            attempt.failed = not await self.retries.after_failure(attempt, failure, message)
        elif isinstance(failure.value, RobotsUnavailable):
            wait = failure.value.until - time.time()
            attempt.failed = not await self.retries.again(attempt, message, wait)
        else:
            # these links stay, to be tried when the host is back, the limits wider, or next run
            late = outcome is FetchOutcome.IGNORED and bool(attempt.link_state.query)
            limited = outcome in (FetchOutcome.EXCLUDED, FetchOutcome.OVER_BUDGET)
            attempt.failed = outcome is FetchOutcome.HOST_DOWN or limited or late
            if limited and (limits := self.session.intake.limits) is not None:
                await limits.note_set_aside()
            self.session.learn(attempt.outcome(None), self.queue)
            return [record]
        # report silence at once, so that hosts named beside the silent one lose their worth
        if attempt.failed or self.session.health.is_in_doubt(attempt.lease):
            self.session.learn(attempt.outcome(None), self.queue)
        return [record]


def _records_of(items: Sequence[Any]) -> list[FetchRecord]:
    """Return only the records, for a link that checks its host: the crawl has the document."""
    for item in items:
        if isinstance(item, RdfDocument) and item.spool is not None:
            item.spool.unlink(missing_ok=True)
    return [item for item in items if isinstance(item, FetchRecord)]
