"""Names that resolve to private addresses are refused unless asked for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from aiohttp import ThreadedResolver
from aiohttp.abc import ResolveResult

from semcrawl.hosts import is_private_address
from semcrawl.spiders.failures import AddressRefused


class PublicResolver(ThreadedResolver):
    """The system's resolver, which finds no private address for a name that nobody asked for.

    The address is looked at where it is used, so a name cannot resolve to another one afterwards.
    """

    def __init__(self, allowed: Callable[[str], bool], timeout: float) -> None:
        """Resolve names; those that are ``allowed`` to any address.

        ``timeout`` is in seconds.
        """
        super().__init__()
        self._allowed = allowed
        self._timeout = timeout
        self._refused: dict[str, str] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a name.

        Raises ``AddressRefused`` if one of its addresses is private, from then on without asking
        again, and ``OSError`` if it has none.
        """
        name = host.lower()
        allowed = self._allowed(name)
        if name not in self._refused or allowed:
            found = await asyncio.wait_for(super().resolve(host, port, family), self._timeout)
            private = [item["host"] for item in found if is_private_address(item["host"])]
            if allowed or not private:
                return found
            self._refused[name] = private[0]
        raise AddressRefused(f"{host} has the private address {self._refused[name]}")
