"""Reports how requests end to the health of hosts, and lets hosts that are down rest."""

from __future__ import annotations

import time
from math import isinf
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Request, Response

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import ATTEMPT, FIRST_ANSWER, LATENCY, ROBOTS, STARTED, lease_of
from semcrawl.crawl.dispatch import FirstAnswers
from semcrawl.crawl.failures import (
    FilesUsedUp,
    HeadersTooLargeError,
    HostDown,
    NameMissingError,
    ProxyAwayError,
    PutBack,
)
from semcrawl.crawl.hosthealth import LONG, HostHealth
from semcrawl.crawl.session import session_of, spider_of
from semcrawl.frontier.contract import WaitingLink
from semcrawl.settings.reader import fill
from semcrawl.web.hosts import netloc_of, origin_of

#: failures of hosts that do answer: with too large a body or head, or a body that breaks off
_ANSWERED = (DownloadCancelledError, ResponseDataLossError, HeadersTooLargeError)
#: the status with which such a failure is reported
_OK = 299


class HostHealthMiddleware:
    """Downloader middleware: reports to the session's :class:`HostHealth` how requests end.

    Next to the downloader, it sees every request, including retries and those for robots.txt. A
    host that rests gets only requests of links. Stat: ``semcrawl/hosts_down``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        settings = crawler.settings
        self._first_answers = FirstAnswers(
            fill(TransferOptions, settings).first_answer,
            settings.getfloat("DOWNLOAD_TIMEOUT"),
            settings.getint("CONCURRENT_REQUESTS"),
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Refuse errands to hosts that rest, put back links; bound the time of first answers."""
        if (health := self._health) is None:
            return
        if self._is_tried(request, health):
            request.meta.pop(FIRST_ANSWER, None)
        else:
            request.meta[FIRST_ANSWER] = self._first_answers.limit(origin_of(request.url))
        if ROBOTS in request.meta:
            if isinf(health.wait(request.url)):
                raise HostDown("there is no such server, or it did not answer for long")
            return
        if ATTEMPT not in request.meta:
            if health.rests(request.url):
                raise HostDown("the host does not answer, or refuses to")
        elif wait := health.wait(request.url):
            if isinf(wait):
                raise HostDown("there is no such server, or it did not answer for long")
            raise PutBack("the server rests", wait)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Report a response."""
        if (health := self._health) is not None:
            if FIRST_ANSWER in request.meta:
                self._first_answers.answered(origin_of(request.url))
            lease = lease_of(request)
            self._set_aside(await health.answered(request.url, response.status, lease))
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """Report that there is no response."""
        session, spider = session_of(self.crawler), spider_of(self.crawler)
        if session is None or spider is None:
            return
        health = session.health
        if isinstance(exception, FilesUsedUp):
            session.lower_concurrency(str(exception))
        if isinstance(exception, IgnoreRequest):
            return
        if FIRST_ANSWER in request.meta and isinstance(exception, DownloadTimeoutError):
            self._first_answers.silent(origin_of(request.url))
        lease = lease_of(request)
        if isinstance(exception, _ANSWERED):
            self._set_aside(await health.answered(request.url, _OK, lease))
            return
        aside = await health.failed(
            request.url,
            spider.queue,
            ours=isinstance(exception, ProxyAwayError),
            missing=isinstance(exception, NameMissingError),
            took=self._took(request, exception),
            began=LATENCY in request.meta,
        )
        self._set_aside(aside)
        if (down := health.newly_down()) and self.crawler.stats is not None:
            self.crawler.stats.inc_value("semcrawl/hosts_down", down)

    @property
    def _health(self) -> HostHealth | None:
        session = session_of(self.crawler)
        return session.health if session is not None else None

    @staticmethod
    def _is_tried(request: Request, health: HostHealth) -> bool:
        """Whether a link's host gave something, or the server answered before.

        Of a domain that is one host to the frontier, each server shows that it answers.
        """
        if (lease := lease_of(request)) is not None and (
            lease.entry.host == netloc_of(request.url)
        ):
            return health.gave_something(lease.entry.host)
        return health.has_answered(request.url)

    @staticmethod
    def _took(request: Request, exception: Exception) -> float:
        """Return how long a request that timed out held a slot; 0 for other failures."""
        if not isinstance(exception, DownloadTimeoutError) or STARTED not in request.meta:
            return 0.0
        took: float = time.time() - request.meta[STARTED]
        # a short time for the first answer counts as long, so that other hosts get their turn
        return max(took, LONG) if request.meta.get(FIRST_ANSWER) else took

    def _set_aside(self, links: list[WaitingLink]) -> None:
        """Record links that were set aside."""
        if links and (spider := spider_of(self.crawler)) is not None:
            spider.set_aside(links)
