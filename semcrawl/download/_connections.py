"""Connections to web servers: makes and bounds them, and translates their errors."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.abc import ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Request
from scrapy.settings import BaseSettings
from scrapy.utils._download_handlers import normalize_bind_address
from scrapy.utils.ssl import _make_ssl_context

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.failures import (
    FilesUsedUp,
    HeadersTooLargeError,
    NameMissingError,
    ProxyAwayError,
    TooSlowError,
)
from semcrawl.download.heads import head_end, is_interim, may_be_http, repaired_head
from semcrawl.download.resolver import NO_SUCH_NAME, AddressRules, PublicResolver
from semcrawl.machine.descriptors import idle_connections
from semcrawl.settings.reader import fill

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
