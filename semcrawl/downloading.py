"""The HTTP client: Scrapy's, with every request that is sent being an attempt of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _ResponseReader,
    _ScrapyAgent,
)
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.web.client import URI, Agent, HTTPConnectionPool

from semcrawl.bodies import BODY_FILE, BodyBuffer
from semcrawl.frontier.robots import LONGEST
from semcrawl.heads import BoundedFactory, server_closes
from semcrawl.hosts import host_of
from semcrawl.middlewares.resolver import refused_address
from semcrawl.spiders.attempt import ROBOTS
from semcrawl.spiders.failures import AddressRefused
from semcrawl.spiders.spool import spool_folder

#: codings of the transfer that the reader of dumps knows by their marks
_KNOWN_BY_MARK = frozenset({b"", b"identity", b"gzip", b"x-gzip", b"zstd"})


class _ConnectionPool(HTTPConnectionPool):
    """Keeps no connection that is being closed: the next request would go down with it.

    Stopping a download (``StopDownload``) closes its connection. When the body came together with
    the headers, Twisted keeps the connection all the same. So it does when a server of HTTP/1.0
    has answered, which closes unless it says otherwise, and one that writes ``Close``.
    """

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        if getattr(connection.transport, "disconnecting", False):
            return
        if server_closes(connection):
            connection.transport.loseConnection()
            return
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]


class _LaterEndpoint:
    """Where to connect to, found out when a connection is made.

    Twisted asks before every request; on a connection that was kept nothing comes of it, and for
    TLS it takes a tenth of a millisecond.
    """

    def __init__(self, find: Callable[[URI], Any], uri: URI) -> None:
        self._find = find
        self._uri = uri

    def connect(self, factory: Any) -> Any:
        """Connect, as ``IStreamClientEndpoint`` says."""
        return self._find(self._uri).connect(factory)


class _Agent(_ScrapyAgent):
    """Lets large bodies go to files."""

    disk_above: int
    folder: Path | None
    buffer: BodyBuffer | None = None

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        agent = super()._get_agent(request, timeout)
        agent._getEndpoint = partial(  # type: ignore[method-assign]
            _LaterEndpoint, agent._getEndpoint
        )
        return agent

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        result = super()._cb_bodyready(txresponse, request)
        reader = getattr(txresponse, "_bodyProtocol", None)
        coding = b",".join(txresponse.headers.getRawHeaders(b"Content-Encoding", []))
        if isinstance(reader, _ResponseReader) and coding.strip().lower() in _KNOWN_BY_MARK:
            start = reader._bodybuf.getvalue()
            reader._bodybuf = self.buffer = BodyBuffer(start, self.disk_above, self.folder)
        return result


class CountedDownloadHandler(HTTP11DownloadHandler):
    """Sends each request once, and keeps large bodies on disk.

    Twisted's connection pool sends a GET again, unseen, when a connection that it kept breaks
    before the answer. Such a failure is recorded here and tried again like any other, so that the
    records are the requests that the server got, and no delay is passed over.

    A body of more than ``SEMCRAWL_MAX_SIZE_IN_MEMORY`` bytes is in the :class:`BodyFile` of the
    request's ``meta``, as it came; the response's own body is empty then.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        pool = _ConnectionPool(self._pool._reactor, persistent=True)  # type: ignore[no-untyped-call]
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        limit = crawler.settings.getint("SEMCRAWL_MAX_HEADERS_SIZE")
        pool._factory = partial(BoundedFactory, limit)  # type: ignore[assignment]
        pool.retryAutomatically = False
        self._pool = pool
        self._disk_above = crawler.settings.getint("SEMCRAWL_MAX_SIZE_IN_MEMORY")
        self._folder = spool_folder(crawler.settings)

    async def download_request(self, request: Request) -> Response:
        """Send a request and return its response."""
        request.meta.pop(BODY_FILE, None)
        is_robots = ROBOTS in request.meta
        agent = _Agent(
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            # (its middleware ends the download of a robots.txt itself)
            maxsize=0 if is_robots else self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )
        agent.disk_above, agent.folder = self._disk_above, self._folder
        if is_robots:
            agent.disk_above = max(agent.disk_above, 2 * LONGEST)
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except Exception as error:
            host = host_of(request.url)
            if address := refused_address(host):
                raise AddressRefused(f"{host} has the private address {address}") from error
            raise
        if agent.buffer is not None and agent.buffer.file is not None:
            request.meta[BODY_FILE] = agent.buffer.file
            agent.buffer.file.codings = tuple(response.headers.getlist(b"Content-Encoding"))
            # the reader unpacks it; the middleware would do so in memory
            response.headers.pop(b"Content-Encoding", None)
        return response
