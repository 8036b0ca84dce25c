"""Decides by the ``lastmod`` of sitemaps which pages a re-visit can skip.

A page last visited after its ``lastmod`` (sitemaps.org, protocol 0.9) need not be fetched again.
But many sites write the time at which the sitemap was made, or the same date forever. So the first
page of a host that its sitemap calls unchanged is fetched nevertheless, and a share of the others.
Once one has changed, the host's sitemaps are no longer trusted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from hashlib import blake2b

#: seconds between the change and the last visit, at least: for times without a zone, wrong clocks
#: and stale caches
_MARGIN = 86_400
#: addresses with dates, and untrusted hosts, at most
_MOST, MOST_LIARS = 1_000_000, 10_000


class Advice(Enum):
    """What to do with a page that is due again."""

    ASK = auto()  #: fetch it: it may have changed
    CHECK = auto()  #: fetch it, to check the sitemap that calls it unchanged
    SKIP = auto()  #: skip it: a trusted sitemap calls it unchanged


class Lastmods:
    """The dates in sitemaps, and the hosts whose dates proved wrong."""

    def __init__(self, share: float, liars: Iterable[str] = ()) -> None:
        """Check a ``share`` (0 to 1) of the pages called unchanged; 0: none."""
        self._share = share
        #: digest of an address → the latest moment at which it may have changed
        self._latest: dict[bytes, int] = {}
        #: pages of a host that its sitemaps called unchanged
        self._unchanged: Counter[str] = Counter()
        #: hosts whose sitemaps called a changed page unchanged
        self.liars = dict.fromkeys(liars)

    def note(self, latest: Mapping[str, int]) -> None:
        """Add addresses with the latest times at which they may have changed.

        Times are those of :func:`~semcrawl.sources.sitemaplinks.latest_of`. The later one of two
        sitemaps counts. Addresses beyond a million are ignored, and their pages fetched.
        """
        self.note_keys(keyed(latest))

    def note_keys(self, dates: Iterable[tuple[bytes, int]]) -> None:
        """Add digests of addresses with times, as :func:`keyed` yields them."""
        for key, moment in dates:
            if key in self._latest or len(self._latest) < _MOST:
                self._latest[key] = max(moment, self._latest.get(key, 0))

    def advise(self, url: str, host: str, visited: float) -> Advice:
        """Decide about a page last visited at the time ``visited``; 0: it was not there."""
        moment = self._latest.get(_key(url))
        if not visited or moment is None or moment + _MARGIN > visited or host in self.liars:
            return Advice.ASK
        before = self._unchanged[host]
        self._unchanged[host] += 1
        # one of every 1/share pages, the first among them
        due = math.floor(before * self._share) > math.floor((before - 1) * self._share)
        return Advice.CHECK if self._share and due else Advice.SKIP

    def disbelieve(self, host: str) -> bool:
        """Stop trusting a host's sitemaps; return whether that is new."""
        if host in self.liars or len(self.liars) >= MOST_LIARS:
            return False
        self.liars[host] = None
        return True


def keyed(latest: Mapping[str, int]) -> Iterator[tuple[bytes, int]]:
    """Yield digests of addresses with their times."""
    return ((_key(url), moment) for url, moment in latest.items())


def _key(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()
