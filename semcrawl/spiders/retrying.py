"""Gives links back for another try: how often, and after which delay."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from scrapy import Spider
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import Attempt, header
from semcrawl.crawl.failures import NameMissingError
from semcrawl.crawl.healthsigns import Fate
from semcrawl.crawl.session import CrawlSession
from semcrawl.settings.reader import fill

#: seconds before the first retry; doubled for each further retry
_RETRY_DELAY = 2.0


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


class Retries:
    """Gives links back to the frontier for another try, up to ``RETRY_TIMES`` times."""

    def __init__(self, spider: Spider, session: CrawlSession) -> None:
        """Read Scrapy's settings for retries; its stats count them for ``spider``."""
        settings = spider.settings
        #: statuses of passing failures
        self.codes = frozenset(int(code) for code in settings.getlist("RETRY_HTTP_CODES"))
        #: most retries of a link
        self.times = settings.getint("RETRY_TIMES") if settings.getbool("RETRY_ENABLED") else 0
        self._longest_wait = fill(TransferOptions, settings).longest_retry
        self._spider = spider
        self._session = session

    async def after_response(self, attempt: Attempt, response: Response) -> bool:
        """Give a link back if its server allows another try soon; return whether it went back.

        After 429 the host rests from all requests.
        """
        if response.status not in self.codes:
            return False
        wait = retry_after(header(response, b"Retry-After"))
        if response.status == HTTPStatus.TOO_MANY_REQUESTS:
            rest = max(wait or 0.0, _RETRY_DELAY * 2**attempt.link_state.retries)
            host = attempt.lease.entry.host
            await self._session.frontier.pace.rest(host, min(rest, self._longest_wait))
        if wait is not None and wait > self._longest_wait:
            return False
        return await self.again(attempt, f"status {response.status}", wait or 0.0)

    async def after_failure(self, attempt: Attempt, failure: Failure, reason: str) -> bool:
        """Give a link without an answer back; return false if it has failed for good.

        If its host or our own network is at fault, it may be tried again however often it was.
        """
        health, lease = self._session.health, attempt.lease
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
        await self._session.retry(lease, attempt.link_state, 0.0)
        return True

    async def again(self, attempt: Attempt, reason: str, wait: float = 0.0) -> bool:
        """Give a link back for a try after at least ``wait`` seconds; return whether it may."""
        request = Request(attempt.url, meta={"retry_times": attempt.link_state.retries})
        again = get_retry_request(
            request, spider=self._spider, reason=reason, max_retry_times=self.times
        )
        if again is None:
            return False
        state = replace(attempt.link_state, retries=attempt.link_state.retries + 1)
        delay = max(_RETRY_DELAY * 2**attempt.link_state.retries, wait)
        await self._session.retry(attempt.lease, state, delay)
        return True
