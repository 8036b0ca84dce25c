"""Private addresses are refused unless asked for."""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.http import Request

from semcrawl.scope import Scope
from semcrawl.spiders.failures import AddressRefused
from semcrawl.urls import is_private_address


class PrivateAddressMiddleware:
    """Downloader middleware: refuses hosts of private networks, so that no page can send us there.

    A host that a seed names was asked for. ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES`` lifts it. Names
    that resolve to private addresses are refused by
    :class:`~semcrawl.middlewares.resolver.PublicResolver`.
    """

    def __init__(self, crawler: Crawler, *, allow: bool) -> None:
        self.crawler = crawler
        self._allow = allow

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware from the settings."""
        return cls(crawler, allow=crawler.settings.getbool("SEMCRAWL_ALLOW_PRIVATE_ADDRESSES"))

    def process_request(self, request: Request) -> None:
        """Refuse a private address that no seed named."""
        if self._allow:
            return
        host = (urlsplit(request.url).hostname or "").lower()
        if is_private_address(host) and host not in self._asked_for():
            raise AddressRefused(f"{host} is a private address")

    def _asked_for(self) -> set[str]:
        scope: Scope | None = getattr(self.crawler.spider, "scope", None)
        if scope is None:
            return set()
        return scope.roots | {host.partition(":")[0] for host, _ in scope.hosts}
