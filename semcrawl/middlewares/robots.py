"""robots.txt: Scrapy's own middleware, and the pace that the file asks for."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import Request
from scrapy.robotstxt import RobotParser

from semcrawl.frontier.contract import Lease
from semcrawl.frontier.scheduler import LEASE
from semcrawl.frontier.session import CrawlSession


class PacedRobotsMiddleware(RobotsTxtMiddleware):
    """Obeys robots.txt, and tells the frontier its Crawl-delay or Request-rate (T.8).

    The file's delay holds, up to ``SEMCRAWL_MAX_CRAWL_DELAY`` seconds; where it asks for none,
    ``SEMCRAWL_CRAWL_DELAY``. Fetching the file counts as a request to the host: the
    page that made us ask for it waits for the delay. So do requests that are no link's (JSON-LD
    contexts), after any other to the same host.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._delay = settings.getfloat("SEMCRAWL_CRAWL_DELAY")
        self._longest = settings.getfloat("SEMCRAWL_MAX_CRAWL_DELAY")
        self._obey = settings.getbool("SEMCRAWL_OBEY_CRAWL_DELAY")
        self._agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        self._delays: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        #: when the last request to a host left, or will leave (monotonic clock)
        self._last: dict[str, float] = {}
        crawler.signals.connect(self._robots_parsed, signals.robots_parsed)

    async def process_request(self, request: Request, spider: Any = None) -> None:
        """Ask robots.txt; when it had to be fetched first, keep the delay after it."""
        netloc = request.url.split("/", 3)[2]
        first = netloc not in self._parsers and not request.meta.get("dont_obey_robotstxt")
        await super().process_request(request)
        delay = self._delays.get(netloc, self._delay)
        if first and delay > 0:
            await asyncio.sleep(delay)
        if request.meta.get("dont_obey_robotstxt"):
            return
        if LEASE not in request.meta:
            # the frontier keeps the pace of links only
            turn = max(self._last.get(netloc, 0.0) + delay, time.monotonic())
            self._last[netloc] = turn
            await asyncio.sleep(turn - time.monotonic())
        else:
            self._last[netloc] = max(self._last.get(netloc, 0.0), time.monotonic())

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the request's host, fetched once.

        Scrapy 2.19 lets requests that come meanwhile wait on one Deferred, whose result only the
        first of them gets; the others would be let through. So they wait here.
        """
        netloc = request.url.split("/", 3)[2]
        async with self._locks.setdefault(netloc, asyncio.Lock()):
            return await super().robot_parser(request)

    async def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        rules = getattr(robotparser, "rp", None)
        lease: Lease | None = request.meta.get(LEASE)
        session: CrawlSession | None = getattr(self.crawler.spider, "session", None)
        if rules is None or not self._obey:
            return
        delay = asked_delay(rules, self._agent)
        if delay is None:
            return
        delay = min(delay, self._longest)
        self._delays[request.url.split("/", 3)[2]] = delay
        if lease is None or session is None:
            return
        await session.frontier.set_pace(lease.entry.host, delay=delay, concurrency=1)


def asked_delay(rules: Any, agent: str) -> float | None:
    """Return the seconds between requests that a robots.txt asks for; ``None`` if it does not."""
    delays = []
    if (delay := rules.crawl_delay(agent)) is not None:
        delays.append(float(delay))
    rate = rules.request_rate(agent)
    if rate is not None and rate.requests:
        delays.append(float(rate.seconds) / float(rate.requests))
    return max(delays, default=None)
