"""The ``Referer`` of requests that callbacks yield."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.referer import RefererMiddleware


class Referers:
    """Spider middleware: names the page that a request comes from, as Scrapy's own does.

    Scrapy's passes on every item of every page through a generator, in search of requests. This one
    is asked by :class:`~semcrawl.crawl.acknowledgement.Acknowledgement` when there is a request.
    """

    def __init__(self, scrapys: RefererMiddleware) -> None:
        self._scrapys = scrapys

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware; raises ``NotConfigured`` where the project wants none."""
        return cls(RefererMiddleware.from_crawler(crawler))

    def name_page(self, request: Request, response: Response) -> None:
        """Set the header, unless the request has it."""
        self._scrapys.get_processed_request(request, response)
