"""Obeys robots.txt, including its crawl delay; one worker fetches each file for all."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, StopDownload
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import ProtegoRobotParser, RobotParser, decode_robotstxt
from scrapy.utils.misc import build_from_crawler

from semcrawl.crawl.attempt import ROBOTS, TURN, header, lease_of, location_of
from semcrawl.crawl.dispatch import Turn
from semcrawl.crawl.downloadhandler import extra_download_slot
from semcrawl.crawl.failures import (
    AddressRefused,
    HostDown,
    PutBack,
    RobotsUnavailable,
    RobotsUnreachable,
)
from semcrawl.crawl.session import CrawlSession, session_of
from semcrawl.crawl.sharedrobots import (
    LONGEST,
    KnownRobots,
    RobotsAnswer,
    first_lines,
    parsed_size,
)
from semcrawl.settings.reader import fill, setting
from semcrawl.spiders.redirecting import retry_after
from semcrawl.web.hosts import origin_of
from semcrawl.web.robots import LargeRules, for_robot, names_of, plain_rules
from semcrawl.web.urls import resolve

logger = logging.getLogger(__name__)

#: status that stands for an unusable response to a request for robots.txt
_UNUSABLE = 400
#: bytes of text from which on rules are parsed in a thread
_LARGE = 32 * 1024
#: bytes from which on parsed rules are not kept, but their text if possible (estimated)
_MOST_PARSED = 1 << 20
#: most lines that every URL needs to be parsed again; with more, large rules are not kept as text
_MOST_OTHERS = 500
#: most redirects of a robots.txt (RFC 9309, section 2.3.1.2: at least five)
_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """Seconds for which files of robots.txt hold, and waits that are obeyed."""

    #: longest crawl delay; 0: none is obeyed
    longest_delay: float = setting("SEMCRAWL_MAX_CRAWL_DELAY")
    #: seconds after which a file is fetched again (RFC 9309: at most a day)
    lifetime: float = 86_400.0
    #: seconds until a file that failed (status 5xx or 429) is requested again
    retry: float = 30.0
    #: longest Retry-After
    longest_retry: float = setting("SEMCRAWL_MAX_RETRY_AFTER")


class PacedRobotsMiddleware(RobotsTxtMiddleware):
    """Obeys robots.txt (RFC 9309), and sets its Crawl-delay or Request-rate in the frontier (T.8).

    One worker fetches the file for all workers and spiders, and again after
    a day. If there is none (status 4xx), everything is allowed. If
    the server fails (5xx), refuses for now (429) or cannot be reached, nothing is allowed: its
    links are tried again after 30 seconds, or later if its ``Retry-After``
    says so. Of a long file the first 512 KiB count, whatever the limits of documents.

    The crawl delay of the file holds, up to ``SEMCRAWL_MAX_CRAWL_DELAY`` seconds; without one,
    ``SEMCRAWL_CRAWL_DELAY`` does. The request for the file, and for each of its redirects, counts
    for the host's pace: the link that needs the file gives up its turn and goes back.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        rules = fill(RobotsRules, settings)
        self._longest = rules.longest_delay
        self._obey = rules.longest_delay > 0
        self._lifetime = rules.lifetime
        self._retry = rules.retry
        self._follows = settings.getbool("REDIRECT_ENABLED")
        self._longest_retry = rules.longest_retry
        self._agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        self._names = names_of(str(self._agent))
        #: bytes received of each robots.txt
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        #: held while a large file is parsed
        self._parsing = asyncio.Lock()
        #: number of requests for robots.txt under way
        self._asking = 0

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Stop the download of a robots.txt once enough of it has arrived."""
        if ROBOTS in request.meta:
            received = self._received[request] = self._received.get(request, 0) + len(data)
            if received > LONGEST:
                raise StopDownload(fail=False)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the request's origin.

        Raises ``RobotsUnavailable`` or ``RobotsUnreachable`` if they cannot be known now, and
        ``PutBack`` if the link must go back while they are fetched.
        """
        session = session_of(self.crawler)
        if session is None:
            return await super().robot_parser(request)
        origin = origin_of(request.url)
        lease = lease_of(request)
        known = await session.robots.get(
            origin, partial(self._ask, session, origin), self._read, lease
        )
        if known is None:
            raise PutBack("its robots.txt is requested first")
        answer, rules = known.answer, known.rules
        if not answer.available:
            raise RobotsUnavailable(f"robots.txt: HTTP status {answer.status}", answer.until)
        if lease is not None and not lease.held and rules.delay:
            # the link was leased when the host had no delay
            await self._set_pace(session, origin, rules.delay)
            raise PutBack("the host asks for a delay")
        if isinstance(rules.parser, LargeRules):
            return await self._rules_for(rules.parser, request.url)
        parser: RobotParser = rules.parser
        return parser

    async def _ask(self, session: CrawlSession, origin: str, turn: Turn | None) -> KnownRobots:
        """Fetch the robots.txt of an origin, and set the crawl delay that it asks for.

        Each request has its own turn; ``turn`` is for the first.
        """
        url: str | None = f"{origin}/robots.txt"
        self._stats.inc_value("robotstxt/request_count")
        for _ in range(_REDIRECTS + 1):
            if url is None:
                break
            turn = turn or await session.turns.next(session.intake.host_key(url))
            try:
                response = await self._send(url, turn)
                location = location_of(response) if response is not None else ""
                if response is None:
                    url = None
                elif self._follows and 300 <= response.status < 400 and location:
                    url = resolve(url, location)
                else:
                    known = await self._read(self._answer(response))
                    if known.rules is not None and known.rules.delay is not None:
                        await self._set_pace(session, origin, known.rules.delay)
                    return known
            finally:
                await turn.end()
            turn = None
        # too many redirects (RFC 9309, 2.3.1.2), or an unusable response
        return await self._read(RobotsAnswer(_UNUSABLE, b"", time.time() + self._lifetime))

    async def _send(self, url: str, turn: Turn) -> Response | None:
        """Send one request; return ``None`` for an unusable response."""
        engine = self.crawler.engine
        if engine is None:
            raise RobotsUnreachable("robots.txt: the crawl has ended")
        meta = {"dont_obey_robotstxt": True, "dont_redirect": True, "dont_retry": True}
        request = Request(
            url,
            priority=self.DOWNLOAD_PRIORITY,
            meta={**meta, ROBOTS: True, TURN: turn},
            callback=NO_CALLBACK,
        )
        try:
            with self._counted(), extra_download_slot(self.crawler):
                return await engine.download_async(request)
        except (AddressRefused, HostDown, PutBack):
            raise
        except (IgnoreRequest, DownloadCancelledError) as error:
            logger.debug("%s: %s", url, error)  # too large when decoded
            return None
        except Exception as error:
            self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            raise RobotsUnreachable("robots.txt cannot be requested") from error

    def _answer(self, response: Response) -> RobotsAnswer:
        """Return the status and rules of a response, and when they expire."""
        now = time.time()
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        body, whole = plain_rules(response.body, 2 * LONGEST)
        rules = first_lines(body, whole=whole and "download_stopped" not in response.flags)
        answer = RobotsAnswer(response.status, rules, now + self._lifetime)
        if not answer.available:
            asked = retry_after(header(response, b"Retry-After")) or 0.0
            wait = max(self._retry, min(asked, self._longest_retry))
            return RobotsAnswer(response.status, b"", now + wait)
        return answer

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count bytes only while a robots.txt arrives, as the signal costs time for every page."""
        self._asking += 1
        if self._asking == 1:
            self.crawler.signals.connect(self.bytes_received, signals.bytes_received)
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self.crawler.signals.disconnect(self.bytes_received, signals.bytes_received)

    async def _read(self, answer: RobotsAnswer) -> KnownRobots:
        """Parse the rules of an answer, large ones in a thread, one after the other."""
        if not answer.available:
            return KnownRobots(answer)
        if len(answer.rules) < _LARGE:
            return self._parsed(answer)
        async with self._parsing:
            return await asyncio.to_thread(self._parsed, answer)

    def _parsed(self, answer: RobotsAnswer) -> KnownRobots:
        """Parse the rules of an answer, or keep them as text."""
        rules = for_robot(decode_robotstxt(answer.rules, None), self._names)
        size = parsed_size(answer.rules)
        kind: Any = self._parserimpl
        if size >= _MOST_PARSED and issubclass(kind, ProtegoRobotParser):
            lines = LargeRules(rules)
            if lines.others <= _MOST_OTHERS:
                delay = self._delay_of(self._parser(lines.for_url("")))
                return KnownRobots(answer, _Rules(lines, delay), lines.size)
        parser = self._parser(rules)
        return KnownRobots(answer, _Rules(parser, self._delay_of(parser)), size)

    async def _rules_for(self, rules: LargeRules, url: str) -> RobotParser:
        """Parse the rules that may decide on a URL, many in a thread."""
        text = rules.for_url(url)
        if len(text) < _LARGE:
            return self._parser(text)
        async with self._parsing:
            return await asyncio.to_thread(self._parser, text)

    def _parser(self, text: str) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parserimpl, self.crawler, text.encode())
        return parser

    async def _set_pace(self, session: CrawlSession, origin: str, delay: float) -> None:
        """Set a host's crawl delay in the frontier.

        Hosts that share the pace of their domain get the longest of their delays. A longer one that
        an operator has set stays.
        """
        host = session.intake.host_key(origin + "/")
        shared = session.intake.pace_by == "domain"
        if session.intake.limits is not None:
            ordered, _ = session.intake.limits.orders.delays.get(host, (0.0, 0.0))
            delay = max(delay, ordered)
        await session.frontier.pace.set(host, delay=delay, at_least=shared)

    def _delay_of(self, rules: RobotParser) -> float | None:
        """Return the crawl delay of the rules, up to the longest that the settings allow."""
        parsed = getattr(rules, "rp", None)
        delay = asked_delay(parsed, self._agent) if parsed is not None and self._obey else None
        return None if delay is None else min(delay, self._longest)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of a robots.txt."""

    parser: RobotParser | LargeRules
    #: crawl delay to obey, in seconds
    delay: float | None


def asked_delay(rules: Any, agent: str) -> float | None:
    """Return the crawl delay of a robots.txt, in seconds; ``None`` if it names none."""
    delays = []
    if (delay := rules.crawl_delay(agent)) is not None:
        delays.append(float(delay))
    rate = rules.request_rate(agent)
    if rate is not None and rate.requests:
        try:
            delays.append(rate.seconds / rate.requests)
        except OverflowError:  # a number of hundreds of digits
            delays.append(inf)
    return max(delays, default=None)
