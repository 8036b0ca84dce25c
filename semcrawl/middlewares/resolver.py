"""Names that resolve to private addresses are refused unless asked for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from aiohttp.abc import AbstractResolver, ResolveResult

from semcrawl.privacy import is_private_ip
from semcrawl.spiders.failures import AddressRefused


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

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name.

        Raises ``AddressRefused`` if one of its addresses is private, from then on without looking
        it up again; ``TimeoutError``, and ``OSError`` or ``UnicodeError`` if it has none.
        """
        name = host.lower()
        allowed = self._allowed(name)
        if name not in self._refused or allowed:
            loop = asyncio.get_running_loop()
            search = loop.run_in_executor(self._threads, _addresses, host, port, family)
            found = await asyncio.wait_for(search, self._timeout)
            private = [result["host"] for result in found if is_private_ip(result["host"])]
            if allowed or not private:
                return found
            self._refused[name] = private[0]
        raise AddressRefused(f"{host} has the private address {self._refused[name]}")

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
