"""The pages of a catalogue that were followed: one that goes on for ever is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from semcrawl.links import Link
from semcrawl.sources.negotiation import shape_of
from semcrawl.web.hosts import netloc_of


def next_pages(url: str, links: Sequence[Link]) -> list[Link]:
    """Return those links of a document that lead to further pages of it, on its host."""
    host = netloc_of(url)
    return [link for link in links if link.is_next and netloc_of(link.url) == host]


class CataloguePages:
    """Counts the pages of catalogues: addresses that differ in digits and queries alone.

    This is the count of one process without a frontier, as the simulator is.
    """

    def __init__(self, most: int) -> None:
        """Let ``most`` pages of one catalogue be followed; 0: any number."""
        self._most = most
        self._pages: defaultdict[str, set[str]] = defaultdict(set)

    def may_follow(self, url: str) -> bool:
        """Whether a further page may be followed; then it counts."""
        pages = self._pages[shape_of(url)]
        if url not in pages and len(pages) >= self._most > 0:
            return False
        pages.add(url)
        return True
