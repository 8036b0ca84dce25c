"""Stops downloads after the headers if the type is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Request, Response
from scrapy.statscollectors import StatsCollector

from semcrawl.config.options import ReaderOptions
from semcrawl.config.scope import UrlPatterns
from semcrawl.config.targets import Targets, saved_name
from semcrawl.crawl.attempt import FILTERED, attempt_of
from semcrawl.crawl.session import session_of
from semcrawl.links import context_links, link_header
from semcrawl.relevance import Label
from semcrawl.relevance.rules import body_wanted
from semcrawl.settings.reader import fill

#: key of ``Request.meta``: announced length of the body
_LENGTH = "semcrawl_length"


class FetchFilterMiddleware:
    """Downloader middleware for T.5, step 2.

    Scrapy's signal brings the headers without the status. So any download of a wrong type is
    stopped, and a successful response is then marked as filtered. Stats:
    ``semcrawl/filtered/responses`` and ``semcrawl/filtered/bytes_saved`` (for bodies whose length
    is announced).
    """

    def __init__(
        self,
        also: frozenset[str],
        targets: Targets,
        stats: StatsCollector | None,
        patterns: Callable[[], UrlPatterns] = UrlPatterns,
    ) -> None:
        """``also``: ambiguous types to download; ``patterns`` returns those that hold now."""
        self._patterns = patterns
        self._also = also
        self._targets = targets
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware and listen for headers."""
        also = crawler.settings.getlist("SEMCRAWL_AMBIGUOUS_TYPES")
        targets = fill(ReaderOptions, crawler.settings).targets
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
        """Stop the download if the type is known and not wanted."""
        attempt = attempt_of(request)
        if attempt is None or attempt.link_state.is_sitemap or attempt.link_state.query:
            return  # an endpoint without a description may answer with anything
        lease = attempt.lease
        media_type = (headers.get(b"Content-Type") or b"").decode("latin-1")
        label = Label.read(lease.entry.label)
        allowed = self._patterns().allow_type(media_type)
        if allowed and body_wanted(media_type, label, self._also):
            return
        linked = map(link_header, headers.getlist(b"Link"))
        if allowed and context_links(linked, request.url, media_type):
            return  # JSON that is JSON-LD
        name = saved_name((headers.get(b"Content-Disposition") or b"").decode("latin-1"))
        if not allowed or not self._targets.may_have_type(media_type, request.url, name):
            # Twisted passes UNKNOWN_LENGTH, a string, when no length was announced
            request.meta[_LENGTH] = body_length if isinstance(body_length, int) else 0
            raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        """Mark a successful response whose download was stopped; count the bytes saved."""
        if "download_stopped" in response.flags and _LENGTH in request.meta:
            saved = max(0, request.meta[_LENGTH] - len(response.body))
            if self._stats is not None:
                self._stats.inc_value("semcrawl/filtered/responses")
                self._stats.inc_value("semcrawl/filtered/bytes_saved", saved)
            if 200 <= response.status < 300:
                request.meta[FILTERED] = True
        return response
