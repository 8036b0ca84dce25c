"""Notes time and size of every request that is sent, and keeps the pace of hosts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Self
from uuid import uuid4

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.stats import DownloaderStats, get_status_size
from scrapy.http import Headers, Request, Response
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from twisted.python.failure import Failure

from semcrawl.crawl.attempt import (
    AT_ADDRESS,
    ATTEMPT,
    ENDED,
    LEAVES,
    RECEIVED,
    ROBOTS,
    STARTED,
    TURN,
    content_type,
    lease_of,
)
from semcrawl.crawl.dispatch import Turn
from semcrawl.crawl.downloadhandler import AiohttpDownloadHandler, extra_download_slot
from semcrawl.crawl.failures import PutBack, outcome_of_failure
from semcrawl.crawl.session import CrawlSession, session_of, spider_of
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Lease
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.web.bodies import body_file
from semcrawl.web.hosts import is_private_address

#: key of ``Request.meta``: the turn that a request waited for in this middleware
_OWN_TURN = "semcrawl_own_turn"


class AttemptMiddleware:
    """Downloader middleware next to the downloader: every request that passes it is sent.

    It notes when the request starts and ends, tells the frontier when it is sent, and records
    requests for robots.txt. A request that belongs to no link waits here for its host's next turn,
    and leaves its slot to others meanwhile.

    A request counts as sent once it has a connection, as looking a name up and connecting may take
    longer than the crawl delay. With another download handler it counts as sent here.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        handlers = crawler.settings.getwithbase("DOWNLOAD_HANDLERS")
        #: schemes whose handler reports when it sends a request
        self._reporting = {name for name, handler in handlers.items() if _reports(handler)}
        #: number of requests that wait for their turn
        self._waiting = 0
        self._most_waiting = crawler.settings.getint("SEMCRAWL_MAX_LEASES")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Note that the request is sent.

        Raises ``PutBack`` for a link whose lease has expired, as another worker may have it.
        """
        session = session_of(self.crawler)
        if session is not None:
            lease = lease_of(request)
            if lease is None:
                turn = request.meta.get(TURN) or await self._next_turn(session, request)
                leaves, paced = partial(_leaves, turn.starts), bool(turn.errand)
                host = turn.host
            else:
                session.send(lease)
                if session.intake.limits is not None:
                    session.intake.limits.sent(request.url)
                leaves, paced = partial(_leaves, partial(session.leaves, lease)), lease.held
                host = lease.entry.host
            if request.url.partition(":")[0] in self._reporting:
                request.meta[LEAVES] = leaves
                if paced and session.options.address.delay:
                    request.meta[AT_ADDRESS] = AddressGate(session, host, lease)
            else:
                await leaves()
        request.meta[STARTED] = time.time()

    async def _next_turn(self, session: CrawlSession, request: Request) -> Turn:
        """Wait for the host's next turn; it ends with the download."""
        lends = self._waiting < self._most_waiting
        self._waiting += 1
        try:
            with extra_download_slot(self.crawler) if lends else nullcontext():
                turn = await session.turns.next(session.intake.host_key(request.url))
        finally:
            self._waiting -= 1
        request.meta[_OWN_TURN] = turn
        return turn

    def _end_turn(self, request: Request) -> None:
        """End a request's turns at its host and its address in the background."""
        if (session := session_of(self.crawler)) is None:
            return
        turn: Turn | None = request.meta.pop(_OWN_TURN, None)
        gate: AddressGate | None = request.meta.pop(AT_ADDRESS, None)
        if turn is not None:
            session.turns.run_in_background(turn.end())
        if gate is not None:
            session.turns.run_in_background(gate.over())

    def process_response(self, request: Request, response: Response) -> Response:
        """Note when the response was complete, and how many bytes were received."""
        request.meta[ENDED] = time.time()
        file = body_file(request.meta)
        request.meta[RECEIVED] = len(response.body) if file is None else file.size
        if file is not None or "download_stopped" in response.flags:
            # Scrapy's cache would return it with an empty body
            request.meta["dont_cache"] = True
        self._end_turn(request)
        if ATTEMPT not in request.meta:
            self._record(request, response)
        session, lease = session_of(self.crawler), lease_of(request)
        if session is not None and lease is not None:
            session.received(lease)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note when the request failed."""
        request.meta[ENDED] = time.time()
        if isinstance(exception, PutBack | FrontierError):
            request.meta.pop(STARTED, None)  # it was not sent
        self._end_turn(request)
        if ATTEMPT not in request.meta:
            failure = Failure(exception)  # type: ignore[no-untyped-call]
            self._record(request, None, *outcome_of_failure(failure))

    def _record(
        self,
        request: Request,
        response: Response | None,
        outcome: FetchOutcome = FetchOutcome.FETCHED_ROBOTS,
        error: str = "",
    ) -> None:
        """Record a request for a robots.txt."""
        spider = spider_of(self.crawler)
        if spider is None or STARTED not in request.meta or ROBOTS not in request.meta:
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
        spider.emit(record)


class AddressGate:
    """Lets one request through once its IP address may be asked.

    Until then the request waits; a link goes back instead.
    """

    def __init__(self, session: CrawlSession, host: str, lease: Lease | None) -> None:
        self._session = session
        self._limits = session.options.address
        self._host = host
        self._lease = lease
        self._name = uuid4().hex
        self._address = ""
        self._passed = False

    async def __call__(self, address: str) -> None:
        """Wait until the address may be asked; for a link, raise ``PutBack`` instead."""
        if self._passed or (is_private_address(address) and not self._limits.private):
            return
        pace, is_link = self._session.frontier.pace, self._lease is not None
        while wait := await pace.address(
            self._host, address, self._name, self._limits, rests=is_link
        ):
            if is_link:
                self._session.requests -= 1
                raise PutBack("its address is busy with other requests")
            await asyncio.sleep(wait)
        self._passed, self._address = True, address

    async def over(self) -> None:
        """Report that the request is over."""
        if self._address:
            address, self._address = self._address, ""
            await self._session.frontier.pace.address_over(address, self._name)


def _reports(handler: Any) -> bool:
    """Whether a download handler reports when it sends a request."""
    kind = load_object(handler) if handler is not None else None
    return isinstance(kind, type) and issubclass(kind, AiohttpDownloadHandler)


async def _leaves(may: Callable[[], Awaitable[bool]]) -> None:
    """Report that a request leaves; raise ``PutBack`` if it may not."""
    if not await may():
        raise PutBack("its lease ran out before it was sent")


class DownloadStats(DownloaderStats):
    """Downloader middleware: counts requests, responses and bytes as Scrapy's own does.

    Scrapy serialises each request to measure it. This adds up lengths, with the same sums.
    """

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Count a request."""
        count = self.stats.inc_value
        count("downloader/request_count")
        count(f"downloader/request_method_count/{request.method}")
        count("downloader/request_bytes", request_size(request))

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Count a response."""
        count = self.stats.inc_value
        count("downloader/response_count")
        count(f"downloader/response_status_count/{response.status}")
        count("downloader/response_bytes", response_size(response))
        return response


def request_size(request: Request) -> int:
    """Return the length of the result of :func:`scrapy.utils.request.request_httprepr`."""
    url = urlparse_cached(request)
    path = len(url.path) or 1
    for part in (url.params, url.query):
        if part:
            path += 1 + len(part)
    line = len(request.method) + len("  HTTP/1.1\r\n") + path
    host = len("Host: \r\n") + len(url.hostname or "")
    headers = _size(request.headers, ends=len("\r\n"))
    return line + host + headers + len("\r\n") + len(request.body)


def response_size(response: Response) -> int:
    """Return the length of a response as Scrapy adds it up."""
    status = get_status_size(response.status)
    # Scrapy counts one line end per header name, and none after the last
    headers = _size(response.headers) + len("\r\n") * (len(response.headers) - 1)
    return status + headers + len("\r\n\r\n") + len(response.body)


def _size(headers: Headers, ends: int = 0) -> int:
    """Return the length of header lines, with line ends of this length."""
    more = len(": ") + ends
    # ``Headers.items`` would look each name up again
    lines = dict.items(headers)
    return sum(len(name) + len(value) + more for name, values in lines for value in values)
