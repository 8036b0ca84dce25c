"""The pages of a catalogue that were followed: one that goes on for ever is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b

from semcrawl.links import Link
from semcrawl.sources.negotiation import shape_of
from semcrawl.web.hosts import netloc_of

#: bytes of the name of a page
_NAME = 8


def next_pages(url: str, links: Sequence[Link]) -> list[Link]:
    """Return those links of a document that lead to further pages of it, on its host."""
    host = netloc_of(url)
    return [link for link in links if link.is_next and netloc_of(link.url) == host]


class CataloguePages:
    """Counts the pages of catalogues: addresses that differ in digits and queries alone."""

    def __init__(self, most: int) -> None:
        """Let ``most`` pages of one catalogue be followed; 0: any number."""
        self._most = most
        self._pages: defaultdict[str, set[bytes]] = defaultdict(set)

    def known(self, shape: str) -> bytes:
        """Return the names of the pages of a catalogue, for storage."""
        return b"".join(sorted(self._pages[shape]))

    def take_in(self, shape: str, names: bytes) -> None:
        """Add pages that were stored."""
        cut = range(0, len(names) - len(names) % _NAME, _NAME)
        self._pages[shape].update(names[i : i + _NAME] for i in cut)

    def may_follow(self, url: str) -> bool:
        """Whether a further page may be followed; then it counts."""
        if self._most <= 0:
            return True
        pages = self._pages[shape_of(url)]
        name = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=_NAME).digest()
        if name not in pages and len(pages) >= self._most:
            return False
        pages.add(name)
        return True
