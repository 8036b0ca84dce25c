"""Fetches the JSON-LD contexts that documents name, under the rules of the crawl."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from semcrawl.crawl.attempt import Attempt, content_type, errand, header_values, location_of
from semcrawl.crawl.downloadhandler import extra_download_slot, uncounted_by_scraper
from semcrawl.crawl.failures import CrawlEnds, outcome_of_failure
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import json_ld_alternate, link_header
from semcrawl.metadata.summary import CONTEXT, ROBOTS_FIRST
from semcrawl.rdf import Reading
from semcrawl.reading.pool import ReadingLost
from semcrawl.reading.reader import discard
from semcrawl.settings.reader import setting
from semcrawl.web.bodies import media_type
from semcrawl.web.hosts import host_of
from semcrawl.web.urls import normalise, resolve

#: ``Accept`` header of requests for contexts (JSON-LD 1.1 API, section 9.4)
_ACCEPT = 'application/ld+json;profile="http://www.w3.org/ns/json-ld#context", application/ld+json, application/json;q=0.9, */*;q=0.1'  # noqa: E501
_MAX_REDIRECTS = 5
#: seconds between two looks at a link in flight
_LOOK_AGAIN = 0.05
#: bytes of documents that may wait in addition to Scrapy's ``SCRAPER_SLOT_MAX_ACTIVE_SIZE``
_MOST_WAITING = 64 * 1024 * 1024
#: statuses of servers that are at fault for a while
_BUSY = frozenset({429, 500, 502, 503, 504})
#: most rounds of reading and fetching, as contexts may name further contexts
_MAX_ROUNDS = 5


def _lowered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(str.lower, names))


@dataclass(frozen=True, slots=True)
class ContextRules:
    """Limits on the contexts that are fetched."""

    #: patterns of host names
    hosts: tuple[str, ...] = setting("SEMCRAWL_CONTEXT_HOSTS", _lowered)
    max_bytes: int = 2 * 1024 * 1024
    #: seconds for one request
    timeout: float = 20.0
    #: contexts that one process fetches in one run
    max_contexts: int = 200
    #: the same, for one host
    max_of_host: int = 50
    #: requests at a time
    at_a_time: int = 32
    #: seconds that a document waits for its contexts
    patience: float = 300.0

    def allow(self, url: str) -> bool:
        """Whether contexts may be fetched from the host of a URL."""
        host = host_of(url)
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)


class ContextFetcher:
    """Fetches contexts, each once for all workers, and records every request.

    The requests pass the downloader middlewares: they obey robots.txt, wait for their hosts' turns,
    and never go to private addresses. Each host gets one request at a time.
    """

    def __init__(
        self,
        crawler: Crawler,
        session: CrawlSession,
        rules: ContextRules,
        emit: Callable[[FetchRecord], None],
    ) -> None:
        """Fetch through ``crawler``; records go to ``emit``."""
        self._crawler = crawler
        self._session = session
        self._rules = rules
        self._emit = emit
        #: contexts requested in this run, by host; the key "" has the total
        self._asked: Counter[str] = Counter()
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._places = asyncio.Semaphore(rules.at_a_time)
        #: bytes of waiting documents
        self._waiting = 0

    async def read_again(
        self,
        reading: Reading,
        read: Callable[[Mapping[str, bytes]], Awaitable[Reading]],
        document: Attempt,
        size: int,
    ) -> Reading:
        """Fetch the contexts that a reading needs, and call ``read`` with them.

        Meanwhile the document, of ``size`` bytes, keeps its lease but is not in flight.
        """
        contexts: dict[str, bytes] = {}
        tried: set[str] = set()
        for _ in range(_MAX_ROUNDS):
            missing = [url for url in reading.contexts_needed if url not in tried]
            tried.update(missing)
            if not missing:
                break
            found = await self.fetch(missing, document, size)
            if not found:
                break
            contexts.update(found)
            discard(reading)
            reading = await read(contexts)
        return reading

    async def keep(self, url: str, body: bytes) -> None:
        """Keep a context that was fetched as a link, so that no document fetches it again."""
        if len(body) <= self._rules.max_bytes:
            await self._session.contexts.keep(url, body)

    async def fetch(self, urls: Sequence[str], document: Attempt, size: int) -> dict[str, bytes]:
        """Return the contexts that arrive in time, for a document of ``size`` bytes.

        The document is not in flight while it waits.
        """
        self._session.waits(document.lease)
        urls = urls[: self._rules.max_contexts]
        size = size if self._waiting + size <= _MOST_WAITING else 0
        self._waiting += size
        try:
            with uncounted_by_scraper(self._crawler, size):
                return await self._fetch_all(urls, document.url)
        finally:
            self._waiting -= size

    async def _fetch_all(self, urls: Sequence[str], parent: str) -> dict[str, bytes]:
        get = self._session.contexts.get
        tasks = [
            asyncio.create_task(get(normalise(url) or url, partial(self._fetch, url, parent)))
            for url in urls
        ]
        if not tasks:
            return {}
        done, late = await asyncio.wait(tasks, timeout=self._rules.patience or None)
        for task in late:
            task.cancel()  # this ends the waiting; the shared request goes on
        found = {url: task.result() for url, task in zip(urls, tasks, strict=True) if task in done}
        return {url: context for url, context in found.items() if context}

    async def _fetch(self, url: str, parent: str) -> tuple[bytes, bool]:
        """Fetch a context; return it, and whether later runs may rely on the result."""
        target: str | None = normalise(url)
        if target is None or not self._rules.allow(target):
            return b"", False
        while self._is_in_flight(target):  # noqa: ASYNC110 - the link may give it
            await asyncio.sleep(_LOOK_AGAIN)
        if known := self._session.contexts.known(target):
            return known, True
        if not self._count_in(target):
            return b"", False
        asked: list[str] = []
        for _ in range(_MAX_REDIRECTS + 1):
            asked.append(target)
            async with self._hosts[host_of(target)], self._places:
                record, body, location = await self._ask(target, parent)
            self._emit(record)
            if location is None:
                for led in asked[1:] if body else ():
                    await self._session.contexts.keep(led, body)
                return body, _is_lasting(record)
            if not self._rules.allow(location):
                return b"", False
            target = location
        return b"", True

    def _is_in_flight(self, url: str) -> bool:
        """Whether a link to an address is being fetched, and does not wait for the context."""
        if url in self._session.contexts.awaited:
            return False
        return any(lease.entry.url == url for lease in self._session.in_flight)

    def _count_in(self, url: str) -> bool:
        """Return whether this run may fetch one more context; count it if so."""
        host = host_of(url)
        if self._asked[""] >= self._rules.max_contexts:
            return False
        if self._asked[host] >= self._rules.max_of_host:
            return False
        self._asked[""] += 1
        self._asked[host] += 1
        return True

    async def _ask(self, url: str, parent: str) -> tuple[FetchRecord, bytes, str | None]:
        """Send one request; return its record, the context, and where a redirect leads."""
        engine = self._crawler.engine
        record = FetchRecord(url, FetchOutcome.NETWORK_ERROR, url, parent, rules=(CONTEXT,))
        record.started_at = time.time()
        if engine is None:
            return record, b"", None
        request = errand(url, {"Accept": _ACCEPT}, self._rules.timeout, self._rules.max_bytes)
        try:
            with extra_download_slot(self._crawler):
                response = await engine.download_async(request)
        except CrawlEnds as error:  # the document is read by the next run
            raise ReadingLost(str(error), ours=True) from error
        except Exception as error:
            record.outcome, record.errors = outcome_of_failure(Failure(error))  # type: ignore[no-untyped-call]
            record.elapsed = time.time() - record.started_at
            return record, b"", None
        record.elapsed = time.time() - record.started_at
        self._session.count_errand(url)
        return self._read(record, response)

    @staticmethod
    def _read(record: FetchRecord, response: Response) -> tuple[FetchRecord, bytes, str | None]:
        record.status = response.status
        record.content_type = content_type(response)
        record.bytes = len(response.body)
        if 300 <= response.status < 400 and (location := location_of(response)):
            target = resolve(record.url, location)
            record.outcome = FetchOutcome.REDIRECTED if target else FetchOutcome.HTTP_ERROR
            record.final_url = target or record.url
            return record, b"", target
        if not 200 <= response.status < 300:
            record.outcome = FetchOutcome.HTTP_ERROR
            record.errors = f"HTTP status {response.status}"
            return record, b"", None
        headers = map(link_header, header_values(response, b"Link"))
        other = None if _is_json(record.content_type) else json_ld_alternate(headers, record.url)
        if other is not None and other != record.url:
            record.outcome, record.final_url = FetchOutcome.REDIRECTED, other
            record.errors = "its Link header names the JSON-LD"
            return record, b"", other
        try:
            document = json.loads(response.body)
        except (ValueError, RecursionError) as error:
            record.outcome = FetchOutcome.PARSE_ERROR
            record.errors = f"no JSON: {error}"[:300]
            return record, b"", None
        if not isinstance(document, dict) or "@context" not in document:
            record.outcome = FetchOutcome.PARSE_ERROR
            record.errors = "no JSON-LD context"
            return record, b"", None
        record.outcome = FetchOutcome.FETCHED_CONTEXT
        record.real_type = "context"
        return record, response.body, None


def _is_json(content_type: str) -> bool:
    media = media_type(content_type)
    return media == "application/json" or media.endswith("+json")


def _is_lasting(record: FetchRecord) -> bool:
    """Whether a result holds for later runs too, unlike a passing failure."""
    if record.outcome.means.passing or record.status in _BUSY:
        return False
    return not record.errors.startswith(ROBOTS_FIRST)
