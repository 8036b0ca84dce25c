"""The download handler: an HTTP client on the crawl's loop, its connections and limits."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import errno
import logging
import os
import re
import shutil
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address
from math import inf
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit
from urllib.request import getproxies
from weakref import WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Request, Response
from scrapy.settings import BaseSettings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils._download_handlers import (
    check_stop_download,
    get_maxsize_msg,
    get_warnsize_msg,
    make_response,
    normalize_bind_address,
)
from scrapy.utils.ssl import _log_sslobj_debug_info, _make_ssl_context
from scrapy.utils.url import add_http_if_no_scheme
from yarl import URL

from semcrawl.config.logins import Login, read_logins
from semcrawl.config.scope import Scope
from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import AT_ADDRESS, FIRST_ANSWER, LATENCY, LEAVES, ROBOTS
from semcrawl.crawl.failures import (
    AddressRefused,
    FilesUsedUp,
    HeadersTooLargeError,
    NameMissingError,
    ProxyAwayError,
    TooSlowError,
)
from semcrawl.crawl.sharedrobots import LONGEST
from semcrawl.descriptors import idle_connections
from semcrawl.items import RdfDocument
from semcrawl.processes import is_alive
from semcrawl.recent import Recent
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import BODY_FILE, BodyBuffer
from semcrawl.web.hosts import host_of, is_private_ip

_END = re.compile(rb"\r?\n\r?\n")
_INTERIM = re.compile(rb"HTTP/\S+ +1(?!01)\d\d\b")
_LATER_VERSION = re.compile(rb"HTTP/1\.[2-9]")
#: lines that are no valid header fields
_ODD_LINE = re.compile(rb"\n(?![ \t])(?:[^:\r\n]*(?:[\r\n]|\Z)|[^:\r\n]*[ \t][^:\r\n]*:|:)")
_PLAIN_LENGTH = re.compile(rb"\ncontent-length:[ \t]*\d+[ \t]*\r?\n")
_NAME = re.compile(rb"[^\s:]+")
_LENGTH, _TRANSFER = b"content-length", b"transfer-encoding"


def head_end(start: bytearray, searched: int = 0) -> int:
    """Return where a response head ends, after its empty line; -1 if it is not whole.

    Earlier calls have searched the first ``searched`` bytes.
    """
    found = _END.search(start, max(0, searched - 3))
    return found.end() if found else -1


def may_be_http(start: bytearray) -> bool:
    """Whether these bytes can be the beginning of a status line."""
    return start.startswith(b"HTTP/"[: len(start)])


def is_interim(head: bytes) -> bool:
    """Whether a head is that of an interim response (1xx), before the final one."""
    return _INTERIM.match(head) is not None


def repaired_head(head: bytes) -> bytes:
    """Return a head without the faults that a strict parser refuses and browsers accept.

    It drops lines without a colon or with a blank in the name (RFC 9112, section 5), zero bytes,
    repeated equal lengths, and lengths beside ``Transfer-Encoding``, which overrides them (section
    6.3). A later version 1.x becomes 1.1 (RFC 9110, section 2.5). Different lengths stay, for the
    parser to refuse.
    """
    small = head.lower()
    lengths = small.count(_LENGTH)
    if (
        lengths < 2
        and not (lengths and (_TRANSFER in small or not _PLAIN_LENGTH.search(small)))
        and b"\x00" not in head
        and not _ODD_LINE.search(head.rstrip())
        and not _LATER_VERSION.match(head)
    ):
        return head
    first, *lines = head.replace(b"\x00", b"").splitlines()
    fields = _fields(lines)
    has_transfer = any(name == _TRANSFER for name, _ in fields)
    kept = [_LATER_VERSION.sub(b"HTTP/1.1", first)]
    lengths_kept: set[bytes] = set()
    for name, line in fields:
        if name != _LENGTH:
            kept.append(line)
        elif not has_transfer:
            values = [value.strip() for value in line.partition(b":")[2].split(b",")]
            new = [value for value in dict.fromkeys(values) if value not in lengths_kept]
            kept += [b"Content-Length: " + value for value in new]
            lengths_kept.update(new)
    return b"\r\n".join([*kept, b"", b""])


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return lower-case name and line of each field, with continuation lines joined."""
    fields: list[tuple[bytes, bytes]] = []
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if fields:
                name, begun = fields[-1]
                fields[-1] = (name, begun + b" " + line.strip())
            continue
        name, colon, _ = line.partition(b":")
        if colon and _NAME.fullmatch(name):
            fields.append((name.lower(), line))
    return fields


#: system errors for names that do not exist or have no address
NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
#: most names with a private address and most without one that are remembered, and the seconds for
#: which the latter are
_MOST_NAMES, _MISSING_LIFETIME = 10_000, 60.0


class AddressRules:
    """Says which hosts may have private addresses: those that the user's seeds or scope name.

    A seed from a Redis list allows none, as others may write to the list.
    ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES`` allows all.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Read the setting, and the proxies of the environment."""
        self._crawler = crawler
        self._any = fill(TransferOptions, crawler.settings).allow_private
        proxies = getproxies().values()
        self._proxies = {urlsplit(p if "//" in p else f"//{p}").hostname for p in proxies}

    def allow(self, host: str) -> bool:
        """Whether links may lead to a host with a private address."""
        if self._any:
            return True
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is None:
            return False
        return host in scope.named or any(host == host_of(f"//{name}") for name, _ in scope.hosts)

    def allow_name(self, name: str) -> bool:
        """Whether a name may resolve to a private address, as names of proxies may."""
        return name in self._proxies or self.allow(name)


class PublicResolver(AbstractResolver):
    """The system's resolver, without private addresses that the user did not name.

    It checks the very address that the connection uses, so the name cannot resolve to another one
    afterwards. It has its own threads, so that no other work waits for names that take long.
    """

    def __init__(self, allowed: Callable[[str], bool], timeout: float, threads: int = 10) -> None:
        """Resolve names, to private addresses only if ``allowed``.

        ``timeout``: seconds for a name; ``threads``: names looked up at a time.
        """
        self._allowed = allowed
        self._timeout = timeout
        self._threads = ThreadPoolExecutor(max(1, threads), "semcrawl-dns")
        #: names with a private address, and that address
        self._refused: Recent[str, str] = Recent(_MOST_NAMES)
        #: names that do not exist: the error, and until when it holds (``time.monotonic``)
        self._missing: dict[str, tuple[OSError, float]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name.

        Raises ``AddressRefused`` if one of its addresses is private, and remembers that. Raises
        ``TimeoutError``, and ``OSError`` or ``UnicodeError`` for a name without an address.
        """
        name = host.lower()
        self._check_missing(name)
        allowed = self._allowed(name)
        if name not in self._refused or allowed:
            loop = asyncio.get_running_loop()
            search = loop.run_in_executor(self._threads, _addresses, host, port, family)
            try:
                found = await asyncio.wait_for(search, self._timeout)
            except socket.gaierror as error:
                if error.errno in NO_SUCH_NAME:
                    self._note_missing(name, error)
                raise
            private = [result["host"] for result in found if is_private_ip(result["host"])]
            if allowed or not private:
                return found
            self._refused[name] = private[0]
        raise AddressRefused(f"{host} has the private address {self._refused[name]}")

    def _check_missing(self, name: str) -> None:
        """Raise the remembered error of a name that does not exist, while it holds."""
        if name in self._missing:
            error, until = self._missing[name]
            if time.monotonic() < until:
                raise socket.gaierror(*error.args)
            del self._missing[name]

    def _note_missing(self, name: str, error: OSError) -> None:
        while len(self._missing) >= _MOST_NAMES:
            del self._missing[next(iter(self._missing))]
        self._missing[name] = error, time.monotonic() + _MISSING_LIFETIME

    async def close(self) -> None:
        """Stop the threads, without waiting for look-ups."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    """Look a name up with the system's resolver."""
    found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return [
        ResolveResult(
            hostname=host, host=str(where[0]), port=port, family=kind, proto=proto, flags=numeric
        )
        for kind, _, proto, _, where in found
    ]


#: awaited in a request's task once it has a connection, before its first byte is sent
ON_CONNECTED: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar(
    "ON_CONNECTED", default=None
)
#: awaited in a request's task with the server's IP address, before it connects
GATE: ContextVar[Callable[[str], Awaitable[None]] | None] = ContextVar("GATE", default=None)
#: allows servers without secure renegotiation (``SSL_OP_LEGACY_SERVER_CONNECT``)
_LEGACY_SERVERS = 0x4
#: seconds for which the addresses of a name are cached
_NAME_LIFETIME = 600
#: system errors when this process, or the whole system, has too many open files
_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE})
#: seconds that a link waits when no file could be opened for it
_FILES_PAUSE = 2.0
_OF_ERRNO: dict[int | None, type[Exception]] = {
    errno.ETIMEDOUT: DownloadTimeoutError,
    errno.ECONNREFUSED: DownloadConnectionRefusedError,
}


class _Protocol(ResponseHandler):
    """A connection that reads responses as leniently as browsers do, and bounds their heads.

    It gives aiohttp's parser the whole head first, then the body. So if a body is longer than
    announced, the announced part is kept.
    """

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._limit = limit
        #: bytes of the current response, now and at the last check of the rate
        self._received = self._checked = 0
        #: time of that check by the loop's clock; ``None`` before the first byte
        self._checked_at: float | None = None
        #: the part of a head that has arrived; ``None`` while no head is expected
        self._head: bytearray | None = None
        #: bytes of the interim responses before the current one
        self._interim = 0

    def set_response_params(self, **params: Any) -> None:
        """Prepare for a response."""
        self._head = bytearray()
        self._interim = self._received = 0
        self._checked_at = None
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Collect a head until it is whole; pass on everything else."""
        self._received += len(data)
        while self._head is not None and self._parser is not None:
            begun, searched = self._head, len(self._head)
            begun += data if searched else data.lstrip(b"\r\n")
            end = head_end(begun, searched)
            if self._interim + (end if end > 0 else len(begun)) > self._limit:
                self._abort(HeadersTooLargeError(self._limit))
                return
            if end < 0 and may_be_http(begun):
                return
            self._head = None
            if end < 0:
                super().data_received(bytes(begun))  # the parser says what is wrong with it
                return
            head, data = bytes(begun[:end]), bytes(begun[end:])
            super().data_received(repaired_head(head))
            if is_interim(head):
                self._head = bytearray()
                self._interim += end
            if not data:
                return
        super().data_received(data)

    def check_rate(self, rate: float, grace: float) -> None:
        """Abort a response that brought less than ``rate`` bytes/s in the last ``grace`` seconds.

        The time before its first byte does not count.
        """
        due = self._head is not None or (self._payload is not None and not self._payload.is_eof())
        if not due or not self._received or self._reading_paused:
            self._checked_at = None
            return
        now = self._loop.time()
        if self._checked_at is None:
            self._checked_at, self._checked = now, self._received
        elif now - self._checked_at >= grace:
            if self._received - self._checked < rate * (now - self._checked_at):
                self._abort(TooSlowError(rate))
            self._checked_at, self._checked = now, self._received

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """Report an error also to the task that waits for the body, which aiohttp does not."""
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            broken = aiohttp.ClientPayloadError(str(exc))
            broken.__cause__ = exc
            payload.set_exception(broken, exc)
        super().set_exception(exc, *cause)

    def _abort(self, error: Exception) -> None:
        if self.transport is not None:
            self.transport.abort()
        self.set_exception(error)


class Connector(aiohttp.TCPConnector):
    """Makes and pools connections, by Scrapy's settings and ours.

    It has no limit on their number: the frontier and the engine bound the requests in flight.
    """

    def __init__(self, settings: BaseSettings, rules: AddressRules) -> None:
        """Prepare the pool; call this in the event loop that will use it."""
        context = _make_ssl_context(settings)
        context.options |= ssl.Options(_LEGACY_SERVERS)
        # one thread for each request, so that none waits for another's look-up
        threads = max(map(settings.getint, ("REACTOR_THREADPOOL_MAXSIZE", "CONCURRENT_REQUESTS")))
        self._names = PublicResolver(
            rules.allow_name,
            settings.getfloat("DNS_TIMEOUT"),
            threads,
        )
        super().__init__(
            resolver=self._names,
            use_dns_cache=settings.getbool("DNSCACHE_ENABLED"),
            dns_cache_max_size=max(1, settings.getint("DNSCACHE_SIZE")),
            ttl_dns_cache=_NAME_LIFETIME,
            local_addr=normalize_bind_address(settings.get("DOWNLOAD_BIND_ADDRESS")),
            ssl=context,
            limit=0,
        )
        limit = fill(TransferOptions, settings).headers_limit
        self._made: WeakSet[_Protocol] = WeakSet()

        def make() -> _Protocol:
            protocol = _Protocol(limit, self._loop)
            self._made.add(protocol)
            return protocol

        self._factory: Any = make
        self._rate = fill(TransferOptions, settings).least_rate
        self._grace = fill(TransferOptions, settings).grace
        self._watch = self._loop.create_task(self._watch_rates()) if self._rate > 0 else None
        self._most_idle = idle_connections(settings.getint("CONCURRENT_REQUESTS"))

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        """Return a connection to the pool, or close it if too many are idle."""
        idle = sum(map(len, self._conns.values()))
        super()._release(key, protocol, should_close=should_close or idle >= self._most_idle)

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's own
    ) -> Connection:
        """Return a connection once its request may be sent."""
        if req.proxy:
            GATE.set(None)  # the proxy resolves the server's name
        connection = await super().connect(req, traces, timeout)
        if (gate := GATE.get()) is not None and connection.transport is not None:
            try:  # a pooled connection needs no look-up, so the gate was not awaited
                await gate(connection.transport.get_extra_info("peername")[0])
            except BaseException:
                connection.release()
                raise
        if (when_connected := ON_CONNECTED.get()) is None:
            return connection
        try:
            await when_connected()
        except BaseException:
            connection.close()
            raise
        if (protocol := connection.protocol) is None or not protocol.is_connected():
            # the server has closed this pooled connection meanwhile
            connection.close()
            connection = await super().connect(req, traces, timeout)
        return connection

    async def _resolve_host(
        self, host: str, port: int, traces: Sequence[Trace] | None = None
    ) -> list[ResolveResult]:
        found = await super()._resolve_host(host, port, traces)
        if found and (gate := GATE.get()) is not None:
            await gate(min(result["host"] for result in found))
        return found

    async def _watch_rates(self) -> None:
        """Abort responses below the least rate, which would hold slots for long."""
        while True:
            await asyncio.sleep(min(1.0, self._grace / 4))
            for protocol in list(self._made):
                protocol.check_rate(self._rate, self._grace)

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Close all connections."""
        if self._watch is not None:
            self._watch.cancel()
        await super().close(abort_ssl=abort_ssl)
        await self._names.close()


@contextmanager
def scrapys_exceptions(request: Request, seconds: float, first: float = 0.0) -> Iterator[None]:
    """Raise Scrapy's exceptions for downloads instead of aiohttp's.

    ``seconds`` is the time that the request had, ``first`` that for its first byte.
    Raise ``FilesUsedUp`` when this process can open no file for a request.
    """
    try:
        with _files_used_up():
            yield
    except aiohttp.ServerTimeoutError as error:
        why = f"{request.url} did not answer within {first:g} seconds."
        raise DownloadTimeoutError(why) from error
    except TimeoutError as error:
        raise DownloadTimeoutError(
            f"Getting {request.url} took longer than {seconds:g} seconds."
        ) from error
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise UnsupportedURLSchemeError(str(error)) from error
    except aiohttp.ClientConnectorDNSError as error:
        why = f"DNS lookup failed: {error.host}: {error.os_error.strerror}"
        missing = error.os_error.errno in NO_SUCH_NAME
        raise (NameMissingError if missing else CannotResolveHostError)(why) from error
    except aiohttp.ClientProxyConnectionError as error:
        why = f"cannot connect to the proxy {error.host}:{error.port}: {_reason(error.os_error)}"
        raise ProxyAwayError(why) from error
    except aiohttp.ClientHttpProxyError as error:
        raise DownloadFailedError(f"the proxy refuses: {error.status} {error.message}") from error
    except aiohttp.ClientResponseError as error:
        raise DownloadFailedError(f"no answer in HTTP: {_one_line(error.message)}") from error
    except aiohttp.ClientOSError as error:
        why = str(error)
        if isinstance(error, aiohttp.ClientConnectorError):
            why = f"cannot connect to {error.host}:{error.port}: {_reason(error.os_error)}"
        raise _OF_ERRNO.get(error.errno, DownloadFailedError)(why) from error
    except aiohttp.ClientError as error:
        raise DownloadFailedError(str(error) or type(error).__name__) from error


@contextmanager
def _files_used_up() -> Iterator[None]:
    """Raise ``FilesUsedUp`` for an error that means too many open files."""
    try:
        yield
    except OSError as error:
        inner = getattr(error, "os_error", error)
        if not _NO_FILES & {error.errno, inner.errno}:
            raise
        reason = os.strerror(errno.EMFILE if inner.errno == errno.EMFILE else errno.ENFILE)
        raise FilesUsedUp(reason.lower(), _FILES_PAUSE) from error


def what_broke(error: aiohttp.ClientPayloadError) -> str:
    """Say in one line why a body broke off."""
    why = getattr(error.__cause__, "message", None) or str(error)
    return f"the body broke off: {_one_line(why)}"


def _reason(error: OSError) -> str:
    """Return the message of the system or of the TLS library."""
    if error.errno and not isinstance(error, (ssl.SSLError, socket.gaierror)):
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _one_line(problem: object) -> str:
    """Return a parser's message on one line, without the arrow under it."""
    return " ".join(str(problem).split()).removesuffix(" ^")


@contextmanager
def extra_download_slot(crawler: Crawler) -> Iterator[None]:
    """Allow one more download at a time, so that an errand takes no link's slot."""
    engine = crawler.engine
    if engine is None or engine.downloader.total_concurrency <= 0:  # 0 = no limit
        yield
        return
    downloader = engine.downloader
    downloader.total_concurrency += 1
    try:
        yield
    finally:
        downloader.total_concurrency -= 1


@contextmanager
def uncounted_by_scraper(crawler: Crawler, size: int) -> Iterator[None]:
    """Exempt a waiting response of ``size`` bytes from the scraper's limit."""
    engine = crawler.engine
    slot = engine.scraper.slot if engine is not None else None
    if slot is None:
        yield
        return
    slot.max_active_size += size
    try:
        yield
    finally:
        slot.max_active_size -= size


logger = logging.getLogger(__name__)

_PREFIX = ".spool-"


def spool_folder(settings: BaseSettings) -> Path | None:
    """Return this process's folder for such files; ``None`` if the job has no folder."""
    job = settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")
    return Path(job) / f"{_PREFIX}{socket.gethostname()}-{os.getpid()}" if job else None


class SpoolRemoval:
    """Extension: makes the folder, and deletes each file once its document passed the pipelines.

    At the start it deletes files that dead processes of this machine have left.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension and listen for finished documents."""
        extension = cls(spool_folder(crawler.settings))
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        for over in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(extension.item_over, over)
        return extension

    def spider_opened(self) -> None:
        """Make the folder; delete those of dead processes."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            logger.error("cannot make %s: %s", self._folder, error.strerror)
        # not when the spider closes: another spider of the process may still need it
        atexit.register(_remove, self._folder)
        for folder in self._folder.parent.glob(f"{_PREFIX}{socket.gethostname()}-*"):
            pid = folder.name.rpartition("-")[2]
            if pid.isdigit() and not is_alive(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)

    def item_over(self, item: Any) -> None:
        """Delete the file of a document that is through all pipelines and feeds."""
        if isinstance(item, RdfDocument) and item.spool is not None:
            item.spool.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


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
        self._logins = read_logins(settings)
        self._keeps_cookies = settings.getbool("COOKIES_ENABLED")
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
        login = self._logins.of(request.url)
        began = time.monotonic()
        with scrapys_exceptions(request, seconds, first):
            async with self._session.request(
                request.method,
                URL(request.url, encoded=True),
                data=request.body or None,
                allow_redirects=False,
                timeout=_timeouts(seconds, first),
                **_headers_and_proxy(request, login),
            ) as got:
                answer = cast("_Answer", got)
                if first:
                    answer.has_begun()
                request.meta[LATENCY] = time.monotonic() - began
                if self._tells_tls and answer.tls is not None:
                    _log_sslobj_debug_info(answer.tls)
                return await self._read(answer, request, is_member=login is not None)

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

    async def _read(self, answer: _Answer, request: Request, *, is_member: bool) -> Response:
        """Make the response; read its body unless a receiver of ``headers_received`` stops it.

        Cookies that a host gives to one that logged in are secrets, so they are left out.
        """
        headers = Headers(answer.raw_headers)
        if is_member and not self._keeps_cookies:
            headers.pop(b"Set-Cookie", None)
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


def _headers_and_proxy(request: Request, login: Login | None) -> dict[str, Any]:
    """Return aiohttp's arguments for a request's headers, and for its proxy and its headers.

    The headers of a login are only here, as the request itself is recorded.
    """
    headers = request.headers.to_tuple_list()
    arguments: dict[str, Any] = {"headers": headers}
    if login is not None:
        told = {name.lower() for name, _ in login.headers}
        kept = [pair for pair in headers if pair[0].lower() not in told]
        headers = arguments["headers"] = [*kept, *login.headers]
        if request.url.startswith("https:"):
            arguments["ssl"] = login.context
    proxy = request.meta.get("proxy")
    if not proxy:
        return arguments
    arguments["proxy"] = add_http_if_no_scheme(proxy)
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


class StatsCollector(MemoryStatsCollector):
    """Scrapy's collector in memory, without its check of each call.

    Scrapy wraps each method to warn of a deprecated argument, which takes ten times as long as
    counting.
    """

    __getattribute__ = object.__getattribute__
