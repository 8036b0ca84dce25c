"""Requests that get no response: the exceptions, and the outcomes that they give."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    DropItem,
    IgnoreRequest,
)
from scrapy.statscollectors import StatsCollector
from twisted.python.failure import Failure

from semcrawl.errors import ResultsGone, StoreError
from semcrawl.items import FetchOutcome
from semcrawl.metadata.summary import ROBOTS_FIRST

#: message of Scrapy's ``RobotsTxtMiddleware``, which has no exception of its own
_FORBIDDEN = "Forbidden by robots.txt"
#: longest message kept (characters)
_MAX_MESSAGE = 300


class AddressRefused(IgnoreRequest):
    """The host is, or resolves to, a private address that no seed names."""


class HostDown(IgnoreRequest):
    """The host is down and rests; nothing is sent."""


class Excluded(IgnoreRequest):
    """The patterns of the crawl exclude the link now; nothing is sent."""


class OverBudget(IgnoreRequest):
    """A budget of the link's host or domain is spent; nothing is sent."""


class PutBack(IgnoreRequest):
    """Sends the link back into the frontier instead of fetching it; this is no error.

    The link waits a little longer, or another worker has it by now. A downloader middleware can
    only say so with an ``IgnoreRequest``: Scrapy would count and record a response.
    """

    def __init__(self, message: str, delay: float = 0.0) -> None:
        """Give the reason, and the seconds for which the link waits."""
        super().__init__(message)
        self.delay = delay


class CrawlEnds(PutBack):
    """A request waited for its host's turn when the crawl was stopped."""

    def __init__(self) -> None:
        super().__init__("the crawl ends")


class FilesUsedUp(PutBack):
    """This process cannot open another file for a connection or a body; the host is fine."""


class RobotsUnavailable(IgnoreRequest):
    """The server fails to give its robots.txt; until it does, its links may not be fetched."""

    def __init__(self, message: str, until: float) -> None:
        """Give the reason, and when to ask again (seconds since the epoch)."""
        super().__init__(message)
        self.until = until


class RobotsUnreachable(IgnoreRequest):
    """The request for a robots.txt got no response; the cause says why."""


class ProxyAwayError(DownloadFailedError):
    """The proxy does not answer: our own network is at fault."""


class TooSlowError(DownloadTimeoutError):
    """A response arrives more slowly than ``SEMCRAWL_LEAST_RATE`` allows."""

    def __init__(self, rate: float) -> None:
        """Give the least rate, in bytes per second."""
        super().__init__(f"less than {rate:g} bytes/s")


class NameMissingError(CannotResolveHostError):
    """The host name does not exist."""


class HeadersTooLargeError(Exception):
    """The headers of a response and its interim responses (1xx) exceed the limit."""

    def __init__(self, limit: int) -> None:
        """Give the limit, in bytes."""
        super().__init__(f"headers of more than {limit} bytes")


def outcome_of_failure(failure: Failure) -> tuple[FetchOutcome, str]:
    """Return the outcome that a failure gives, and one line that says why."""
    error = failure.value
    if isinstance(error, RobotsUnreachable) and isinstance(error.__cause__, Exception):
        outcome, why = outcome_of_failure(Failure(error.__cause__))  # type: ignore[no-untyped-call]
        return outcome, f"{ROBOTS_FIRST}{why}"[:_MAX_MESSAGE]
    text = " ".join(str(error).split())[:_MAX_MESSAGE]
    message = f"{type(error).__name__}: {text}"[:_MAX_MESSAGE] if text else type(error).__name__
    if isinstance(error, AddressRefused):
        return FetchOutcome.ADDRESS_REFUSED, text
    if isinstance(error, HostDown):
        return FetchOutcome.HOST_DOWN, text
    if isinstance(error, Excluded):
        return FetchOutcome.EXCLUDED, text
    if isinstance(error, OverBudget):
        return FetchOutcome.OVER_BUDGET, text
    if isinstance(error, IgnoreRequest) and error.__cause__ is None:
        robots = RobotsUnavailable | RobotsUnreachable
        forbidden = isinstance(error, robots) or text == _FORBIDDEN
        return FetchOutcome.ROBOTS_DENIED if forbidden else FetchOutcome.IGNORED, text
    # Scrapy's HttpCompressionMiddleware raises IgnoreRequest, with a cause, for a body that
    # unpacks to more than DOWNLOAD_MAXSIZE
    if isinstance(error, DownloadCancelledError | IgnoreRequest):
        return FetchOutcome.TOO_LARGE, text or "larger than its limit"
    if isinstance(error, HeadersTooLargeError):
        return FetchOutcome.TOO_LARGE, text
    if isinstance(error, DownloadTimeoutError):
        return FetchOutcome.TIMEOUT, message
    return FetchOutcome.NETWORK_ERROR, message


#: the stats ``semcrawl/NAME/failed`` count what could not be written: by our pipelines, by the
#: user's (``pipelines``), and to WARC files
_NAMES = ("quads", "embedded", "pages", "files", "images", "metadata", "pipelines", "warc")


class ItemNotWritten(DropItem):
    """An item could not be written: its link must not count as done.

    It is a ``DropItem`` because Scrapy logs those in one line. ``Acknowledgement.item_dropped``
    tells it from an item dropped on purpose.
    """

    def __init__(self, reason: StoreError | str) -> None:
        """Give the reason, in one line."""
        #: earlier results are gone as well: the crawl ends and reports why
        self.ends_crawl = isinstance(reason, ResultsGone)
        super().__init__(str(reason), log_level="INFO" if self.ends_crawl else "ERROR")


def end_crawl(crawler: Crawler, reason: str) -> None:
    """End the crawl as its results are gone; a spider without a session goes on."""
    session = getattr(crawler.spider, "session", None)
    if session is not None:
        session.fail(reason)


def stats_of(crawlers: Iterable[Crawler]) -> list[StatsCollector]:
    """Return the stats of the crawlers that have begun."""
    found = []
    for crawler in crawlers:
        with suppress(RuntimeError):  # Scrapy raises it before a crawl begins
            if crawler.stats is not None:
                found.append(crawler.stats)
    return found


def lost_results(crawlers: Iterable[Crawler]) -> int:
    """How many results of a run could not be written."""
    names = [f"semcrawl/{name}/failed" for name in _NAMES]
    return sum(int(each.get_value(name, 0)) for each in stats_of(crawlers) for name in names)


def lost_feeds(crawlers: Iterable[Crawler]) -> bool:
    """Whether a feed export failed, or an item could not be put into a feed; the log says why."""
    return any(
        name.startswith(("feedexport/failed_count/", "semcrawl/feeds/failed"))
        for each in stats_of(crawlers)
        for name in each.get_stats()
    )
