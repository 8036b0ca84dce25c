"""Puts what takes the place of a redirected link into the frontier."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime

from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from twisted.python.failure import Failure

from semcrawl.crawl.attempt import Attempt, header, location_of
from semcrawl.crawl.courses import GiveBack, RetryRules
from semcrawl.crawl.failures import NameMissingError
from semcrawl.crawl.healthsigns import Fate
from semcrawl.crawl.redirects import Instead, RedirectRules
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord

#: status of a foreseen redirect
_MOVED = 301


@dataclass
class Redirects:
    """Carries out what the rules of redirects decide."""

    session: CrawlSession
    rules: RedirectRules
    #: the spider's queue, whose outcomes it reports
    queue: str

    def foreseen(self, attempt: Attempt) -> Instead | None:
        """Return the folder that a link will surely be redirected to; ``None`` if unsure."""
        return self.rules.foreseen(attempt.url, attempt.link_state)

    async def go_ahead(self, attempt: Attempt, folder: Instead) -> list[FetchRecord]:
        """Put the foreseen folder in the link's place, without a record."""
        await self.session.frontier.release([attempt.lease], sent=False)
        if not await self._put(attempt, folder):
            outcome = attempt.outcome(None, duplicate=True, led_to=folder.url)
            self.session.learn(replace(outcome, status=_MOVED), self.queue)
        return []

    async def after_error(self, attempt: Attempt, status: int) -> bool:
        """Put another address of a link in its place; return whether there is one that is new."""
        for way in self.rules.after_error(attempt.url, attempt.link_state, status):
            if await self._put(attempt, way):
                return True
        return False

    async def follow(self, attempt: Attempt, response: Response) -> tuple[FetchRecord, bool]:
        """Put a redirect's target into the frontier, in the place of the link.

        Return the record, and whether the target was known before.
        """
        move = self.rules.after_move(attempt.url, attempt.link_state, location_of(response))
        record = attempt.record(move.outcome, response)
        self.session.twins.redirected(attempt.link_url, move.target)
        record.errors, record.final_url = move.problem, move.target or attempt.url
        if move.instead is not None:
            if await self._put(attempt, move.instead):
                return record, False
            await self.arrived(attempt, move.target)
        known = move.outcome is FetchOutcome.REDIRECTED
        outcome = attempt.outcome(
            None, response, duplicate=known, led_to=move.target if known else ""
        )
        self.session.learn(outcome, self.queue)
        return record, known

    async def _put(self, attempt: Attempt, way: Instead) -> bool:
        """Put an address in the place of a link; return whether it was not known before."""
        intake = self.session.intake
        if way.seen:
            await intake.put_again(attempt.lease, way.url, way.state)
            return True
        return await intake.follow_redirect(attempt.lease, way.url, way.state)

    async def arrived(self, attempt: Attempt, url: str) -> None:
        """Take the site that a seed's redirects lead to into the scope."""
        if roots := self.rules.roots_of(attempt.link_state, url):
            # not as named: the user did not write this host, so it must not be private
            await self.session.intake.add_roots(roots)


def retry_after(value: str) -> float | None:
    """Return the seconds of a ``Retry-After`` header (RFC 9110, section 10.2.3).

    The header names seconds or a date; ``None`` if it names neither.
    """
    text = value.strip()
    if text.isascii() and text.isdecimal():
        return float(text[:12])
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:  # the oldest form of HTTP dates names no zone; all are in GMT
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return None


@dataclass
class Retries:
    """Gives links back to the frontier for another try; Scrapy's stats count them."""

    session: CrawlSession
    rules: RetryRules
    stats: StatsCollector | None = None

    async def after_response(self, attempt: Attempt, response: Response) -> bool:
        """Give a link back if its server allows another try soon; return whether it went back.

        After 429 the host rests from all requests.
        """
        state, status = attempt.link_state, response.status
        wait = retry_after(header(response, b"Retry-After"))
        if rest := self.rules.rest_after(state, status, wait):
            await self.session.frontier.pace.rest(attempt.lease.entry.host, rest)
        back = self.rules.after_status(state, status, wait)
        if status not in self.rules.codes or (wait or 0.0) > self.rules.longest_wait:
            return False
        return await self._give_back(attempt, back, f"status {status}")

    async def after_failure(self, attempt: Attempt, failure: Failure, reason: str) -> bool:
        """Give a link without an answer back; return false if it has failed for good.

        If its host or our own network is at fault, it may be tried again however often it was.
        """
        health, lease = self.session.health, attempt.lease
        causes = (failure.value, getattr(failure.value, "__cause__", None))
        missing = any(isinstance(cause, NameMissingError) for cause in causes)
        fate = health.fate(lease, missing=missing)
        if fate is Fate.DONE:
            return True
        if fate is Fate.OVER:
            return False
        if uncounted := health.pop_uncounted(attempt.url):
            tries = max(0, attempt.link_state.retries - uncounted)
            attempt.link_state = replace(attempt.link_state, retries=tries)
        if fate is Fate.USUAL:
            if await self.again(attempt, reason):
                return True
            if not await health.may_be_hosts_fault(lease, attempt.link_state.retries + 1):
                return False
        await self.session.retry(lease, attempt.link_state, 0.0)
        return True

    async def again(self, attempt: Attempt, reason: str, wait: float = 0.0) -> bool:
        """Give a link back for a try after at least ``wait`` seconds; return whether it may."""
        return await self._give_back(attempt, self.rules.again(attempt.link_state, wait), reason)

    async def _give_back(self, attempt: Attempt, back: GiveBack | None, reason: str) -> bool:
        self._count("count" if back is not None else "max_reached")
        if back is None:
            return False
        self._count(f"reason_count/{reason}")
        await self.session.retry(attempt.lease, back.state, back.delay)
        return True

    def _count(self, name: str) -> None:
        if self.stats is not None:
            self.stats.inc_value(f"retry/{name}")
