"""Private addresses: which hosts may have one, and a resolver that refuses all others."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit
from urllib.request import getproxies

from aiohttp.abc import AbstractResolver, ResolveResult
from scrapy.crawler import Crawler

from semcrawl.config.scope import Scope
from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.failures import AddressRefused
from semcrawl.machine.recent import Recent
from semcrawl.settings.reader import fill
from semcrawl.web.hosts import host_of
from semcrawl.web.privatehosts import is_private_ip

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
