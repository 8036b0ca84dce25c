"""Which statements were said before, in a table of fixed size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_WAYS = 4
_TAG_BITS = 40


class LocalMemory:
    """A memory in this process, 8 bytes per statement.

    Each statement has a bucket of four places, which holds a part of its hash and a part of its
    document's hash. A full bucket forgets one of its statements, and what was forgotten counts as
    new again. That a statement counts as known which nobody said has a chance of 4 in 10¹².
    """

    takes_long = False

    def __init__(self, statements: int) -> None:
        """Make room for this many statements, rounded up to a power of two."""
        self._buckets = 1 << max(0, (statements - 1) // _WAYS).bit_length()
        self._table = np.zeros((self._buckets, _WAYS), np.uint64)
        self._turn = 0

    def add(self, document: int, statements: Sequence[int]) -> list[bool]:
        """Add the statements of a document; return for each whether no other one said it."""
        hashes = np.fromiter(statements, np.uint64, len(statements))
        places = (hashes % np.uint64(self._buckets)).astype(np.int64)
        tags = (hashes >> np.uint64(64 - _TAG_BITS)) << np.uint64(64 - _TAG_BITS)
        mark = np.uint64((document % ((1 << (64 - _TAG_BITS)) - 1)) + 1)
        mask = np.uint64((1 << (64 - _TAG_BITS)) - 1)
        found = self._table[places]
        same = ((found & ~mask) == tags[:, None]) & (found != 0)
        known = same.any(axis=1)
        others = (same & ((found & mask) != mark)).any(axis=1)
        self._put(places[~known], tags[~known] | mark)
        return [not other for other in others.tolist()]

    def _put(self, places: npt.NDArray[np.int64], entries: npt.NDArray[np.uint64]) -> None:
        """Put entries into empty places of their buckets, else in place of others in turn."""
        for _ in range(_WAYS):  # (of entries with one bucket, one is put at a time)
            if not len(places):
                return
            empty = self._table[places] == 0
            ways = np.where(empty.any(axis=1), empty.argmax(axis=1), self._turn % _WAYS)
            self._turn += 1
            self._table[places, ways] = entries
            left = self._table[places, ways] != entries
            places, entries = places[left], entries[left]
