"""The HTTP client: Scrapy's, with every request that is sent being an attempt of ours."""

from __future__ import annotations

from typing import Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from twisted.web.client import HTTPConnectionPool


class _ConnectionPool(HTTPConnectionPool):
    """Keeps no connection that is being closed.

    Stopping a download (``StopDownload``) closes its connection. When the body came together with
    the headers, Twisted keeps the connection all the same, and the next request goes down with it.
    """

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        if not getattr(connection.transport, "disconnecting", False):
            super()._putConnection(key, connection)  # type: ignore[no-untyped-call]


class CountedDownloadHandler(HTTP11DownloadHandler):
    """Sends each request once.

    Twisted's connection pool sends a GET again, unseen, when a connection that it kept breaks
    before the answer. Such a failure is recorded here and tried again like any other, so that the
    records are the requests that the server got, and no delay is passed over.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        pool = _ConnectionPool(self._pool._reactor, persistent=True)  # type: ignore[no-untyped-call]
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        pool._factory = self._pool._factory
        pool.retryAutomatically = False
        self._pool = pool
