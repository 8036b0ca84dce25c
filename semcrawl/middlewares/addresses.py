"""Private addresses are refused unless asked for."""

from __future__ import annotations

import logging
from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.crawler import Crawler
from scrapy.http import Request

from semcrawl.frontier.scheduler import LEASE
from semcrawl.hosts import host_of
from semcrawl.privacy import is_private_address
from semcrawl.scope import Scope
from semcrawl.spiders.attempt import ROBOTS
from semcrawl.spiders.failures import AddressRefused

logger = logging.getLogger(__name__)

#: hosts that are told of at most
_TOLD = 1000


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


class PrivateAddressMiddleware:
    """Downloader middleware: refuses hosts of private networks, so that no page can send us there.

    Names that resolve to private addresses are refused where they are resolved
    (:class:`~semcrawl.middlewares.resolver.PublicResolver`); a proxy resolves names itself, so that
    behind one it is the spelling of a host that counts.
    """

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules
        #: hosts of one's own requests that were refused
        self._told: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware from the settings."""
        return cls(AddressRules(crawler))

    def process_request(self, request: Request) -> None:
        """Refuse a private address that nobody asked for."""
        host = host_of(request.url)
        if is_private_address(host) and not self._rules.allow(host):
            raise AddressRefused(f"{host} is a private address")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Tell of a request of one's own that was refused, once for a host: it has no record."""
        if not isinstance(exception, AddressRefused) or not self._is_own(request):
            return
        host = host_of(request.url)
        if host not in self._told and len(self._told) < _TOLD:
            self._told.add(host)
            logger.warning(
                "%s is not asked for: %s (SEMCRAWL_ALLOW_PRIVATE_ADDRESSES allows it)",
                *(request.url, exception),
            )

    @staticmethod
    def _is_own(request: Request) -> bool:
        """Whether no record tells of a request: it is neither a link's nor for a robots.txt."""
        return LEASE not in request.meta and ROBOTS not in request.meta
