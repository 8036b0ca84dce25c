"""Judgements of a moment ago, so that a page's links are not judged twice in a row."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.relevance.learned.judging import Judgement

#: links whose judgements are remembered
_MOST = 10_000
#: fetches that a judgement outlives: a page's links are learned of as soon as the frontier has
#: them, with some other answers in between while a crawl is busy
_FETCHES = 16


class RecentJudgements:
    """Keeps what was said of links for some fetches.

    A link is judged when its page is read and again when the page is learned from, mostly with
    little in between. Judging again would say nearly the same, and the frontier goes by what was
    said first.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[Judgement, int, int]] = {}

    def keep(self, urls: Sequence[str], judged: Judgement, fetches: int) -> None:
        """Remember what was said of links after so many fetches."""
        if len(self._found) + len(urls) > _MOST:
            self._found.clear()
        self._found.update((url, (judged, row, fetches)) for row, url in enumerate(urls))

    def pop(self, urls: Sequence[str], fetches: int) -> Judgement | None:
        """What was said of these links in one go, if that is not long ago; forget it."""
        found = [self._found.pop(url, None) for url in urls]
        first = found[0]
        if first is None or fetches - first[2] > _FETCHES:
            return None
        judged = first[0]
        rows = [f[1] for f in found if f is not None and f[0] is judged]
        if len(rows) < len(urls):
            return None
        if rows == list(range(len(judged.indexes))):
            return judged
        return judged.of(rows)
