"""Finds out from the records why addresses gave nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus

from semcrawl.items import FAILED, FetchOutcome
from semcrawl.links import Reason
from semcrawl.metadata.tally import ROBOTS_FIRST
from semcrawl.web.hosts import netloc_of

#: reasons that are no names of outcomes
UNAUTHORIZED, FORBIDDEN, NOT_FOUND = "unauthorized", "forbidden", "not-found"
_WITH_WORDS = [outcome for outcome in FetchOutcome if outcome.means.words]

#: texts by reason, in order of display
MISSED_WORDS: Mapping[str, str] = {
    Reason.OUT_OF_SCOPE: FetchOutcome.OUT_OF_SCOPE.means.words,
    Reason.EXCLUDED: FetchOutcome.EXCLUDED.means.words,
    Reason.TOO_DEEP: "deeper than DEPTH_LIMIT",
    Reason.DYNAMIC_DEPTH: "behind SEMCRAWL_DYNAMIC_DEPTH documents without a target",
    Reason.HARD_FOCUS: "of documents that are not about the topic (SEMCRAWL_FOCUS=hard)",
    Reason.NOFOLLOW: "that their page asks robots not to follow",
    Reason.SITEMAPS_ONLY: "of pages, as only sitemaps are followed",
    Reason.OTHER_PROPERTY: "of properties that SEMCRAWL_RDF_LINKS leaves out",
    Reason.LINKS_PER_PAGE: "after SEMCRAWL_MAX_LINKS_PER_PAGE links of a document",
    Reason.CATALOGUE_PAGES: "after SEMCRAWL_MAX_CATALOGUE_PAGES pages of a catalogue",
    Reason.PRUNED: "dropped by the strategy",
    Reason.OTHER_TYPE: "to images, styles and other types by their address",
    **{each: each.means.words for each in _WITH_WORDS if not each.means.problem},
    UNAUTHORIZED: "only with a password (401)",
    FORBIDDEN: "refused (403)",
    NOT_FOUND: "not found (404, 410)",
    FAILED: "failed, retries included",
    **{each: each.means.words for each in _WITH_WORDS if each.means.problem},
}

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

_REASONS = {
    str(each): each.means.missed or str(each)
    for each in FetchOutcome
    if each.means.missed or each.means.words
}


def why_missed(outcome: str, status: int | None, errors: str) -> str:
    """Return why an attempt gave nothing; empty if it gave something or was redirected."""
    if errors.startswith(ROBOTS_FIRST):
        return FAILED
    if outcome == FetchOutcome.HTTP_ERROR and status is not None:
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return FAILED
        return _BY_STATUS.get(status, outcome)
    return _REASONS.get(outcome, "")


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
