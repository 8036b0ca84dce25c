"""Judgements of a moment ago, so that a page's links are not judged twice in a row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from semcrawl.relevance.learned.judging import Judgement

#: links whose judgements are remembered
_MOST = 10_000
#: fetches that a judgement outlives: a page's links are learned of as soon as the frontier has
#: them, with some other answers in between while a crawl is busy
_FETCHES = 16

#: how old a model is: fetches that it learned from, links that it knows
Age = tuple[int, int]


class RecentJudgements:
    """Keeps what was said of links for some fetches.

    A link is judged when its page is read and again when the page is learned from, mostly with
    little in between. Judging again would say nearly the same, and the frontier goes by what was
    said first.
    """

    def __init__(self) -> None:
        #: what is said after another fetch counts no more: others, who did not read the page, judge
        #: its links when they learn of it, and are to find the same; nor what is said of some of
        #: the links of a page together with others, which they do not hear of
        self.exact = False
        self._found: dict[Hashable, tuple[Judgement, int, Age]] = {}

    def keep(self, links: Sequence[Hashable], judged: Judgement, age: Age) -> None:
        """Remember what was said of links, whatever tells them apart, by a model of that age."""
        if len(self._found) + len(links) > _MOST:
            self._found.clear()
        self._found.update((link, (judged, row, age)) for row, link in enumerate(links))

    def pop(self, links: Sequence[Hashable], age: Age) -> Judgement | None:
        """What was said of these links in one go, if that is not long ago; forget it."""
        found = [self._found.pop(link, None) for link in links]
        first = found[0]
        if first is None:
            return None
        if age != first[2] if self.exact else age[0] - first[2][0] > _FETCHES:
            return None
        judged = first[0]
        rows = [f[1] for f in found if f is not None and f[0] is judged]
        if len(rows) < len(links):
            return None
        if rows == list(range(len(judged.indexes))):
            return judged
        return None if self.exact else judged.of(rows)

    def clear(self) -> None:
        """Forget everything."""
        self._found.clear()
