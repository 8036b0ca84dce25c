"""Names that resolve to private addresses are refused unless asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from semcrawl.hosts import is_private_address


class PublicResolver(CachingThreadedResolver):
    """Scrapy's resolver, which finds no private address for a name that is guarded.

    The address is looked at where it is used, so a name cannot resolve to another one afterwards.
    Names of the proxies that the environment names are never guarded.
    """

    def __init__(
        self,
        reactor: ReactorBase,
        cache_size: int,
        timeout: float,
        proxies: Iterable[str] | None = None,
    ) -> None:
        super().__init__(reactor, cache_size, timeout)
        addresses = getproxies().values() if proxies is None else proxies
        self._proxies = {urlsplit(a if "//" in a else f"//{a}").hostname for a in addresses}
        self._guarded: set[str] = set()
        self._refused: dict[str, str] = {}

    def guard(self, name: str) -> None:
        """From now on, refuse private addresses of this name."""
        if name not in self._proxies:
            self._guarded.add(name)

    def trust(self, name: str) -> None:
        """From now on, take any address of this name."""
        self._guarded.discard(name)
        self._refused.pop(name, None)

    def refused(self, name: str) -> str:
        """Return the private address for which a name was refused; ``""`` if it was not."""
        return self._refused.get(name, "")

    def getHostByName(  # noqa: N802 - the name in Twisted
        self, name: str, timeout: Sequence[int] = ()
    ) -> Deferred[str]:
        """Resolve a name; fail with ``DNSLookupError`` when it is refused."""
        resolved: Deferred[Any] = super().getHostByName(name, timeout)
        return resolved.addCallback(self._checked, name.lower())

    def _checked(self, address: str, name: str) -> str:
        if name in self._guarded and is_private_address(address):
            self._refused[name] = address
            raise DNSLookupError(f"{name} has the private address {address}")
        self._refused.pop(name, None)
        return address


def running_resolver() -> PublicResolver | None:
    """Return the resolver of the running reactor, when it is ours."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "resolver", None)
    return resolver if isinstance(resolver, PublicResolver) else None


def refused_address(host: str) -> str:
    """Return the private address for which a name was not resolved; ``""`` if there is none."""
    resolver = running_resolver()
    return resolver.refused(host) if resolver is not None else ""
