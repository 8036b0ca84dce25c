"""robots.txt: read once for all workers, obeyed, and the pace that it asks for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, StopDownload
from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.misc import build_from_crawler

from semcrawl.frontier.contract import Lease
from semcrawl.frontier.robots import LONGEST, RobotsAnswer, first_lines
from semcrawl.frontier.scheduler import LEASE
from semcrawl.frontier.session import CrawlSession
from semcrawl.spiders.attempt import ROBOTS, header
from semcrawl.spiders.failures import (
    AddressRefused,
    HostDown,
    Postponed,
    RobotsUnavailable,
    RobotsUnreachable,
)
from semcrawl.spiders.retrying import retry_after

logger = logging.getLogger(__name__)

#: status that stands for a robots.txt which cannot be had though its server answers
_UNUSABLE = 400
#: redirects of a robots.txt that are followed (RFC 9309, section 2.3.1.2: at least five)
_REDIRECTS = 5


class PacedRobotsMiddleware(RobotsTxtMiddleware):
    """Obeys robots.txt (RFC 9309), and tells the frontier its Crawl-delay or Request-rate (T.8).

    The file is asked for once by all workers and spiders of a crawl, and again after
    ``SEMCRAWL_ROBOTS_LIFETIME`` seconds. Where there is none (status 4xx), all is allowed; where
    the server fails (5xx), refuses to be asked now (429) or cannot be reached, nothing is: its
    links are tried again later, after ``SEMCRAWL_ROBOTS_RETRY`` seconds or what its ``Retry-After``
    asks for. Of a long file the first 512 KiB count, whatever limits there are
    for documents.

    The file's delay holds, up to ``SEMCRAWL_MAX_CRAWL_DELAY`` seconds; where it asks for none,
    ``SEMCRAWL_CRAWL_DELAY``. Fetching the file counts as a request to the host: the
    page that made us ask for it goes back into the frontier and waits for the delay there.
    Requests that are no link's (JSON-LD contexts) wait for the delay after any other to the same
    host.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._delay = settings.getfloat("SEMCRAWL_CRAWL_DELAY")
        self._longest = settings.getfloat("SEMCRAWL_MAX_CRAWL_DELAY")
        self._obey = settings.getbool("SEMCRAWL_OBEY_CRAWL_DELAY")
        self._lifetime = settings.getfloat("SEMCRAWL_ROBOTS_LIFETIME")
        self._retry = settings.getfloat("SEMCRAWL_ROBOTS_RETRY")
        self._longest_retry = settings.getfloat("SEMCRAWL_MAX_RETRY_AFTER")
        self._agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        self._delays: dict[str, float] = {}
        #: when the last request to a host left, or will leave (monotonic clock)
        self._last: dict[str, float] = {}
        #: bytes received of each robots.txt
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        #: how many of them are being asked for
        self._asking = 0

    def bytes_received(self, data: bytes, request: Request) -> None:
        """End the download of a robots.txt when enough of it is there."""
        if ROBOTS in request.meta:
            received = self._received[request] = self._received.get(request, 0) + len(data)
            if received > LONGEST:
                raise StopDownload(fail=False)

    async def process_request(self, request: Request, spider: Any = None) -> None:
        """Ask robots.txt; a request that is no link's waits for its turn."""
        await super().process_request(request)
        if request.meta.get("dont_obey_robotstxt"):
            return
        netloc = urlsplit(request.url).netloc
        now = time.monotonic()
        if LEASE not in request.meta:
            # the frontier keeps the pace of links only
            delay = self._delays.get(netloc, self._delay)
            turn = max(self._last.get(netloc, -delay) + delay, now)
            self._last[netloc] = turn
            await asyncio.sleep(turn - now)
        else:
            self._last[netloc] = max(self._last.get(netloc, now), now)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the request's origin.

        Raises ``RobotsUnavailable`` or ``RobotsUnreachable`` when they cannot be known now, and
        ``Postponed`` when they were asked for just now, and the request comes too soon after.
        """
        session: CrawlSession | None = getattr(self.crawler.spider, "session", None)
        if session is None:
            return await super().robot_parser(request)
        parts = urlsplit(request.url)
        origin = f"{parts.scheme}://{parts.netloc}"

        async def ask() -> RobotsAnswer:
            answer = await self._ask(f"{origin}/robots.txt")
            self._last[parts.netloc] = time.monotonic()
            if answer.available:
                await self._set_pace(session, request, self._parse(answer.rules))
            return answer

        answer, rules, asked = await session.robots.get(origin, ask, self._parse)
        if parts.netloc not in self._delays or asked:
            self._delays[parts.netloc] = self._delay_of(rules)
        if not answer.available:
            raise RobotsUnavailable(f"robots.txt: HTTP status {answer.status}", answer.until)
        if asked and self._delays[parts.netloc] > 0 and LEASE in request.meta:
            raise Postponed("the host was asked for its robots.txt just now")
        parsed: RobotParser = rules
        return parsed

    async def _ask(self, url: str) -> RobotsAnswer:
        """Send the request."""
        engine = self.crawler.engine
        if engine is None:
            raise RobotsUnreachable("robots.txt: the crawl has ended")
        request = Request(
            url,
            priority=self.DOWNLOAD_PRIORITY,
            meta={
                "dont_obey_robotstxt": True,
                "dont_retry": True,
                "redirect_ttl": _REDIRECTS,
                ROBOTS: True,
            },
            callback=NO_CALLBACK,
        )
        self._stats.inc_value("robotstxt/request_count")
        now = time.time()
        try:
            with self._counted():
                response = await engine.download_async(request)
        except (AddressRefused, HostDown):
            raise
        except (IgnoreRequest, DownloadCancelledError) as error:
            # too many redirects (RFC 9309, 2.3.1.2), or too large when unpacked
            logger.debug("%s: %s", url, error)
            return RobotsAnswer(_UNUSABLE, b"", now + self._lifetime)
        except Exception as error:
            self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            raise RobotsUnreachable("robots.txt cannot be asked for") from error
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        rules = first_lines(response.body, whole="download_stopped" not in response.flags)
        answer = RobotsAnswer(response.status, rules, now + self._lifetime)
        if not answer.available:
            asked = retry_after(header(response, b"Retry-After")) or 0.0
            wait = max(self._retry, min(asked, self._longest_retry))
            return RobotsAnswer(response.status, b"", time.time() + wait)
        return answer

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Have bytes counted while a robots.txt comes in; pages need not pay for the signal."""
        self._asking += 1
        if self._asking == 1:
            self.crawler.signals.connect(self.bytes_received, signals.bytes_received)
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self.crawler.signals.disconnect(self.bytes_received, signals.bytes_received)

    def _parse(self, rules: bytes) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parserimpl, self.crawler, rules)
        return parser

    async def _set_pace(self, session: CrawlSession, request: Request, rules: RobotParser) -> None:
        """Tell the frontier the delay that the file asks for, if it does.

        Where hosts share a pace, that of their domain, the longest of their delays holds.
        """
        lease: Lease | None = request.meta.get(LEASE)
        delay = self._asked(rules)
        if lease is not None and delay is not None:
            shared = session.options.pace_by == "domain"
            await session.frontier.set_pace(lease.entry.host, delay=delay, at_least=shared)

    def _delay_of(self, rules: RobotParser | None) -> float:
        """Return the delay that holds."""
        delay = self._asked(rules)
        return self._delay if delay is None else delay

    def _asked(self, rules: RobotParser | None) -> float | None:
        """Return the delay that is asked for, as far as it is obeyed."""
        parsed = getattr(rules, "rp", None)
        delay = asked_delay(parsed, self._agent) if parsed is not None and self._obey else None
        return None if delay is None else min(delay, self._longest)


def asked_delay(rules: Any, agent: str) -> float | None:
    """Return the seconds between requests that a robots.txt asks for; ``None`` if it does not."""
    delays = []
    if (delay := rules.crawl_delay(agent)) is not None:
        delays.append(float(delay))
    rate = rules.request_rate(agent)
    if rate is not None and rate.requests:
        delays.append(float(rate.seconds) / float(rate.requests))
    return max(delays, default=None)
