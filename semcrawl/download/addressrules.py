"""Which hosts may have private addresses."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.crawler import Crawler

from semcrawl.config.scope import Scope
from semcrawl.web.hosts import host_of


class AddressRules:
    """Which hosts may have private addresses: those that the user's own seeds or scope name.

    A seed that comes from a Redis list opens none, as others may write to it.
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
        return host in scope.named or any(host == host_of(f"//{name}") for name, _ in scope.hosts)

    def allow_name(self, name: str) -> bool:
        """Whether a name may resolve to a private address; proxies of the environment may."""
        return name in self._proxies or self.allow(name)
