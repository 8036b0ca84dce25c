"""Limits the pages followed of a catalogue, which may be endless."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from semcrawl.links import Link
from semcrawl.sources.negotiation import shape_of
from semcrawl.web.hosts import netloc_of


def next_pages(url: str, links: Sequence[Link]) -> list[Link]:
    """Return the links to further pages of a document on the same host."""
    host = netloc_of(url)
    return [link for link in links if link.is_next and netloc_of(link.url) == host]


class CataloguePages:
    """Counts the pages of catalogues: addresses that differ only in digits and queries.

    It serves one process without a frontier, such as the simulator.
    """

    def __init__(self, most: int) -> None:
        """Allow ``most`` pages per catalogue; 0: any number."""
        self._most = most
        self._pages: defaultdict[str, set[str]] = defaultdict(set)

    def may_follow(self, url: str) -> bool:
        """Whether a page may be followed. If so, count it."""
        pages = self._pages[shape_of(url)]
        if url not in pages and len(pages) >= self._most > 0:
            return False
        pages.add(url)
        return True
