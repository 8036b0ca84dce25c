"""Reads pages after their scripts have run, under the rules of the crawl."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self
from urllib.parse import urldefrag, urlsplit

from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from semcrawl.config.logins import read_logins
from semcrawl.config.options import BrowserOptions
from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.attempt import content_type, errand, location_of
from semcrawl.crawl.browser import (
    Bounds,
    Browser,
    NoBrowserError,
    Part,
    Rendered,
    RenderingError,
    Wanted,
)
from semcrawl.crawl.downloadhandler import extra_download_slot
from semcrawl.crawl.failures import CrawlEnds, outcome_of_failure
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links.pagetexts import waits_for_scripts
from semcrawl.metadata.summary import PART, RENDERED
from semcrawl.reading.pool import ReadingLost
from semcrawl.reading.reader import Reader
from semcrawl.recent import Recent
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import body_file
from semcrawl.web.hosts import (
    host_of,
    is_private_address,
    is_private_ip,
    netloc_of,
    origin_of,
)
from semcrawl.web.urls import resolve

logger = logging.getLogger(__name__)

#: the origin of a page, and the address of its script
_Key = tuple[str, str]

_MAX_REDIRECTS = 5
#: bytes of one part of a page, and seconds for it
_MOST_BYTES, _SECONDS = 8 << 20, 20.0
#: bytes of scripts that are kept for further pages
_MOST_KEPT = 32 << 20
#: hosts whose failing pages are told of, each once
_MOST_TOLD = 1000
#: headers that pages do not see
_HIDDEN = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"}
)


@dataclass(frozen=True, slots=True)
class PartRules:
    """What the crawl decides about addresses, and does with records; by default nothing."""

    #: whether patterns of the user exclude an address
    excludes: Callable[[str], bool] = lambda url: False
    #: takes the records of requests
    emit: Callable[[FetchRecord], None] = lambda record: None
    #: counts a request that was sent
    count: Callable[[str], None] = lambda url: None


class PageRenderer:
    """Gives pages to the browser, and what they ask for to the downloader.

    Parts of pages pass the downloader middlewares: they obey robots.txt, wait for their hosts'
    turns, and never come from private addresses that the user did not name. Each request is
    recorded. Scripts are kept for the further pages of a site. If the browser fails, that says
    nothing about a page, which is read as it was fetched. Stats: ``semcrawl/browser/pages``,
    ``semcrawl/browser/failures``, ``semcrawl/browser/requests``.
    """

    def __init__(self, crawler: Crawler, options: BrowserOptions, rules: PartRules) -> None:
        self._crawler = crawler
        self._options = options
        self._rules = rules
        self._logins = read_logins(crawler.settings)
        self._allows_private = fill(TransferOptions, crawler.settings).allow_private
        self._browser = Browser(
            str(crawler.settings["USER_AGENT"]), Bounds(seconds=options.seconds)
        )
        #: scripts, the oldest first, and their bytes
        self._scripts: OrderedDict[_Key, Part] = OrderedDict()
        self._kept = 0
        #: held while a script is fetched, so that pages of a site ask for it once
        self._asking: Recent[_Key, asyncio.Lock] = Recent(1000, asyncio.Lock)
        self._told: Recent[str, bool] = Recent(_MOST_TOLD)
        self._ended = False

    @classmethod
    def from_settings(cls, crawler: Crawler, rules: PartRules | None = None) -> Self:
        """Make it from the settings. Raises ``UsageError``."""
        options = fill(BrowserOptions, crawler.settings)
        options.check()
        return cls(crawler, options, rules or PartRules())

    async def wants(self, reader: Reader, url: str, body: bytes, media: str) -> bool:
        """Whether a page is to be read after its scripts have run."""
        if any(pattern.holds(url) for pattern in self._options.hosts):
            return True
        if self._options.use != "auto":
            return False
        try:
            return await reader.run(waits_for_scripts, body, media or None, url=url)
        except ReadingLost as lost:
            if lost.ours:
                raise
            return False

    async def render(self, url: str, response: Response) -> Response | None:
        """Run the scripts of a page; return it as it is then, or ``None`` if that failed.

        Where its scripts wanted to go stands in a ``Refresh`` header. Raises ``ReadingLost`` if the
        crawl ends meanwhile.
        """
        headers = _headers(response)
        if "html" not in content_type(response).lower():
            headers["content-type"] = "text/html"
        try:
            rendered = await self._browser.render(
                url, headers, response.body, partial(self._answer, url)
            )
        except (NoBrowserError, RenderingError) as error:
            if self._ended:
                raise ReadingLost("the crawl ends", ours=True) from error
            self._fail(url, error)
            return None
        self._count("semcrawl/browser/pages")
        return _rendered(response, rendered)

    def end(self) -> None:
        """Give up the pages that are in the browser: the crawl ends."""
        self._ended = True
        self._browser.give_up()

    async def close(self) -> None:
        """End the browser."""
        self.end()
        await self._browser.close()

    def _count(self, stat: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(stat)

    def _fail(self, url: str, error: Exception) -> None:
        """Count a failure; log it once for each host, and once if there is no browser."""
        self._count("semcrawl/browser/failures")
        about = netloc_of(url) if isinstance(error, RenderingError) else ""
        what = url if about else "all pages"
        if self._crawler.stats is not None:
            self._crawler.stats.set_value("semcrawl/browser/problem", f"{what}: {error}")
        if about not in self._told:
            self._told[about] = True
            logger.warning("read without a browser: %s: %s", what, error)

    # -- parts of pages

    async def _answer(self, page: str, wanted: Wanted) -> Part | None:
        """Return what a page asks for; ``None`` if it does not get it."""
        url = urldefrag(wanted.url).url
        if wanted.kind != "script":
            return await self._fetch(page, url, wanted)
        key = origin_of(page), url  # another origin may not see what is behind a login
        async with self._asking[key]:
            if key in self._scripts:
                self._scripts.move_to_end(key)
                return self._scripts[key]
            part = await self._fetch(page, url, wanted)
            if part is not None and part.status == 200:
                self._keep(key, part)
            return part

    def _keep(self, key: _Key, part: Part) -> None:
        self._scripts[key] = part
        self._kept += len(part.body)
        while self._kept > _MOST_KEPT:
            _, oldest = self._scripts.popitem(last=False)
            self._kept -= len(oldest.body)

    async def _fetch(self, page: str, url: str, wanted: Wanted) -> Part | None:
        """Fetch a part, over its redirects."""
        target: str | None = url
        for _ in range(_MAX_REDIRECTS + 1):
            if target is None or self._ended or not self._may_ask(page, target):
                return None
            record, response = await self._ask(page, target, wanted)
            self._rules.emit(record)
            if response is None or self._is_foreign(page, response):
                return None
            if not 300 <= response.status < 400:
                return Part(response.status, _headers(response), response.body)
            target = resolve(target, location_of(response))
        return None

    def _may_ask(self, page: str, url: str) -> bool:
        """Whether a page may have an address, as far as no middleware decides.

        What is behind a login, or in a private network, is only for pages of the same origin.
        """
        if self._rules.excludes(url) or "@" in urlsplit(url).netloc:
            return False
        if origin_of(url) == origin_of(page):
            return True
        private = not self._allows_private and is_private_address(host_of(url))
        return not private and self._logins.of(url) is None

    def _is_foreign(self, page: str, response: Response) -> bool:
        """Whether an answer came from a private network to a page of another origin."""
        if self._allows_private or origin_of(response.url) == origin_of(page):
            return False
        return response.ip_address is not None and is_private_ip(str(response.ip_address))

    async def _ask(
        self, page: str, url: str, wanted: Wanted
    ) -> tuple[FetchRecord, Response | None]:
        """Send one request; return its record, and the response if it is whole."""
        record = FetchRecord(url, FetchOutcome.NETWORK_ERROR, url, page, rules=(PART,))
        record.started_at = time.time()
        headers = {"Accept": wanted.accept}
        if wanted.kind != "script" and origin_of(url) != origin_of(page):
            headers["Origin"] = origin_of(page)
        request = errand(url, headers, _SECONDS, _MOST_BYTES)
        if (engine := self._crawler.engine) is None:
            return record, None
        try:
            with extra_download_slot(self._crawler):
                response = await engine.download_async(request)
        except CrawlEnds:
            self._ended = True
            record.outcome = FetchOutcome.INTERRUPTED
            return record, None
        except Exception as error:
            record.outcome, record.errors = outcome_of_failure(Failure(error))  # type: ignore[no-untyped-call]
            return record, None
        finally:
            record.elapsed = time.time() - record.started_at
        self._rules.count(url)
        self._count("semcrawl/browser/requests")
        _note(record, response)
        return record, response if body_file(request.meta) is None else None


def _note(record: FetchRecord, response: Response) -> None:
    """Note in a record what the response to it says."""
    record.status = response.status
    record.content_type = content_type(response)
    record.bytes = len(response.body)
    record.real_type = "other"
    if 300 <= response.status < 400 and (target := resolve(record.url, location_of(response))):
        record.outcome, record.final_url = FetchOutcome.REDIRECTED, target
    elif 200 <= response.status < 300:
        record.outcome = FetchOutcome.FETCHED_OTHER
    else:
        record.outcome, record.errors = FetchOutcome.HTTP_ERROR, f"HTTP status {response.status}"


def _headers(response: Response) -> dict[str, str]:
    """Return the headers of a response, except those that are about its transfer, or secrets."""
    found = {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }
    return {name: value for name, value in found.items() if name not in _HIDDEN}


def _rendered(response: Response, rendered: Rendered) -> Response:
    """Return a response with the page that the browser wrote.

    A byte order mark tells its encoding, whatever headers and page say. That the server's page is
    unchanged says nothing about it, so that there are no validators for re-visits.
    """
    headers = response.headers.copy()
    for name in (b"ETag", b"Last-Modified"):
        headers.pop(name, None)
    if rendered.led_to.startswith(("http:", "https:")):
        headers.appendlist(b"Refresh", f"0; url={rendered.led_to}".encode())
    return response.replace(
        body=f"\ufeff{rendered.html}".encode("utf-8", "replace"),
        headers=headers,
        flags=[*response.flags, RENDERED],
    )
