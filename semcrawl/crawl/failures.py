"""Requests without a response: the reasons, and the outcomes that they give."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from twisted.python.failure import Failure

from semcrawl.items import FetchOutcome
from semcrawl.metadata.tally import ROBOTS_FIRST

#: message of Scrapy's ``RobotsTxtMiddleware``, which has no exception of its own
_FORBIDDEN = "Forbidden by robots.txt"
#: longest message kept (characters)
_MAX_MESSAGE = 300


class AddressRefused(IgnoreRequest):
    """The host is, or resolves to, a private address that nobody asked for."""


class HostDown(IgnoreRequest):
    """The host does not answer and rests; nothing is sent."""


class OverBudget(IgnoreRequest):
    """A budget of the link's host or domain is spent; nothing is sent."""


class PutBack(IgnoreRequest):
    """A decision, no error: nothing is sent now, and the link goes back into the frontier.

    It waits there a little longer, or is another worker's by now. Scrapy lets a downloader
    middleware decide so by an ``IgnoreRequest`` only: a response would be counted and recorded.
    """

    def __init__(self, message: str, delay: float = 0.0) -> None:
        """Give the reason, and for how many seconds more the link waits."""
        super().__init__(message)
        self.delay = delay


class FilesUsedUp(PutBack):
    """This process has no file left to open, for a connection or a body: no fault of the host."""


class RobotsUnavailable(IgnoreRequest):
    """The server failed to give its robots.txt: until it does, nothing may be asked for."""

    def __init__(self, message: str, until: float) -> None:
        """Give the reason, and when (seconds since the epoch) it is asked for again."""
        super().__init__(message)
        self.until = until


class RobotsUnreachable(IgnoreRequest):
    """A robots.txt could not be asked for; the cause says why."""


class ProxyAwayError(DownloadFailedError):
    """The proxy that requests go through does not answer: our own network is to blame."""


class TooSlowError(DownloadTimeoutError):
    """A response came more slowly than ``SEMCRAWL_LEAST_RATE`` allows."""

    def __init__(self, rate: float) -> None:
        """Give the least rate, in bytes per second."""
        super().__init__(f"less than {rate:g} bytes/s")


class NameMissingError(CannotResolveHostError):
    """There is no such name."""


class HeadersTooLargeError(Exception):
    """A response has more headers, interim responses (1xx) included, than are read."""

    def __init__(self, limit: int) -> None:
        """Give the limit, in bytes."""
        super().__init__(f"headers of more than {limit} bytes")


def outcome_of_failure(failure: Failure) -> tuple[FetchOutcome, str]:
    """Return the outcome and one line that says why."""
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
    if isinstance(error, OverBudget):
        return FetchOutcome.OVER_BUDGET, text
    if isinstance(error, IgnoreRequest) and error.__cause__ is None:
        robots = RobotsUnavailable | RobotsUnreachable
        forbidden = isinstance(error, robots) or text == _FORBIDDEN
        return FetchOutcome.ROBOTS_DENIED if forbidden else FetchOutcome.IGNORED, text
    # HttpCompressionMiddleware ignores what unpacks to more than DOWNLOAD_MAXSIZE, and says why
    if isinstance(error, DownloadCancelledError | IgnoreRequest):
        return FetchOutcome.TOO_LARGE, text or "larger than its limit"
    if isinstance(error, HeadersTooLargeError):
        return FetchOutcome.TOO_LARGE, text
    if isinstance(error, DownloadTimeoutError):
        return FetchOutcome.TIMEOUT, message
    return FetchOutcome.NETWORK_ERROR, message
