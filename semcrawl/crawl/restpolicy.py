"""By how much a host's rest grows with a failure, and when a page of it counts as gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from semcrawl.errors import UsageError
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Weighing

#: failed checks after which a page is gone (sources.md I)
_GONE_AFTER = 4
#: pages whose checks are remembered
_REMEMBERED = 10_000


class RestPolicyName(StrEnum):
    """The policies, as ``SEMCRAWL_HOST_REST_POLICY`` names them."""

    #: every failed check adds the same, and a page waits as long as its host is waited for
    EVEN = "even"
    #: RestTime += α·PageRank(page); a page is gone after four failed checks (sources.md I)
    PAGERANK = "pagerank"

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> RestPolicyName:
        """Read the setting; raise ``UsageError`` for anything else."""
        value = settings.get("SEMCRAWL_HOST_REST_POLICY") or cls.EVEN
        try:
            return cls(str(value).strip().lower())
        except ValueError:
            names = " or ".join(cls)
            raise UsageError(f"SEMCRAWL_HOST_REST_POLICY must be {names}, not {value!r}") from None


@runtime_checkable
class RestPolicy(Protocol):
    """The rule by which hosts rest."""

    def step(self, url: str) -> float:
        """Seconds by which the rest of a page's host grows when it fails, and shrinks when not."""
        ...

    def is_gone(self, url: str) -> bool:
        """Count a failed check of a page whose host is down; whether the page is given up."""
        ...

    def answered(self, url: str) -> None:
        """Hear that a page was fetched."""
        ...


class EvenRests:
    """Every check says as much of its host as any other."""

    def __init__(self, rest: float) -> None:
        """Let rests grow by ``rest`` seconds each time."""
        self._rest = rest

    def step(self, url: str) -> float:
        """Always the same."""
        return self._rest

    def is_gone(self, url: str) -> bool:
        """Never: the host is waited for, and its links with it."""
        return False

    def answered(self, url: str) -> None:
        """Take no notice."""


class PageRankRests:
    """RestTime += α·PageRank(page), and the same less on success; α is a rest in seconds.

    **Reading**: a check is a request that asks whether a host that is down answers again. Each
    worker counts the checks that it makes. A host is waited for no longer than with
    :class:`EvenRests`, however many of its pages were not checked so often.
    """

    def __init__(self, rest: float, pagerank: Callable[[str], float]) -> None:
        """Take α, and what gives the PageRank of a page (1 on average)."""
        self._rest, self._pagerank = rest, pagerank
        self._failed: Counter[str] = Counter()

    def step(self, url: str) -> float:
        """α·PageRank(page)."""
        return self._rest * max(0.0, self._pagerank(url))

    def is_gone(self, url: str) -> bool:
        """Whether this was the fourth failed check of the page."""
        self._failed[url] += 1
        if self._failed[url] >= _GONE_AFTER:
            del self._failed[url]
            return True
        if len(self._failed) > _REMEMBERED:
            del self._failed[next(iter(self._failed))]
        return False

    def answered(self, url: str) -> None:
        """Forget the page's failed checks."""
        self._failed.pop(url, None)


def rest_policy(name: RestPolicyName, rest: float, strategy: Relevance) -> RestPolicy:
    """Make a policy; without a strategy that knows PageRank all pages have the mean of it, 1."""
    if name is RestPolicyName.EVEN:
        return EvenRests(rest)
    weighs = strategy.importance if isinstance(strategy, Weighing) else _mean
    return PageRankRests(rest, weighs)


def _mean(url: str) -> float:
    return 1.0
