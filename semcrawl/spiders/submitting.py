"""Addresses that others submit while the crawl runs."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qs

from aiohttp import web
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from semcrawl.errors import FrontierError, UsageError
from semcrawl.settings.reader import fill, setting
from semcrawl.spiders.focused import FocusedSpider
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import to_utf8

logger = logging.getLogger(__name__)

#: most bytes, and most addresses, of a ping
_LONGEST, _MOST = 64 * 1024, 100
#: most callers that are remembered
_MOST_CALLERS = 10_000
_HELP = (
    "This is a crawl of semcrawl. Submit addresses by POST: text/plain with one in each line, or a "
    "form with the field url.\n"
)


@dataclass(frozen=True, slots=True)
class PingOptions:
    """Where pings are taken, and how many."""

    port: int = setting("SEMCRAWL_PING_PORT")
    host: str = setting("SEMCRAWL_PING_HOST")
    per_minute: float = 60.0


class PingAddress:
    """Extension: takes pings on ``SEMCRAWL_PING_HOST`` and ``SEMCRAWL_PING_PORT``.

    Of several spiders in a process, the one named ``html`` takes them.
    """

    def __init__(self, crawler: Crawler, host: str, port: int, per_minute: float) -> None:
        self._crawler = crawler
        self._host = host
        self._port = port
        self._callers = CallerLimits(per_minute)
        self._runner: web.AppRunner | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension if the settings name a port."""
        settings: BaseSettings = crawler.settings
        options = fill(PingOptions, settings)
        port = options.port
        spider = getattr(crawler.spidercls, "name", "")
        if not port or (settings.getbool("SEMCRAWL_HARVEST") and spider != "html"):
            raise NotConfigured
        if not 0 < port < 1 << 16:
            raise UsageError(f"SEMCRAWL_PING_PORT must be a port, not {port}")
        extension = cls(crawler, options.host, port, options.per_minute)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    async def spider_opened(self) -> None:
        """Listen; if the port is taken, log one line and let the crawl go on."""
        if not isinstance(self._crawler.spider, FocusedSpider):
            return
        app = web.Application(client_max_size=_LONGEST)
        app.router.add_post("/{path:.*}", self._take)
        app.router.add_get("/{path:.*}", self._help)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            logger.error("no pings are taken on %s:%d: %s", self._host, self._port, reason)
            return
        logger.info("Pings are taken on http://%s:%d/", self._host, self._port)

    async def spider_closed(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _help(self, request: web.Request) -> web.Response:
        return web.Response(text=_HELP)

    async def _take(self, request: web.Request) -> web.Response:
        """Read a ping, and submit its addresses if the caller is within its limit."""
        if "Origin" in request.headers:
            # a page in somebody's browser must not steer a crawl
            return web.Response(status=403, text="pings from web pages are refused\n")
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return web.Response(status=413, text=f"more than {_LONGEST} bytes\n")
        try:
            urls = addresses_in(request.headers.get("Content-Type", ""), body)
            if not urls or len(urls) > _MOST:
                raise ValueError(f"it names {len(urls)} addresses; 1 to {_MOST} may be named")
        except ValueError as error:
            self._count("refused")
            return _answer(400, str(error))
        wait = self._callers.wait(request.remote or "", len(urls))
        if wait:
            self._count("refused", len(urls))
            answer = _answer(429, f"too many pings: come back in {wait:.0f} seconds")
            answer.headers["Retry-After"] = f"{wait:.0f}"
            return answer
        return await self._submit(urls)

    async def _submit(self, urls: list[str]) -> web.Response:
        spider = self._crawler.spider
        if not isinstance(spider, FocusedSpider):
            return _answer(503, "the crawl has ended")
        lines, taken = [], 0
        for url in urls:
            try:
                is_new = await spider.submissions.take(url)
            except UsageError as error:
                lines.append(f"{url[:200]}: refused, {error}")
                self._count("refused")
                continue
            except FrontierError as error:
                return _answer(503, str(error))
            taken += 1
            self._count("accepted" if is_new else "repeated")
            lines.append(f"{url}: {'will be fetched soon' if is_new else 'was submitted before'}")
        return _answer(202 if taken else 422, "\n".join(lines))

    def _count(self, name: str, number: int = 1) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"semcrawl/ping/{name}", number)


class CallerLimits:
    """Limits how many addresses each caller submits per minute, and at once."""

    def __init__(self, per_minute: float) -> None:
        """``per_minute``: that number; 0 = no limit."""
        self._per_minute = per_minute
        #: how many addresses each caller may submit, as of a time (``time.monotonic``)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str, count: int) -> float:
        """Count addresses of a caller; return 0, or the seconds until it may submit them.

        A ping of more addresses than a minute allows passes after a minute without pings.
        """
        if not self._per_minute:
            return 0.0
        now = time.monotonic()
        left, then = self._left.pop(caller, (self._per_minute, now))
        left = min(self._per_minute, left + (now - then) * self._per_minute / 60)
        needed = min(float(count), self._per_minute)
        allowed = left >= needed
        self._left[caller] = (left - count if allowed else left), now
        while len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)
        return 0.0 if allowed else max(1.0, (needed - left) * 60 / self._per_minute)


def _answer(status: int, message: str) -> web.Response:
    return web.Response(status=status, text=message + "\n")


def addresses_in(content_type: str, body: bytes) -> list[str]:
    """Return the addresses in a plain POST: one per line, or the ``url`` fields of a form."""
    text = to_utf8(body, content_type).data.decode("utf-8", "replace")
    media = media_type(content_type)
    if media == "application/x-www-form-urlencoded":
        lines = parse_qs(text, max_num_fields=1000).get("url", [])
    else:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return list(dict.fromkeys(filter(None, map(str.strip, lines))))
