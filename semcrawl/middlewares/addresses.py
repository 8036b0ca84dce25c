"""Private addresses are refused unless asked for."""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.crawler import Crawler
from scrapy.http import Request

from semcrawl.hosts import host_of, is_private_address
from semcrawl.scope import Scope
from semcrawl.spiders.failures import AddressRefused


class AddressRules:
    """Which hosts may have private addresses: those that a seed or the scope names were asked for.

    ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES`` lifts all rules.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Take the setting, and the proxies."""
        self._crawler = crawler
        self._any = crawler.settings.getbool("SEMCRAWL_ALLOW_PRIVATE_ADDRESSES")
        proxies = getproxies().values()
        self._proxies = {urlsplit(p if "//" in p else f"//{p}").hostname for p in proxies}

    def allow(self, host: str) -> bool:
        """Whether links may lead to a host with a private address."""
        if self._any:
            return True
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is None:
            return False
        return host in scope.roots or any(host == host_of(f"//{name}") for name, _ in scope.hosts)

    def allow_name(self, name: str) -> bool:
        """Whether a name may resolve to a private address; proxies of the environment may."""
        return name in self._proxies or self.allow(name)


class PrivateAddressMiddleware:
    """Downloader middleware: refuses hosts of private networks, so that no page can send us there.

    Names that resolve to private addresses are refused where they are resolved
    (:class:`~semcrawl.middlewares.resolver.PublicResolver`).
    """

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware from the settings."""
        return cls(AddressRules(crawler))

    def process_request(self, request: Request) -> None:
        """Refuse a private address that nobody asked for."""
        host = host_of(request.url)
        if is_private_address(host) and not self._rules.allow(host):
            raise AddressRefused(f"{host} is a private address")
