"""Links that waited when the user came to exclude them are not asked for."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request

from semcrawl.crawl.spider import spider_of


class ExcludedLinksMiddleware:
    """Downloader middleware: ignores links that the patterns of this run do not allow."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Ignore an excluded link."""
        spider = spider_of(self._crawler)
        if spider is not None and spider.is_excluded(request):
            raise IgnoreRequest("excluded by a pattern (SEMCRAWL_INCLUDE, SEMCRAWL_EXCLUDE)")
