"""Times and sizes of every request as it really went over the wire."""

from __future__ import annotations

import time
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from semcrawl.bodies import body_file
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.scheduler import LEASE
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.spiders.attempt import ENDED, RECEIVED, ROBOTS, STARTED, content_type
from semcrawl.spiders.failures import Foreseen, Postponed, outcome_of_failure


class AttemptMiddleware:
    """Downloader middleware next to the downloader: what passes here is sent.

    Stamps the request, tells the frontier that it leaves, and records the requests that belong to
    no link (robots.txt).
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Note that the request leaves now.

        Raises ``Postponed`` for a link whose lease ran out: the process stood still so long that
        another worker may be at it; ``Foreseen`` for one that is known to lead elsewhere.
        """
        lease: Lease | None = request.meta.get(LEASE)
        spider: Any = self.crawler.spider
        session = getattr(spider, "session", None)
        if lease is not None and session is not None:
            if target := spider.foreseen(request):
                raise Foreseen(target)
            if not await session.starts(lease):
                raise Postponed("its lease ran out before it was sent")
        request.meta[STARTED] = time.time()

    def process_response(self, request: Request, response: Response) -> Response:
        """Note when the response was whole, and its size as received."""
        request.meta[ENDED] = time.time()
        file = body_file(request.meta)
        request.meta[RECEIVED] = len(response.body) if file is None else file.size
        if file is not None or "download_stopped" in response.flags:
            # Scrapy's cache would give it back as an empty one
            request.meta["dont_cache"] = True
        if LEASE not in request.meta:
            self._record(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note when it failed."""
        request.meta[ENDED] = time.time()
        if LEASE not in request.meta:
            failure = Failure(exception)  # type: ignore[no-untyped-call]
            self._record(request, None, *outcome_of_failure(failure))

    def _record(
        self,
        request: Request,
        response: Response | None,
        outcome: FetchOutcome = FetchOutcome.FETCHED_ROBOTS,
        error: str = "",
    ) -> None:
        """Record a request that is no link's."""
        spider: Any = self.crawler.spider
        emit = getattr(spider, "emit", None)
        if emit is None or STARTED not in request.meta or ROBOTS not in request.meta:
            return
        started, ended = request.meta[STARTED], request.meta[ENDED]
        record = FetchRecord(
            url=request.url,
            outcome=outcome,
            final_url=request.url,
            errors=error,
            started_at=started,
            elapsed=max(0.0, ended - started),
        )
        if response is not None:
            record.status = response.status
            record.content_type = content_type(response)
            record.bytes = len(response.body)
        emit(record)
