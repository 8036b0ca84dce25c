"""Names that resolve to private addresses are refused unless asked for."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from aiohttp.abc import AbstractResolver, ResolveResult

from semcrawl.crawl.failures import AddressRefused
from semcrawl.web.privatehosts import is_private_ip

#: what the system says of names that do not exist, or have no address
NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
#: names without an address that are remembered, and for how many seconds
_MISSING_AT_HAND, _MISSING_LIFETIME = 10_000, 60.0


class PublicResolver(AbstractResolver):
    """The system's resolver, which finds no private address for a name that nobody asked for.

    The address is looked at where it is used, so a name cannot resolve to another one afterwards.
    Names are looked up in threads of their own: dead ones take long, and others need not wait.
    """

    def __init__(self, allowed: Callable[[str], bool], timeout: float, threads: int = 10) -> None:
        """Resolve names; those that are ``allowed`` to any address.

        ``timeout`` is in seconds; ``threads`` names are looked up at a time.
        """
        self._allowed = allowed
        self._timeout = timeout
        self._threads = ThreadPoolExecutor(max(1, threads), "semcrawl-dns")
        self._refused: dict[str, str] = {}
        #: names that do not exist, with what the system said, and until when that holds
        self._missing: dict[str, tuple[OSError, float]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name.

        Raises ``AddressRefused`` if one of its addresses is private, from then on without looking
        it up again; ``TimeoutError``, and ``OSError`` or ``UnicodeError`` if it has none.
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
        """Raise what the system said of a name that does not exist, as long as that holds."""
        if name in self._missing:
            error, until = self._missing[name]
            if time.monotonic() < until:
                raise socket.gaierror(*error.args)
            del self._missing[name]

    def _note_missing(self, name: str, error: OSError) -> None:
        while len(self._missing) >= _MISSING_AT_HAND:
            del self._missing[next(iter(self._missing))]
        self._missing[name] = error, time.monotonic() + _MISSING_LIFETIME

    async def close(self) -> None:
        """Look nothing up any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    """Ask the system."""
    asked = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return [
        ResolveResult(
            hostname=host, host=str(where[0]), port=port, family=kind, proto=proto, flags=numeric
        )
        for kind, _, proto, _, where in asked
    ]
