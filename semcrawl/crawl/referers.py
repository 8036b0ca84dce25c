"""The ``Referer`` of requests that callbacks yield."""

from __future__ import annotations

from scrapy.http import Request, Response
from scrapy.spidermiddlewares.referer import RefererMiddleware


class Referers(RefererMiddleware):
    """Spider middleware: names the page that a request comes from, as Scrapy's own does.

    Scrapy's passes on every item of every page through a generator, in search of requests. This one
    is asked by :class:`~semcrawl.crawl.acknowledgement.Acknowledgement` when there is a request,
    and by Scrapy's redirects.
    """

    process_spider_output = None  # type: ignore[assignment]
    process_spider_output_async = None  # type: ignore[assignment]

    def name_page(self, request: Request, response: Response) -> None:
        """Set the header, unless the request has it."""
        self.get_processed_request(request, response)
