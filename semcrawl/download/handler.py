"""The download handler, on aiohttp: each request that it sends is one attempt."""

from __future__ import annotations

import logging
import ssl
import time
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address
from math import inf
from typing import Any, cast

import aiohttp
from aiohttp.connector import Connection
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, ResponseDataLossError, StopDownload
from scrapy.http import Headers, Request, Response
from scrapy.utils._download_handlers import (
    check_stop_download,
    get_maxsize_msg,
    get_warnsize_msg,
    make_response,
)
from scrapy.utils.ssl import _log_sslobj_debug_info
from scrapy.utils.url import add_http_if_no_scheme
from yarl import URL

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import AT_ADDRESS, FIRST_ANSWER, LATENCY, LEAVES, ROBOTS
from semcrawl.crawl.failures import TooSlowError
from semcrawl.crawl.sharedrobots import LONGEST
from semcrawl.download._connections import (
    GATE,
    ON_CONNECTED,
    Connector,
    scrapys_exceptions,
    what_broke,
)
from semcrawl.download.resolver import AddressRules
from semcrawl.download.spool import spool_folder
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import BODY_FILE, BodyBuffer

logger = logging.getLogger(__name__)

#: content codings that the reader detects by their first bytes
_KNOWN_BY_MAGIC = frozenset({b"", b"identity", b"gzip", b"x-gzip", b"zstd"})
#: statuses of responses without a body
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
#: headers that aiohttp must not add
_AUTOMATIC = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
#: most bytes of a body that are read, and signalled, at a time
_PIECE = 1 << 16
_USER_AGENT, _PROXY_AUTHORIZATION = "User-Agent", "Proxy-Authorization"


class _Answer(aiohttp.ClientResponse):
    """A response that knows its server even after its connection is back in the pool."""

    peer: str = ""
    tls: ssl.SSLObject | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Note the server, then wait for the headers."""
        transport = connection.transport
        if transport is not None:
            name = transport.get_extra_info("peername")
            self.peer = name[0] if name else ""
            self.tls = transport.get_extra_info("ssl_object")
        return await super().start(connection)

    def has_begun(self) -> None:
        """End the time for the first byte: what has begun may pause."""
        connection = self.connection
        if connection is not None and (protocol := connection.protocol) is not None:
            protocol.read_timeout = None
            protocol.start_timeout()


class AiohttpDownloadHandler(BaseDownloadHandler):
    """Sends each request once, and keeps large bodies on disk.

    By default aiohttp silently repeats a GET when an idle connection breaks before the response.
    Here such a failure is recorded and retried like any other. So the records show every request
    that the server got, and every crawl delay holds.

    A body of more than ``SEMCRAWL_MAX_SIZE_IN_MEMORY`` bytes goes, still encoded, to a
    :class:`BodyFile` in the request's ``meta``; the response's own body is empty then. Scrapy's
    settings, signals and ``meta`` keys for downloads apply, except the key ``bindaddress``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self._warnsize = settings.getint("DOWNLOAD_WARNSIZE")
        self._fail_on_dataloss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._tells_tls = settings.getbool("DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING")
        self._headers_limit = fill(TransferOptions, settings).headers_limit
        self._disk_above = fill(TransferOptions, settings).in_memory
        self._folder = spool_folder(settings)
        self._session: aiohttp.ClientSession | None = None

    async def download_request(self, request: Request) -> Response:
        """Send a request and return its response.

        Raises Scrapy's exceptions for downloads, ``HeadersTooLargeError``, and ``AddressRefused``.
        """
        request.meta.pop(BODY_FILE, None)
        request.meta.pop(LATENCY, None)
        if self._session is None:  # making it needs the running event loop
            self._session = self._new_session()
        seconds = request.meta.get("download_timeout", self._timeout)
        GATE.set(request.meta.get(AT_ADDRESS))
        ON_CONNECTED.set(request.meta.pop(LEAVES, None))
        first = request.meta.get(FIRST_ANSWER, 0.0)
        began = time.monotonic()
        with scrapys_exceptions(request, seconds, first):
            async with self._session.request(
                request.method,
                URL(request.url, encoded=True),
                data=request.body or None,
                allow_redirects=False,
                timeout=_timeouts(seconds, first),
                **_headers_and_proxy(request),
            ) as got:
                answer = cast("_Answer", got)
                if first:
                    answer.has_begun()
                request.meta[LATENCY] = time.monotonic() - began
                if self._tells_tls and answer.tls is not None:
                    _log_sslobj_debug_info(answer.tls)
                return await self._read(answer, request)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _new_session(self) -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            connector=Connector(self.crawler.settings, AddressRules(self.crawler)),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_AUTOMATIC,
            response_class=_Answer,
            max_line_size=self._headers_limit,
            max_field_size=self._headers_limit,
            max_headers=self._headers_limit,  # a header has at least one byte
        )
        session._retry_connection = False
        return session

    async def _read(self, answer: _Answer, request: Request) -> Response:
        """Make the response; read its body unless a receiver of ``headers_received`` stops it."""
        headers = Headers(answer.raw_headers)
        # the Content-Length of a 304 is that of the document
        length = 0 if answer.status in _BODILESS else answer.content_length
        stop = check_stop_download(
            signals.headers_received, self.crawler, request, headers=headers, body_length=length
        )
        if stop:
            return _response(answer, request, headers, stop=stop)
        coding = b",".join(headers.getlist(b"Content-Encoding")).strip().lower()
        is_robots = ROBOTS in request.meta
        above = max(self._disk_above, 2 * LONGEST) if is_robots else self._disk_above
        # the context closes the buffer, which the traceback of an error would keep alive
        with BodyBuffer(b"", above if coding in _KNOWN_BY_MAGIC else inf, self._folder) as body:
            flags: list[str] = []
            try:
                stop = await self._receive(body, answer, request, length or 0)
            except aiohttp.ClientPayloadError as error:
                if isinstance(error.__cause__, TooSlowError):
                    raise error.__cause__ from None
                if request.meta.get("download_fail_on_dataloss", self._fail_on_dataloss):
                    raise ResponseDataLossError(what_broke(error)) from error
                flags.append("dataloss")
            if body.file is not None:
                request.meta[BODY_FILE] = body.file
                body.file.codings = tuple(headers.getlist(b"Content-Encoding"))
                # the reader decodes it; Scrapy's middleware would do so in memory
                headers.pop(b"Content-Encoding", None)
            return _response(answer, request, headers, body.getvalue(), flags, stop)

    async def _receive(
        self, body: BodyBuffer, answer: _Answer, request: Request, length: int
    ) -> StopDownload | None:
        """Read the body; return the ``StopDownload`` of a receiver, if there is one.

        ``length``: announced bytes. Raises ``DownloadCancelledError`` for a body that is or will be
        too large.
        """
        # the robots.txt middleware bounds its downloads itself
        maxsize = 0 if ROBOTS in request.meta else self._maxsize
        maxsize = request.meta.get("download_maxsize", maxsize)
        warnsize = request.meta.get("download_warnsize", self._warnsize)
        received, size, warned = 0, length, not warnsize
        while True:
            if maxsize and size > maxsize:
                problem = get_maxsize_msg(size, maxsize, request, expected=not received)
                raise DownloadCancelledError(problem)
            if not warned and size > warnsize:
                warned = True
                logger.warning(get_warnsize_msg(size, warnsize, request, expected=not received))
            data = await answer.content.read(_PIECE)
            if not data:
                return None
            body.write(data)
            size = received = received + len(data)
            stop = check_stop_download(signals.bytes_received, self.crawler, request, data=data)
            if stop:
                return stop


@lru_cache(maxsize=64)
def _timeouts(seconds: float, first: float) -> aiohttp.ClientTimeout:
    """Make aiohttp's: for all of a request, for its connection and for its first byte."""
    return aiohttp.ClientTimeout(
        total=seconds or None, sock_connect=first or None, sock_read=first or None
    )


def _headers_and_proxy(request: Request) -> dict[str, Any]:
    """Return aiohttp's arguments for a request's headers, and for its proxy and its headers."""
    headers = request.headers.to_tuple_list()
    proxy = request.meta.get("proxy")
    if not proxy:
        return {"headers": headers}
    arguments: dict[str, Any] = {"headers": headers, "proxy": add_http_if_no_scheme(proxy)}
    if request.url.startswith("https:"):
        # the proxy tunnels the request and does not see its headers
        proxys_own = (_USER_AGENT, _PROXY_AUTHORIZATION)
        arguments["proxy_headers"] = [pair for pair in headers if pair[0] in proxys_own]
        arguments["headers"] = [pair for pair in headers if pair[0] != _PROXY_AUTHORIZATION]
    return arguments


def _response(
    answer: _Answer,
    request: Request,
    headers: Headers,
    body: bytes = b"",
    flags: list[str] | None = None,
    stop: StopDownload | None = None,
) -> Response:
    """Make Scrapy's response."""
    version = answer.version
    return make_response(
        request.url,
        answer.status,
        headers,
        body,
        flags=flags,
        certificate=answer.tls.getpeercert(binary_form=True) if answer.tls else None,
        ip_address=ip_address(answer.peer) if answer.peer else None,
        protocol=f"HTTP/{version.major}.{version.minor}" if version else None,
        stop_download=stop,
    )
