"""When pages changed by what sitemaps say, and whether a host's sitemaps can be believed.

Sitemaps say it by ``lastmod`` (sitemaps.org, protocol 0.9). A page that was visited after that need
not be asked for again. But many sites write the time at which the sitemap was made, or the same
date for ever. So of the pages of each host that its sitemap calls unchanged the first is asked for
nevertheless, and a share of the others; when one did change, the host's sitemaps are believed no
more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from hashlib import blake2b

#: seconds that the last visit must lie behind the change: times without a zone, clocks that are
#: wrong, copies in caches
_MARGIN = 86_400
#: addresses whose dates are held, and hosts that are known to lie
_MOST, MOST_LIARS = 1_000_000, 10_000


class Advice(Enum):
    """The treatment of a page that is due again."""

    ASK = auto()  #: nothing is known of it, or it changed
    CHECK = auto()  #: it is said to be unchanged; ask, to see whether that is true
    SKIP = auto()  #: it is said to be unchanged, and its host can be believed


class Lastmods:
    """The dates of the sitemaps that were read, and the hosts whose dates proved wrong."""

    def __init__(self, share: float, liars: Iterable[str] = ()) -> None:
        """Check a ``share`` of the pages that are said to be unchanged (0 to 1; 0: none)."""
        self._share = share
        #: digest of an address → the latest moment at which it may have changed
        self._latest: dict[bytes, int] = {}
        #: pages of a host that its sitemaps called unchanged
        self._unchanged: Counter[str] = Counter()
        #: hosts whose sitemaps called a page unchanged that was not
        self.liars = dict.fromkeys(liars)

    def note(self, latest: Mapping[str, int]) -> None:
        """Take in addresses with the latest moments at which they may have changed.

        Seconds since the epoch, as :func:`~semcrawl.sources.sitemaplinks.latest_of` gives them.
        Of an address that two sitemaps list the later moment counts. Beyond a million addresses no
        more are taken: their pages are asked for.
        """
        self.note_keys(keyed(latest))

    def note_keys(self, dates: Iterable[tuple[bytes, int]]) -> None:
        """Take in the same by the digests of addresses, as :func:`keyed` gives them."""
        for key, moment in dates:
            if key in self._latest or len(self._latest) < _MOST:
                self._latest[key] = max(moment, self._latest.get(key, 0))

    def advise(self, url: str, host: str, visited: float) -> Advice:
        """Say whether to ask for a page that was visited last at a time (0: it was not there)."""
        moment = self._latest.get(_key(url))
        if not visited or moment is None or moment + _MARGIN > visited or host in self.liars:
            return Advice.ASK
        before = self._unchanged[host]
        self._unchanged[host] += 1
        # of every 1/share pages one, the first of them
        due = math.floor(before * self._share) > math.floor((before - 1) * self._share)
        return Advice.CHECK if self._share and due else Advice.SKIP

    def disbelieve(self, host: str) -> bool:
        """Believe a host's sitemaps no more; return whether that is new."""
        if host in self.liars or len(self.liars) >= MOST_LIARS:
            return False
        self.liars[host] = None
        return True


def keyed(latest: Mapping[str, int]) -> Iterator[tuple[bytes, int]]:
    """Yield the digests of addresses with their moments."""
    return ((_key(url), moment) for url, moment in latest.items())


def _key(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()
