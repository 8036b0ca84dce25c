"""Refuses addresses: those that patterns exclude, those over a budget, and private ones."""

from __future__ import annotations

import logging
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request

from semcrawl.crawl.attempt import ATTEMPT, ROBOTS, attempt_of
from semcrawl.crawl.crawllimits import INTERVAL
from semcrawl.crawl.downloadhandler import AddressRules
from semcrawl.crawl.failures import AddressRefused, Excluded, OverBudget, PutBack
from semcrawl.crawl.session import session_of, spider_of
from semcrawl.web.hosts import host_of, is_private_address, is_reserved_name, pay_level_domain

logger = logging.getLogger(__name__)

_HOW_TO_ALLOW = " (SEMCRAWL_ALLOW_PRIVATE_ADDRESSES allows it)"
#: most hosts with a warning
_MOST_WARNED = 1000


class ExcludedLinksMiddleware:
    """Downloader middleware: ignores links that this run excludes, over a budget or paused."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise ``Excluded`` for an excluded link, ``OverBudget`` for one over a budget.

        What an operator has paused gets a ``PutBack``.

        Links that the limits of lists leave out get an ``IgnoreRequest``.
        """
        spider = spider_of(self._crawler)
        if spider is not None and spider.excludes(request):
            raise Excluded("excluded by a pattern (SEMCRAWL_INCLUDE, SEMCRAWL_EXCLUDE)")
        if spider is not None and (reason := spider.why_refused(request)):
            raise IgnoreRequest(reason)
        attempt, session = attempt_of(request), session_of(self._crawler)
        if attempt is None or session is None or session.intake.limits is None:
            return
        limits = session.intake.limits
        if limits.holds(attempt.url):
            raise PutBack("an operator has paused it", INTERVAL)
        if reason := limits.over_budget(attempt.url, attempt.link_state.depth):
            raise OverBudget(reason)


class PrivateAddressMiddleware:
    """Downloader middleware: refuses hosts of private networks, so that no page can lead us there.

    Names that are reserved for examples are refused too, unless any seed is on their domain.

    :class:`~semcrawl.crawl.downloadhandler.PublicResolver` refuses names that resolve to private
    addresses. A proxy resolves names itself, so with a proxy only the host in the URL is checked.
    """

    def __init__(self, rules: AddressRules, crawler: Crawler) -> None:
        self._rules = rules
        self._crawler = crawler
        #: refused hosts with a warning
        self._warned: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware from the settings."""
        return cls(AddressRules(crawler), crawler)

    def process_request(self, request: Request) -> None:
        """Raise ``AddressRefused`` for a private address that the user did not name."""
        host = host_of(request.url)
        if not host and spider_of(self._crawler) is None:
            return  # another spider of the project may ask for data: and file: addresses
        if is_private_address(host) and not self._rules.allow(host):
            raise AddressRefused(f"{host} is a private address")
        session = session_of(self._crawler)
        named = session is None or pay_level_domain(host) in session.intake.roots
        if is_reserved_name(host) and not named:
            raise AddressRefused(f"{host} is reserved for examples")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Warn of a refused request that has no record, once per host."""
        if not isinstance(exception, AddressRefused) or not self._is_own(request):
            return
        host = host_of(request.url)
        if host not in self._warned and len(self._warned) < _MOST_WARNED:
            self._warned.add(host)
            logger.warning(
                "%s is not requested: %s%s",
                request.url,
                exception,
                "" if is_reserved_name(host) else _HOW_TO_ALLOW,
            )

    @staticmethod
    def _is_own(request: Request) -> bool:
        """Whether a request has no record, as it is for neither a link nor a robots.txt."""
        return ATTEMPT not in request.meta and ROBOTS not in request.meta
