"""The HTTP client: Scrapy's, with every request that is sent being an attempt of ours."""

from __future__ import annotations

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler


class CountedDownloadHandler(HTTP11DownloadHandler):
    """Sends each request once.

    Twisted's connection pool sends a GET again, unseen, when a connection that it kept breaks
    before the answer. Such a failure is recorded here and tried again like any other, so that the
    records are the requests that the server got, and no delay is passed over.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.retryAutomatically = False
