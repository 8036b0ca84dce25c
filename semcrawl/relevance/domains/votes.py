"""Votes of fetched pages, and the scores of pages that they link to (sources.md I)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from statistics import fmean

#: most pages of each mapping; the oldest are forgotten
_MAX_PAGES = 200_000
#: most remembered pages that link to one page
_CITING = 16


@dataclass(slots=True)
class Vote:
    """The vote of a page: the share of its images and near texts that match."""

    matching: float = 0.0
    seen: int = 0
    #: number of its links to pages that could not be fetched
    failing: int = 0

    @property
    def value(self) -> float:
        """The vote, 0 to 1; a failing link counts as an image that does not match."""
        seen = self.seen + self.failing
        return self.matching / seen if seen else 0.0


@dataclass
class Votes:
    """The votes of pages, and the links between them."""

    #: returns the pay-level domain of a URL
    domain_of: Callable[[str], str]
    #: returns the weighted PageRank of a URL, I's priority(P)
    priority_of: Callable[[str], float]
    #: most groups of other domains in the mean
    groups: int = 3
    seed: int = 0
    pages: dict[str, Vote] = field(default_factory=dict)
    #: waiting page → pages that link to it
    citing: dict[str, list[str]] = field(default_factory=dict)
    #: page that could not be fetched → pages that link to it and lost a part of their vote
    failed: dict[str, list[str]] = field(default_factory=dict)

    def of(self, page: str) -> float:
        """Return the vote of a page, 0 to 1; 0 for an unknown page."""
        vote = self.pages.get(page)
        return 0.0 if vote is None else vote.value

    def count(self, page: str, matching: float, seen: int) -> None:
        """Add to a page's vote: its near texts, or the outcome of an image of it."""
        vote = self.pages.setdefault(page, Vote())
        vote.matching += matching
        vote.seen += seen
        _bound(self.pages)

    def cite(self, page: str, url: str) -> None:
        """Note that a page links to an unfetched one."""
        citing = self.citing.setdefault(url, [])
        if page not in citing and len(citing) < _CITING:
            citing.append(page)
        _bound(self.citing)

    def fetched(self, url: str, *, ok: bool) -> None:
        """Note whether a page could be fetched; pages that link to it lose or regain their vote."""
        citing = self.citing.pop(url, [])
        if ok:
            for page in self.failed.pop(url, ()):
                if (vote := self.pages.get(page)) is not None and vote.failing:
                    vote.failing -= 1
        elif url not in self.failed:
            self.failed[url] = citing
            for page in citing:
                self.pages.setdefault(page, Vote()).failing += 1
            _bound(self.failed)

    def score(self, url: str) -> float:
        """Return the score of an unfetched page.

        It is the mean vote of the pages in its domain that link to it. Without one, it is the mean
        of PR(group) = Σ ScoreLink(P)·priority(P) / count over a few random groups, one per other
        domain. **Reading**: ScoreLink(P) is P's vote.
        """
        citing, domain = self.citing.get(url, ()), self.domain_of(url)
        groups: dict[str, list[str]] = {}
        for page in citing:
            groups.setdefault(self.domain_of(page), []).append(page)
        if domain in groups:
            return fmean(map(self.of, groups[domain]))
        ranks = [
            fmean(self.of(page) * self.priority_of(page) for page in pages)
            for pages in groups.values()
        ]
        if len(ranks) > self.groups:
            chance = Random(f"{self.seed} {len(ranks)} {url}")
            ranks = chance.sample(ranks, self.groups)
        return fmean(ranks) if ranks else 0.0


def _bound(remembered: dict[str, object] | dict[str, Vote] | dict[str, list[str]]) -> None:
    """Forget the oldest, a tenth at once, as a dict walks over its deleted entries every time."""
    if len(remembered) > _MAX_PAGES:
        for name in list(islice(remembered, _MAX_PAGES // 10)):
            del remembered[name]
