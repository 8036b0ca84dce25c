"""When the pages of a site changed last, as its sitemaps say: a re-visit may go by it."""

from __future__ import annotations

from collections.abc import Iterable

from semcrawl.sources import Entry
from semcrawl.web.urls import Normalisation, resolve

#: addresses whose dates are kept
_MOST = 2_000_000
#: a date without a time may mean any moment of its day, in any zone (seconds)
_SLACK = 2 * 86_400


class ListedDates:
    """The dates that the sitemaps of this run give."""

    def __init__(self) -> None:
        #: hash of the address → seconds since the epoch
        self._dates: dict[int, int] = {}

    def take(self, entries: Iterable[Entry], sitemap: str, normalisation: Normalisation) -> None:
        """Take in the entries of a sitemap."""
        for entry in entries:
            if entry.modified and len(self._dates) < _MOST:
                url = resolve(sitemap, entry.address, normalisation)
                self._dates[hash(url)] = entry.modified

    def unchanged_since(self, url: str, visited: float) -> bool:
        """Whether a page, visited then, did not change since, as far as its sitemap tells."""
        modified = self._dates.get(hash(url))
        return modified is not None and 0 < modified + _SLACK < visited
