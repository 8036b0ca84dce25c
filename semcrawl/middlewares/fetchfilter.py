"""Stops the download of bodies of the wrong type after their headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Request, Response
from scrapy.statscollectors import StatsCollector

from semcrawl.config.targets import Targets, saved_name
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.crawl.attempt import FILTERED, attempt_of
from semcrawl.crawl.spider import session_of
from semcrawl.relevance import Label
from semcrawl.relevance.bodytypes import body_wanted

#: key of ``Request.meta``: announced length of the body
_LENGTH = "semcrawl_length"


class FetchFilterMiddleware:
    """Downloader middleware for T.5, step 2.

    The headers arrive without their status, so the download is stopped for the type alone; the
    response is a filtered one if it is a success. Stats:
    ``semcrawl/filtered/responses`` and ``semcrawl/filtered/bytes_saved`` (bodies of announced
    length).
    """

    def __init__(
        self,
        also: frozenset[str],
        targets: Targets,
        stats: StatsCollector | None,
        patterns: Callable[[], UrlPatterns] = UrlPatterns,
    ) -> None:
        """Take the types and targets; ``patterns`` gives those that hold now."""
        self._patterns = patterns
        self._also = also
        self._targets = targets
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware and listen for headers."""
        also = crawler.settings.getlist("SEMCRAWL_AMBIGUOUS_TYPES")
        targets = Targets.parse(crawler.settings.getlist("SEMCRAWL_TARGETS"))
        own = UrlPatterns.from_settings(crawler.settings)

        def patterns() -> UrlPatterns:
            session = session_of(crawler)
            limits = None if session is None else session.intake.limits
            return own if limits is None else limits.now.patterns

        types = frozenset(t.strip().lower() for t in also)
        middleware = cls(types, targets, crawler.stats, patterns)
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def headers_received(self, headers: Headers, body_length: object, request: Request) -> None:
        """Stop the download when the type is neither wanted nor unknown."""
        attempt = attempt_of(request)
        if attempt is None or attempt.link_state.is_sitemap:
            return
        lease = attempt.lease
        media_type = (headers.get(b"Content-Type") or b"").decode("latin-1")
        label = Label.read(lease.entry.label)
        allowed = self._patterns().allow_type(media_type)
        if allowed and body_wanted(media_type, label, self._also):
            return
        name = saved_name((headers.get(b"Content-Disposition") or b"").decode("latin-1"))
        if not allowed or not self._targets.may_have_type(media_type, request.url, name):
            # (Twisted's client has a word for a length that is not announced)
            request.meta[_LENGTH] = body_length if isinstance(body_length, int) else 0
            raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        """Mark a success whose body was refused, and count the bytes that were saved."""
        if "download_stopped" in response.flags and _LENGTH in request.meta:
            saved = max(0, request.meta[_LENGTH] - len(response.body))
            if self._stats is not None:
                self._stats.inc_value("semcrawl/filtered/responses")
                self._stats.inc_value("semcrawl/filtered/bytes_saved", saved)
            if 200 <= response.status < 300:
                request.meta[FILTERED] = True
        return response
