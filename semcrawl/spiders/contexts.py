"""Fetching the JSON-LD contexts that documents name, under the crawl's own rules."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from semcrawl.frontier.contexts import ContextCache
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.spiders.attempt import content_type, header
from semcrawl.spiders.failures import outcome_of_failure
from semcrawl.urls import normalise, resolve

#: what a context is asked for with (JSON-LD 1.1 API, section 9.4)
_ACCEPT = 'application/ld+json;profile="http://www.w3.org/ns/json-ld#context", application/ld+json, application/json;q=0.9, */*;q=0.1'  # noqa: E501
_MAX_REDIRECTS = 5
#: rounds of reading and fetching: contexts that name further ones
MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What may be fetched."""

    #: patterns of host names
    hosts: tuple[str, ...] = ("*",)
    max_bytes: int = 2 * 1024 * 1024
    #: seconds
    timeout: float = 20.0
    #: contexts that one process fetches in one run
    max_contexts: int = 200
    #: seconds between two requests
    delay: float = 1.0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read the settings."""
        return cls(
            tuple(name.strip().lower() for name in settings.getlist("SEMCRAWL_CONTEXT_HOSTS")),
            settings.getint("SEMCRAWL_MAX_CONTEXT_SIZE"),
            settings.getfloat("SEMCRAWL_CONTEXT_TIMEOUT"),
            settings.getint("SEMCRAWL_MAX_CONTEXTS"),
            settings.getfloat("SEMCRAWL_CRAWL_DELAY"),
        )

    def allow(self, url: str) -> bool:
        """Whether the host of a URL may be asked."""
        host = (urlsplit(url).hostname or "").lower()
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)


class ContextFetcher:
    """Fetches contexts once for all workers; every request is recorded.

    The requests pass the downloader middlewares, and so obey robots.txt and never go to private
    addresses.
    """

    def __init__(
        self,
        crawler: Crawler,
        cache: ContextCache,
        rules: ContextRules,
        emit: Callable[[FetchRecord], None],
    ) -> None:
        """Fetch through ``crawler``; records go to ``emit``."""
        self._crawler = crawler
        self._cache = cache
        self._rules = rules
        self._emit = emit
        self._pace = asyncio.Lock()
        self._last = 0.0

    async def fetch(self, urls: Iterable[str], parent: str) -> Mapping[str, bytes]:
        """Return those contexts that could be had, for the document at ``parent``."""
        found: dict[str, bytes] = {}
        for url in urls:
            async with self._cache.lock(url):
                context = await self._cache.get(url)
                if context is None:
                    context = await self._fetch(url, parent)
            if context:
                found[url] = context
        return found

    async def _fetch(self, url: str, parent: str) -> bytes:
        target = normalise(url)
        if target is None or self._cache.asked >= self._rules.max_contexts:
            await self._cache.put(url, None, lasting=False)
            return b""
        self._cache.asked += 1
        for _ in range(_MAX_REDIRECTS + 1):
            if not self._rules.allow(target):
                await self._cache.put(url, None, lasting=False)
                return b""
            record, body, location = await self._ask(target, parent)
            self._emit(record)
            if location is None:
                # what the network or a server's bad day is to blame for may be different tomorrow
                lasting = record.outcome not in (FetchOutcome.NETWORK_ERROR, FetchOutcome.TIMEOUT)
                await self._cache.put(url, body or None, lasting=lasting)
                return body
            target = location
        await self._cache.put(url, None)
        return b""

    async def _ask(self, url: str, parent: str) -> tuple[FetchRecord, bytes, str | None]:
        """Send one request; return its record, the context, and where a redirect leads."""
        engine = self._crawler.engine
        record = FetchRecord(url, FetchOutcome.NETWORK_ERROR, url, parent, rules=("context",))
        record.started_at = time.time()
        if engine is None:
            return record, b"", None
        request = Request(
            url,
            headers={"Accept": _ACCEPT},
            dont_filter=True,
            meta={
                "dont_redirect": True,
                "dont_retry": True,
                "handle_httpstatus_all": True,
                "download_timeout": self._rules.timeout,
                "download_maxsize": self._rules.max_bytes,
            },
        )
        async with self._pace:
            await asyncio.sleep(max(0.0, self._last + self._rules.delay - time.monotonic()))
            self._last = time.monotonic()
        try:
            response = await engine.download_async(request)
        except Exception as error:
            record.outcome, record.errors = outcome_of_failure(Failure(error))  # type: ignore[no-untyped-call]
            record.elapsed = time.time() - record.started_at
            return record, b"", None
        record.elapsed = time.time() - record.started_at
        return self._read(record, response)

    @staticmethod
    def _read(record: FetchRecord, response: Response) -> tuple[FetchRecord, bytes, str | None]:
        record.status = response.status
        record.content_type = content_type(response)
        record.bytes = len(response.body)
        if 300 <= response.status < 400 and (location := header(response, b"Location")):
            target = resolve(record.url, location)
            record.outcome = FetchOutcome.REDIRECTED if target else FetchOutcome.HTTP_ERROR
            record.final_url = target or record.url
            return record, b"", target
        if not 200 <= response.status < 300:
            record.outcome = FetchOutcome.HTTP_ERROR
            record.errors = f"HTTP status {response.status}"
            return record, b"", None
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
