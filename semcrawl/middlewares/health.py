"""Hosts that are down get a rest."""

from __future__ import annotations

import time
from math import isinf
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Request, Response

from semcrawl.crawl.attempt import ROBOTS, STARTED
from semcrawl.crawl.failures import (
    FilesUsedUp,
    HeadersTooLargeError,
    HostDown,
    NameMissingError,
    Postponed,
    ProxyAwayError,
)
from semcrawl.crawl.hosthealth import HostHealth
from semcrawl.crawl.scheduler import LEASE
from semcrawl.frontier.contract import Lease, WaitingLink

#: what fails though the host answers: too large, or broken off
_ANSWERED = (DownloadCancelledError, ResponseDataLossError, HeadersTooLargeError)
#: what such a failure counts as
_OK = 299


class HostHealthMiddleware:
    """Downloader middleware: tells the session's :class:`HostHealth` how requests end.

    It stands next to the downloader, so that every request counts, those for robots.txt and retries
    included. What is no link's is not sent to a host that rests. Stat: ``semcrawl/hosts_down``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Hold back what cannot be asked for now."""
        if (health := self._health) is None or ROBOTS in request.meta:
            return
        if LEASE not in request.meta:
            if health.rests(request.url):
                raise HostDown("the host does not answer, or refuses to")
        elif wait := health.wait(request.url):
            if isinf(wait):
                raise HostDown("the server did not answer for long")
            raise Postponed("the server rests", wait)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Tell of an answer."""
        if (health := self._health) is not None:
            lease: Lease | None = request.meta.get(LEASE)
            self._set_aside(await health.answered(request.url, response.status, lease))
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """Tell that no answer came."""
        health = self._health
        if health is None:
            return
        if isinstance(exception, FilesUsedUp):
            spider: Any = self.crawler.spider
            spider.session.ask_for_less(str(exception))
        if isinstance(exception, IgnoreRequest):
            return
        lease: Lease | None = request.meta.get(LEASE)
        if isinstance(exception, _ANSWERED):
            self._set_aside(await health.answered(request.url, _OK, lease))
            return
        spider = self.crawler.spider
        aside = await health.failed(
            request.url,
            spider.queue,
            ours=isinstance(exception, ProxyAwayError),
            missing=isinstance(exception, NameMissingError),
            took=self._took(request, exception),
        )
        self._set_aside(aside)
        if (down := health.newly_down()) and self.crawler.stats is not None:
            self.crawler.stats.inc_value("semcrawl/hosts_down", down)

    @property
    def _health(self) -> HostHealth | None:
        session = getattr(self.crawler.spider, "session", None)
        return session.health if session is not None else None

    @staticmethod
    def _took(request: Request, exception: Exception) -> float:
        """Return for how long a request that failed as it took too long held a slot."""
        is_slow = isinstance(exception, DownloadTimeoutError) and STARTED in request.meta
        return time.time() - request.meta[STARTED] if is_slow else 0.0

    def _set_aside(self, links: list[WaitingLink]) -> None:
        """Record links that were set aside."""
        if links:
            spider: Any = self.crawler.spider
            spider.set_aside(links)
