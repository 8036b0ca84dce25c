"""Judgements of a moment ago, so that a page's links are not judged twice in a row."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.relevance.learned.judging import Judgement

#: links judged at one age of the model that are remembered
_MOST = 10_000


class RecentJudgements:
    """Keeps what was said of links as long as nothing was learned since.

    A link is judged when its page is read and again when the page is learned from, mostly with
    nothing in between. Judging again would say the same.
    """

    def __init__(self) -> None:
        self._age: tuple[int, int] | None = None
        self._found: dict[str, tuple[Judgement, int]] = {}

    def keep(self, urls: Sequence[str], judged: Judgement, age: tuple[int, int]) -> None:
        """Remember what was said of links by a model of that age."""
        if age != self._age or len(self._found) > _MOST:
            self._found.clear()
            self._age = age
        self._found.update(zip(urls, ((judged, row) for row in range(len(urls))), strict=True))

    def pop(self, urls: Sequence[str], age: tuple[int, int]) -> Judgement | None:
        """What was said of these links in one go, if the model has still that age."""
        if age != self._age:
            return None
        found = [self._found.get(url) for url in urls]
        self._found.clear()
        first = found[0]
        if first is None or any(f is None or f[0] is not first[0] for f in found):
            return None
        judged = first[0]
        rows = [f[1] for f in found if f is not None]
        if rows == list(range(len(judged.indexes))):
            return judged
        return judged.of(rows)
