"""Shapes of listed links that nothing else led to: one link of each is tried beside the others."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from semcrawl.sources.listing import Shelf, has_shape
from semcrawl.web.hosts import netloc_of

#: answers of a host before its sitemaps are looked for while it has other links, where its
#: robots.txt names them and where nobody does; an untried shape has its turn with every so many
NAMED_AFTER, GUESSED_AFTER, _EVERY = 20, 250, 5
#: links of a shape that is tried
_WORTH_A_TRY = 50


class UntriedShapes:
    """Counts the answers of hosts, and says when a link of an untried shape has its turn."""

    def __init__(self) -> None:
        self._answers: Counter[str] = Counter()
        #: host → name of the list, number of its shelf, shape
        self._untried: dict[str, deque[tuple[str, int, tuple[str, ...]]]] = {}

    def add(self, name: str, sitemap: str, shelves: Sequence[Shelf]) -> None:
        """Take in the shapes of a sitemap."""
        untried = self._untried.setdefault(netloc_of(sitemap), deque())
        untried += (
            (name, number, shelf.shape)
            for number, shelf in enumerate(shelves)
            if len(shelf.links) >= _WORTH_A_TRY
        )

    def answers(self, url: str) -> int:
        """Return how many answers the host of an address gave."""
        return self._answers[netloc_of(url)]

    def note(self, url: str) -> tuple[str, int] | None:
        """Note an answer; return list and shelf of which a link is to be tried now, if any."""
        host = netloc_of(url)
        self._answers[host] += 1
        untried = self._untried.get(host)
        if not untried:
            return None
        left = [each for each in untried if not has_shape(url, each[2])]
        if len(left) < len(untried):
            untried = self._untried[host] = deque(left)
        if not untried or self._answers[host] % _EVERY:
            return None
        name, number, _ = untried.popleft()
        return name, number
