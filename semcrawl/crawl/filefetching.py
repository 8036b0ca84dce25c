"""Files that commands fetch: seeds, topics and archives, by the rules of a crawl's requests."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Timer
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from scrapy.settings import BaseSettings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from semcrawl.config.components import say_who_it_is
from semcrawl.config.transfers import TransferOptions
from semcrawl.errors import SemcrawlError
from semcrawl.settings.reader import fill
from semcrawl.web.hosts import host_of, is_private_address, is_private_ip
from semcrawl.web.urls import Normalisation, normalise


class GuardedAdapter(HTTPAdapter):
    """Connects as ``requests`` does; calls ``check`` with host and address of each connection.

    ``check`` runs before anything is sent, and may raise. Connections to proxies are not checked.
    """

    def __init__(self, check: Callable[[str, str], None]) -> None:
        self._check = check
        self._connections: list[socket.socket] = []
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Make the pools use connections of our own."""
        super().init_poolmanager(*arguments, **options)
        connected = self._connected

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return connected(self.host, super()._new_conn())

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return connected(self.host, super()._new_conn())

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}

    @contextmanager
    def cut_after(self, seconds: float) -> Iterator[Callable[[], bool]]:
        """Cut the connections that the context makes, after ``seconds``.

        The context yields a function that tells whether that happened. Unlike a timeout for each
        read, this also ends headers and bodies that arrive byte by byte.
        """
        late: list[bool] = []

        def cut() -> None:
            late.append(True)
            for connection in tuple(self._connections):
                with suppress(OSError):  # it is closed already
                    connection.shutdown(socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield lambda: bool(late)
        finally:
            timer.cancel()
            while self._connections:
                self._connections.pop().close()
            self.poolmanager.clear()

    def _connected(self, host: str, connection: socket.socket) -> socket.socket:
        """Check a new connection, and remember it."""
        try:
            self._check(host, str(connection.getpeername()[0]))
        except BaseException:
            connection.close()
            raise
        # keep a duplicate: TLS detaches the original socket
        self._connections.append(connection.dup())
        return connection


_MOST_REDIRECTS = 5
_PIECE = 1 << 16


@dataclass
class Fetcher:
    """Fetches one file after the other.

    Hosts that the user names may be private; hosts in files or redirects may not.
    """

    user_agent: str
    #: most bytes of a file
    max_bytes: int = 50 * 1024 * 1024
    #: most seconds for a file
    seconds: float = 60.0
    #: seconds between two requests to a host
    delay: float = 1.0
    allow_private: bool = False
    named: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin a session."""
        self._session = requests.Session()
        self._session.headers["User-Agent"] = self.user_agent
        self._connections = GuardedAdapter(self._check_connection)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, self._connections)
        self._asked: dict[str, float] = {}

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read the settings."""
        say_who_it_is(settings)
        return cls(
            settings["USER_AGENT"],
            min(settings.getint("DOWNLOAD_MAXSIZE") or cls.max_bytes, cls.max_bytes),
            settings.getfloat("DOWNLOAD_TIMEOUT"),
            fill(TransferOptions, settings).delay,
            fill(TransferOptions, settings).allow_private,
        )

    def name(self, url: str) -> None:
        """Note that the user names an address, so that its host may be private."""
        self.named.add(host_of(url))

    def get(self, url: str, accept: str = "*/*") -> tuple[bytes, str, str]:
        """Return body, media type and final address; raise ``SemcrawlError`` if that fails."""
        asked = url
        try:
            for _ in range(_MOST_REDIRECTS + 1):
                self._check(url)
                self._wait(url)
                with self._response_to(url, accept) as answer:
                    if answer.is_redirect:
                        url = urljoin(url, answer.headers["Location"])
                        continue
                    if answer.status_code != requests.codes.ok:
                        raise SemcrawlError(f"cannot fetch {asked}: status {answer.status_code}")
                    return self._read(answer), answer.headers.get("Content-Type", ""), url
        except (requests.RequestException, OSError, ValueError) as error:
            raise SemcrawlError(f"cannot fetch {asked}: {_reason(error)}") from None
        raise SemcrawlError(f"cannot fetch {asked}: more than {_MOST_REDIRECTS} redirects")

    @contextmanager
    def _response_to(self, url: str, accept: str) -> Iterator[requests.Response]:
        """Send a request and yield its response, which must be read in time, in the context."""
        with self._connections.cut_after(self.seconds) as is_late:
            try:
                with self._session.get(
                    url,
                    headers={"Accept": accept},
                    timeout=(min(10.0, self.seconds), self.seconds),
                    allow_redirects=False,
                    stream=True,
                ) as answer:
                    yield answer
            finally:
                if is_late():
                    raise ValueError(f"not there after {self.seconds:g} seconds")

    def _read(self, answer: requests.Response) -> bytes:
        body = bytearray()
        for piece in answer.iter_content(_PIECE):
            body += piece
            if len(body) > self.max_bytes:
                raise ValueError(f"more than {self.max_bytes:,} bytes")
        return bytes(body)

    def _check(self, url: str) -> None:
        """Raise ``SemcrawlError`` for a private address, or text that is no http(s) URL."""
        if normalise(url, Normalisation(exact=True)) is None:
            raise SemcrawlError(f"not an http or https URL: {url[:200]!r}")
        host = host_of(url)
        if self.allow_private or host in self.named:
            return
        private = is_private_address(host)
        if not private and not requests.utils.get_environ_proxies(url):
            found = socket.getaddrinfo(host, urlsplit(url).port or 80, type=socket.SOCK_STREAM)
            private = any(is_private_ip(str(address[4][0])) for address in found)
        if private:
            raise _private(host)

    def _check_connection(self, host: str, address: str) -> None:
        """Raise ``SemcrawlError`` for a connection to a private address.

        The name may resolve differently now than in :meth:`_check`.
        """
        named = {name.rstrip(".") for name in self.named}
        allowed = self.allow_private or host.strip("[]").rstrip(".").lower() in named
        if not allowed and is_private_ip(address):
            raise _private(host)

    def _wait(self, url: str) -> None:
        """Wait until the host's delay is over."""
        host, now = host_of(url), time.monotonic()
        wait = self._asked.get(host, now - self.delay) + self.delay - now
        if wait > 0:
            time.sleep(wait)
        self._asked[host] = time.monotonic()


def _private(host: str) -> SemcrawlError:
    return SemcrawlError(
        f"{host} is at a private address, which SEMCRAWL_ALLOW_PRIVATE_ADDRESSES allows"
    )


def _reason(error: BaseException) -> str:
    """Say in one line what went wrong: the first message of the system in the chain of causes."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    cause: BaseException | None = error
    while cause is not None and not getattr(cause, "strerror", None):
        cause = cause.__cause__ or cause.__context__
    return str(getattr(cause, "strerror", None) or " ".join(str(error).split())[:200])
