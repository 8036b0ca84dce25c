"""The spider as the scheduler, the middlewares and the acknowledgement see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.contract import Lease, WaitingLink
from semcrawl.links import Link, Page
from semcrawl.relevance import Ranked


class SessionSpider(Protocol):
    """A spider that fetches the links of a session.

    :meth:`join` sets ``session``; for a spider that could not join it is missing or ``None``.
    """

    #: Scrapy's name of the spider
    name: str
    #: the session that it takes part in
    session: CrawlSession

    @property
    def queue(self) -> str:
        """Queue of the frontier that it fetches: ``html`` or ``rdf``."""

    @property
    def seed_key(self) -> str:
        """Name of its seed list."""

    @property
    def waits(self) -> bool:
        """Whether it has no seeds of its own and waits for some on that list."""

    # -- called by middlewares
    def excludes(self, request: Request) -> bool:
        """Whether the patterns that hold now exclude a link, which then waits for others."""

    # -- called by the scheduler
    def join(self, session: CrawlSession) -> None:
        """Take part in a session; raise ``UsageError`` if it cannot."""

    def make_request(self, lease: Lease) -> Request | None:
        """Return the request for a leased link.

        ``None`` if nothing is to be sent: the spider puts another link in its place.
        """

    def end_readings(self) -> None:
        """End the readings of documents that are under way; they are interrupted."""

    # -- called by the session
    def plant_raw(self, raw: list[str]) -> None:
        """Put raw seeds from its list into the frontier."""

    async def discover(self, page: Page, links: Sequence[Link], barren: int) -> tuple[Ranked, ...]:
        """Put the links of a page into the frontier; return the new ones."""

    # -- called by the acknowledgement
    async def plant_own(self) -> None:
        """Put its own seeds into the frontier."""

    async def plant_request(self, request: Request, *, own: bool = False) -> None:
        """Put a request without a callback into the frontier; ``own``: it is a seed."""

    async def until_over(self) -> None:
        """Wait until the crawl is over."""

    def abandoned(self, response: Response | Failure, reason: str) -> None:
        """Record a link whose callback failed or did not call ``super()``."""

    # -- called by the middlewares
    def why_refused(self, request: Request) -> str:
        """Say why this run does not fetch a link; empty if it does."""

    def emit(self, item: Any) -> None:
        """Send an item that belongs to no link to the pipelines."""

    def set_aside(self, links: Sequence[WaitingLink]) -> None:
        """Record links whose host was given up."""


def spider_of(crawler: Crawler) -> SessionSpider | None:
    """Return the crawler's spider if it can take part in a session, otherwise ``None``."""
    spider = crawler.spider
    return cast(SessionSpider, spider) if hasattr(spider, "make_request") else None


def session_of(crawler: Crawler) -> CrawlSession | None:
    """Return the session of the crawler's spider; ``None`` if it takes part in none."""
    session: CrawlSession | None = getattr(crawler.spider, "session", None)
    return session
