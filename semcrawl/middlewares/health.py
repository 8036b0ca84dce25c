"""Hosts that are gone get a rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from math import inf
from typing import Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, ResponseDataLossError
from scrapy.http import Request, Response

from semcrawl.spiders.failures import HeadersTooLargeError, HostDown

#: what fails though the host answers: too large, or broken off
_ANSWERED = (DownloadCancelledError, ResponseDataLossError, HeadersTooLargeError)

#: seconds within which several refusals count as one
_TOGETHER = 1.0


@dataclass(slots=True)
class _Health:
    """What is known of a host: failures since its last answer, and until when it rests."""

    failures: int = 0
    #: when it last refused an answer
    refused: float = -inf
    rests_until: float = 0.0


class HostHealthMiddleware:
    """Downloader middleware: a host that does not answer rests (sources.md I, "rest time").

    After ``SEMCRAWL_HOST_FAILURES`` network errors in a row, requests to its scheme, host and port
    fail at once, without being sent, for ``SEMCRAWL_HOST_REST`` seconds; then one more error is
    enough for the next rest. It stands next to the downloader, so that every request counts,
    those for robots.txt and retries included. Stat: ``semcrawl/hosts_down``.
    """

    def __init__(
        self,
        crawler: Crawler,
        failures: int,
        rest: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.crawler = crawler
        self._limit = failures
        self._rest = rest
        self._clock = clock
        self._hosts: dict[str, _Health] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware from the settings."""
        settings = crawler.settings
        return cls(
            crawler,
            settings.getint("SEMCRAWL_HOST_FAILURES"),
            settings.getfloat("SEMCRAWL_HOST_REST"),
        )

    def process_request(self, request: Request) -> None:
        """Refuse the request of a host that rests."""
        health = self._hosts.get(_server(request))
        if health is not None and self._clock() < health.rests_until:
            raise HostDown(f"no answer to {health.failures} requests in a row, or a refusal")

    def process_response(self, request: Request, response: Response) -> Response:
        """Take the host for well, unless it refuses to be asked."""
        if response.status != HTTPStatus.TOO_MANY_REQUESTS:
            self._hosts.pop(_server(request), None)
        elif self._limit:
            health = self._hosts.setdefault(_server(request), _Health())
            now = self._clock()
            # what was in flight together is refused together
            if now - health.refused >= _TOGETHER:
                self._fail(health)
            health.refused = now
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count a network error."""
        if isinstance(exception, _ANSWERED):
            self._hosts.pop(_server(request), None)
        elif self._limit and not isinstance(exception, IgnoreRequest):
            self._fail(self._hosts.setdefault(_server(request), _Health()))

    def _fail(self, health: _Health) -> None:
        """Count a failure; a host with too many of them rests."""
        health.failures += 1
        if health.failures >= self._limit:
            if health.rests_until == 0.0 and self.crawler.stats is not None:
                self.crawler.stats.inc_value("semcrawl/hosts_down")
            health.rests_until = self._clock() + self._rest


def _server(request: Request) -> str:
    """Return scheme, host and port."""
    parts = urlsplit(request.url)
    return f"{parts.scheme}://{parts.netloc}"
