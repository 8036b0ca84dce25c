"""Votes of pages, and the score of a page that was not fetched by those that link to it (I)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from statistics import fmean

#: pages whose votes are remembered, and waiting or failed pages; the oldest are forgotten
_REMEMBERED = 200_000
#: pages that link to one page, of which so many are remembered
_CITING = 16


@dataclass(slots=True)
class Vote:
    """The yield of a page: matching images and near texts of those that it has."""

    matching: float = 0.0
    seen: int = 0
    #: links of it that lead to pages which could not be fetched
    failing: int = 0

    @property
    def value(self) -> float:
        """The vote, 0 to 1; a failing link counts as an image that does not match."""
        seen = self.seen + self.failing
        return self.matching / seen if seen else 0.0


@dataclass
class Votes:
    """Who links to what, and what the pages gave."""

    #: registered domain of a URL
    domain_of: Callable[[str], str]
    #: weighted PageRank of a URL: I's priority(P)
    priority_of: Callable[[str], float]
    #: groups of other domains whose mean counts
    groups: int = 3
    seed: int = 0
    pages: dict[str, Vote] = field(default_factory=dict)
    #: waiting page → pages that link to it
    citing: dict[str, list[str]] = field(default_factory=dict)
    #: page that could not be fetched → pages that link to it, and lost a part of their vote
    failed: dict[str, list[str]] = field(default_factory=dict)

    def of(self, page: str) -> float:
        """The vote of a page, 0 to 1; 0 for one that is not known."""
        vote = self.pages.get(page)
        return 0.0 if vote is None else vote.value

    def count(self, page: str, matching: float, seen: int) -> None:
        """Take in what a page has, or what an image of it turned out to be."""
        vote = self.pages.setdefault(page, Vote())
        vote.matching += matching
        vote.seen += seen
        _bound(self.pages)

    def cite(self, page: str, url: str) -> None:
        """Note that a page links to another one that was not fetched."""
        citing = self.citing.setdefault(url, [])
        if page not in citing and len(citing) < _CITING:
            citing.append(page)
        _bound(self.citing)

    def had(self, url: str, *, ok: bool) -> None:
        """Take in whether a page could be fetched: pages that link to it lose, or regain, score."""
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
        """The score of a page that was not fetched.

        It is the mean over the known neighbours in its domain, and else over groups by domain:
        PR(group) = Σ ScoreLink(P)·priority(P) / count, the mean of a few groups chosen at random.
        **Reading**: ScoreLink(P) is P's vote.
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
    """Forget the oldest, many at once: a dict walks over its deleted beginning every time."""
    if len(remembered) > _REMEMBERED:
        for name in list(islice(remembered, _REMEMBERED // 10)):
            del remembered[name]
