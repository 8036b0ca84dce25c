"""Finds out from the records why addresses gave nothing."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus

from semcrawl.items import FetchOutcome
from semcrawl.metadata.tally import ROBOTS_FIRST
from semcrawl.web.hosts import netloc_of

#: reasons that are no names of outcomes
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, FAILED = "unauthorized", "forbidden", "not-found", "failed"

_BY_STATUS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: UNAUTHORIZED,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: FORBIDDEN,
    HTTPStatus.NOT_FOUND: NOT_FOUND,
    HTTPStatus.GONE: NOT_FOUND,
    HTTPStatus.REQUEST_TIMEOUT: FAILED,
    HTTPStatus.TOO_EARLY: FAILED,
    HTTPStatus.TOO_MANY_REQUESTS: FAILED,
}
#: outcomes of attempts without an answer, or with one that was not read to the end
_FAILURES = frozenset(
    {
        FetchOutcome.NETWORK_ERROR,
        FetchOutcome.TIMEOUT,
        FetchOutcome.HOST_DOWN,
        FetchOutcome.INTERRUPTED,
    }
)
#: outcomes that are reasons themselves
_REASONS = frozenset(
    {
        FetchOutcome.ROBOTS_DENIED,
        FetchOutcome.NOT_KEPT,
        FetchOutcome.OFF_TOPIC,
        FetchOutcome.OUT_OF_SCOPE,
        FetchOutcome.ADDRESS_REFUSED,
        FetchOutcome.TOO_LARGE,
        FetchOutcome.PARSE_ERROR,
        FetchOutcome.IGNORED,
        FetchOutcome.OVER_BUDGET,
        FetchOutcome.HTTP_ERROR,
    }
)


def why_missed(outcome: str, status: int | None, errors: str) -> str:
    """Return why an attempt gave nothing; empty if it gave something or was redirected."""
    if outcome in _FAILURES or errors.startswith(ROBOTS_FIRST):
        return FAILED
    if outcome == FetchOutcome.HTTP_ERROR and status is not None:
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return FAILED
        return _BY_STATUS.get(status, outcome)
    return outcome if outcome in _REASONS else ""


class Missed:
    """Addresses whose last attempt gave nothing, by reason."""

    def __init__(self) -> None:
        #: by address, reason and host
        self._last: dict[str, tuple[str, str]] = {}

    def note(self, url: str, final_url: str, outcome: str, status: int | None, errors: str) -> None:
        """Note an attempt; the last one of an address counts."""
        reason = why_missed(outcome, status, errors)
        if reason:
            where = final_url if outcome == FetchOutcome.OUT_OF_SCOPE and final_url else url
            self._last[url] = reason, netloc_of(where)
        else:
            self._last.pop(url, None)

    def by_reason(self) -> dict[str, Counter[str]]:
        """Count the addresses by reason and host (with its port)."""
        found: dict[str, Counter[str]] = {}
        for reason, host in self._last.values():
            found.setdefault(reason, Counter())[host] += 1
        return found
