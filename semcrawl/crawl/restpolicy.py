"""Policies of rests: how much a host's rest grows with a failure, and when a page is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol, runtime_checkable

from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Weighing

#: failed checks after which a page is gone (sources.md I)
_GONE_AFTER = 4
#: pages whose checks are remembered
_REMEMBERED = 10_000


class RestPolicyName(StrEnum):
    """The policies, as ``SEMCRAWL_HOST_REST_POLICY`` names them."""

    #: every failed check adds the same; pages wait until their host is given up
    EVEN = "even"
    #: RestTime += α·PageRank(page); a page is gone after four failed checks (sources.md I)
    PAGERANK = "pagerank"


@runtime_checkable
class RestPolicy(Protocol):
    """The rule by which hosts rest."""

    def step(self, url: str) -> float:
        """Seconds that a failure of this page adds to its host's rest; a success subtracts them."""
        ...

    def is_gone(self, url: str) -> bool:
        """Count a failed check of a page whose host is down; return whether to give it up."""
        ...

    def answered(self, url: str) -> None:
        """Note that a page was fetched."""
        ...


class EvenRests:
    """Every check changes the rest by the same number of seconds."""

    def __init__(self, rest: float) -> None:
        """``rest``: that number."""
        self._rest = rest

    def step(self, url: str) -> float:
        """Return the same number for all pages."""
        return self._rest

    def is_gone(self, url: str) -> bool:
        """Return false: pages wait for their host."""
        return False

    def answered(self, url: str) -> None:
        """Do nothing."""


class PageRankRests:
    """RestTime += α·PageRank(page), and -= on success; α is a number of seconds.

    **Reading**: a check is a request that finds out whether a host that is down answers again.
    Each worker counts its own checks. The crawl gives a host up as early as with
    :class:`EvenRests`, even if some of its pages had fewer checks.
    """

    def __init__(self, rest: float, pagerank: Callable[[str], float]) -> None:
        """``rest`` is α; ``pagerank`` returns the PageRank of a page (1 on average)."""
        self._rest, self._pagerank = rest, pagerank
        self._failed: Counter[str] = Counter()

    def step(self, url: str) -> float:
        """Return α·PageRank(page)."""
        return self._rest * max(0.0, self._pagerank(url))

    def is_gone(self, url: str) -> bool:
        """Count a failed check; the page is gone with the fourth."""
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
    """Make a policy; every page has PageRank 1 unless the strategy knows better."""
    if name is RestPolicyName.EVEN:
        return EvenRests(rest)
    weighs = strategy.importance if isinstance(strategy, Weighing) else lambda _: 1.0
    return PageRankRests(rest, weighs)
