"""What an answer calls for, by its status, and which failures are tried again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, NamedTuple

from semcrawl.crawl.redirects import REDIRECTS
from semcrawl.frontier.links import LinkState
from semcrawl.settings.reader import fill, read_switch, setting

#: seconds before the first retry; doubled for each further retry
_RETRY_DELAY = 2.0


class Course(Enum):
    """What is to be done with an answer."""

    GUESSED_WRONG = auto()  #: a guessed address does not exist; it is not tried again
    NO_SITEMAP = auto()  #: a guessed sitemap leads to something else
    MOVED = auto()
    UNCHANGED = auto()
    FAILED = auto()
    BODY = auto()


def course_of(
    state: LinkState, status: int, location: str, *, choices: bool = False, part: bool = False
) -> Course:
    """Return what the answer to a link calls for.

    ``choices``: a page of choices has something to read; it is read as a page, once nothing better
    can be had. ``part``: the body is only the end of the document.
    """
    moved = status in REDIRECTS and bool(location)
    if state.is_guess and status >= HTTPStatus.BAD_REQUEST:
        return Course.GUESSED_WRONG
    if moved and state.is_guess and state.is_sitemap and "sitemap" not in location.lower():
        return Course.NO_SITEMAP
    if moved:
        return Course.MOVED
    if status == HTTPStatus.NOT_MODIFIED:
        return Course.UNCHANGED
    success = 200 <= status < 300 or (status == HTTPStatus.MULTIPLE_CHOICES and choices)
    return Course.BODY if success and not part else Course.FAILED


class GiveBack(NamedTuple):
    """A link goes back for another try, after some seconds."""

    state: LinkState
    delay: float


@dataclass(frozen=True, slots=True)
class RetryRules:
    """Which failures are tried again (``RETRY_…``, ``SEMCRAWL_MAX_RETRY_AFTER``)."""

    #: statuses of passing failures
    codes: frozenset[int] = frozenset({500, 502, 503, 504, 522, 524, 408, 429})
    #: most retries of a link
    times: int = 2
    #: seconds; a server that asks for more is not asked again in this run
    longest_wait: float = setting("SEMCRAWL_MAX_RETRY_AFTER")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> RetryRules:
        """Read the settings of a crawl."""
        usual = cls()
        codes = settings.get("RETRY_HTTP_CODES", usual.codes)
        enabled = read_switch("RETRY_ENABLED", settings.get("RETRY_ENABLED", True))
        return fill(
            cls,
            settings,
            codes=frozenset(map(int, codes.split(",") if isinstance(codes, str) else codes)),
            times=int(settings.get("RETRY_TIMES", usual.times)) if enabled else 0,
        )

    def as_settings(self) -> dict[str, Any]:
        """Return the settings that give these rules, but for waits."""
        return {"RETRY_HTTP_CODES": sorted(self.codes), "RETRY_TIMES": self.times}

    def again(self, state: LinkState, wait: float = 0.0) -> GiveBack | None:
        """Return how a link goes back for a try after at least ``wait`` seconds, if it may."""
        if state.retries >= self.times:
            return None
        delay = max(min(self._delay(state), self.longest_wait), wait)
        return GiveBack(replace(state, retries=state.retries + 1), delay)

    def after_status(self, state: LinkState, status: int, wait: float | None) -> GiveBack | None:
        """Return how a link goes back after a status; ``wait``: as its server asks, in seconds."""
        if status not in self.codes or (wait is not None and wait > self.longest_wait):
            return None
        return self.again(state, wait or 0.0)

    def is_left(self, state: LinkState, status: int) -> bool:
        """Whether a failed query is tried no more: its endpoint will not answer it later either."""
        busy = status == HTTPStatus.SERVICE_UNAVAILABLE
        return bool(state.query) and not (busy and not state.retries and self.times > 0)

    def rest_after(self, state: LinkState, status: int, wait: float | None) -> float:
        """Return the seconds for which the host rests from all requests after a status."""
        if status not in self.codes or status != HTTPStatus.TOO_MANY_REQUESTS:
            return 0.0
        return min(max(wait or 0.0, self._delay(state)), self.longest_wait)

    @staticmethod
    def _delay(state: LinkState) -> float:
        return _RETRY_DELAY * float(2**state.retries)
