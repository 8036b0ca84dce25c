"""Private addresses are refused unless asked for."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.http import Request

from semcrawl.hosts import host_of, is_private_address
from semcrawl.middlewares.resolver import running_resolver
from semcrawl.scope import Scope
from semcrawl.spiders.failures import AddressRefused


class PrivateAddressMiddleware:
    """Downloader middleware: refuses hosts of private networks, so that no page can send us there.

    A host that a seed names was asked for. ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES`` lifts it. Names
    that resolve to private addresses are refused by
    :class:`~semcrawl.middlewares.resolver.PublicResolver`, where it is the reactor's resolver; once
    that has happened, nothing more is asked of them.
    """

    def __init__(self, crawler: Crawler, *, allow: bool) -> None:
        self.crawler = crawler
        self._allow = allow

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware from the settings."""
        return cls(crawler, allow=crawler.settings.getbool("SEMCRAWL_ALLOW_PRIVATE_ADDRESSES"))

    def process_request(self, request: Request) -> None:
        """Refuse a private address that no seed named; have names looked at."""
        host = host_of(request.url)
        resolver = running_resolver()
        if self._allow or self._is_asked_for(host):
            if resolver is not None:
                resolver.trust(host)
            return
        if is_private_address(host):
            raise AddressRefused(f"{host} is a private address")
        if resolver is None:
            return
        if address := resolver.refused(host):
            raise AddressRefused(f"{host} has the private address {address}")
        resolver.guard(host)

    def _is_asked_for(self, host: str) -> bool:
        scope: Scope | None = getattr(self.crawler.spider, "scope", None)
        if scope is None:
            return False
        return host in scope.roots or any(host == host_of(f"//{name}") for name, _ in scope.hosts)
