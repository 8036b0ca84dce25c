"""The table of links that the model remembers, in columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.parts import stem_of

Floats = NDArray[np.float32]
Rows = NDArray[np.uint32]
Ids = NDArray[np.int64]

#: states of a link
WAITING, TAKEN, DONE = 0, 1, 2
#: flags of a link
TARGET = 1  #: it was a target
FAILED = 2  #: its address failed
TWIN = 4  #: its prior was lowered, as its page seems to be known under another address
SILENT = 8  #: its host gave neither a document nor a redirect for it

#: no link
NONE = -1

#: columns and their types; ``told`` is the last reported key, negated
COLUMNS: dict[str, type[np.generic]] = {
    "start": np.int64,  # index of the link's first row in the flat array
    "length": np.int64,  # number of rows
    "prior": np.float32,
    "target_prior": np.float32,
    "share_prior": np.float32,
    "level": np.uint8,  # of its page, if it is surely a target
    "index": np.float32,  # predicted
    "target": np.float32,  # probability of being one, as first predicted
    "share": np.float32,  # predicted share about the topic
    "hope": np.float32,  # … with a bonus for links of which little is known
    "observed": np.float32,  # NaN until known
    "gain": np.float32,  # how much of a target it was itself
    "told": np.float32,
    "depth": np.uint16,  # clicks from a seed
    "parent": np.int32,
    "first_child": np.int32,
    "children": np.int32,
    "host": np.int32,
    "cluster": np.int32,
    "section": np.int32,
    "subsection": np.int32,
    "state": np.uint8,
    "flags": np.uint8,
}
#: empty values of columns where they are not 0
_NOTHING: dict[str, float] = {
    "share": 1,
    "hope": 1,
    "observed": math.nan,
    "parent": NONE,
    "first_child": NONE,
}


class LinkTable:
    """Links, numbered from 0 in order of arrival; the children of a page are contiguous."""

    def __init__(self) -> None:
        self.size = 0
        self.urls: list[str] = []
        self.ids: dict[str, int] = {}
        #: those of all URLs (:func:`stem_of`)
        self.stems: set[int] = set()
        self.columns: dict[str, NDArray[Any]] = {name: _empty(name, 1024) for name in COLUMNS}
        self._rows: Rows = np.zeros(1 << 15, np.uint32)
        self._used = 0

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column as a view with the length of the table."""
        return self.columns[name][: self.size]

    def append(
        self,
        urls: Sequence[str],
        rows: Sequence[Rows],
        stems: Iterable[int],
        **values: NDArray[Any] | Sequence[int] | float,
    ) -> range:
        """Add new links; return their numbers. ``values`` fill columns; the others stay empty."""
        count = len(urls)
        first = self.size
        numbers = range(first, first + count)
        if not count:
            return numbers
        self._reserve(count, sum(map(len, rows)))
        lengths = [len(each) for each in rows]
        starts = list(accumulate(lengths, initial=self._used))
        self._rows[self._used : starts[-1]] = np.concatenate(rows)
        self._used = starts.pop()
        self.size += count
        new = slice(first, self.size)  # elements beyond the old size are empty in every column
        for name, value in (("start", starts), ("length", lengths), *values.items()):
            self.columns[name][new] = value
        self.urls.extend(urls)
        self.ids.update(zip(urls, numbers, strict=True))
        self.stems.update(stems)
        return numbers

    def rows(self, number: int) -> Rows:
        """Return the rows of a link."""
        start = self.columns["start"].item(number)
        return self._rows[start : start + self.columns["length"].item(number)]

    def gather(self, numbers: Ids) -> tuple[Rows, Ids]:
        """Return the concatenated rows of links, and where each link's rows begin."""
        lengths = self.columns["length"][numbers]
        starts: Ids = lengths.cumsum() - lengths
        places = (self.columns["start"][numbers] - starts).repeat(lengths)
        places += np.arange(len(places))
        return self._rows.take(places), starts

    def stretch(self, first: int, end: int) -> tuple[Rows, Ids]:
        """Return the same for the links with numbers from ``first`` to ``end - 1``."""
        starts = self.columns["start"][first:end]
        if not len(starts):
            return self._rows[:0], starts
        begin, last = int(starts[0]), int(starts[-1]) + int(self.columns["length"][end - 1])
        return self._rows[begin:last], starts - begin

    def waiting(self) -> Ids:
        """Return the numbers of the waiting links."""
        return np.flatnonzero(self["state"] == WAITING)

    def select(self, mask: NDArray[np.bool_]) -> LinkTable:
        """Return a table of the links in ``mask``; the children of a page stay contiguous."""
        kept = np.flatnonzero(mask)
        renumbered = np.full(self.size + 1, NONE, np.int64)
        renumbered[kept] = np.arange(len(kept))
        before = np.concatenate(([0], np.cumsum(mask)))
        flat, starts = self.gather(kept)
        columns = {name: self[name][kept] for name in COLUMNS}
        first, count = columns["first_child"], columns["children"]
        has = first >= 0
        columns["first_child"] = np.where(has, before[first], NONE)
        columns["children"] = np.where(has, before[first + count] - before[first], 0)
        columns["parent"] = renumbered[columns["parent"]]
        columns["start"] = starts
        return self._of([self.urls[i] for i in kept], columns, flat)

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Forget the links outside ``mask``; the others get new numbers in the same order."""
        kept = self.select(mask)
        self.size, self.urls, self.ids, self.stems = kept.size, kept.urls, kept.ids, kept.stems
        self.columns, self._rows, self._used = kept.columns, kept._rows, kept._used

    def state(self) -> dict[str, Any]:
        """Return everything, for :meth:`restored`."""
        flat, starts = self.gather(np.arange(self.size))
        columns = {f"column_{name}": self[name] for name in COLUMNS}
        return {"urls": self.urls, "rows": flat, **columns, "column_start": starts}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> LinkTable:
        """Restore the result of :meth:`state`."""
        # in states of earlier versions every target has the gain 1
        flags = state["column_flags"]
        older = {
            "column_gain": flags & TARGET,
            "column_share": np.ones(len(flags)),
            "column_hope": np.ones(len(flags)),
            "column_share_prior": np.zeros(len(flags)),
            "column_level": np.zeros(len(flags)),
            "column_depth": np.ones(len(flags)),
        }
        columns = {name: (older | dict(state))[f"column_{name}"] for name in COLUMNS}
        return cls._of(list(state["urls"]), columns, state["rows"])

    @classmethod
    def _of(cls, urls: list[str], columns: Mapping[str, Any], rows: Rows) -> LinkTable:
        table = cls()
        table.urls = urls
        table.ids = {url: i for i, url in enumerate(urls)}
        table.stems = set(map(stem_of, urls))
        table.size = len(urls)
        table.columns = {name: columns[name].astype(kind) for name, kind in COLUMNS.items()}
        table._rows, table._used = rows, len(rows)
        return table

    def _reserve(self, links: int, rows: int) -> None:
        capacity = len(self.columns["state"])
        if self.size + links > capacity:
            more = max(capacity // 2, links, 1024)
            for name, column in self.columns.items():
                self.columns[name] = np.concatenate((column, _empty(name, more)))
        if self._used + rows > len(self._rows):
            extra = max(len(self._rows) // 2, rows, 1 << 15)
            self._rows = np.concatenate((self._rows, np.zeros(extra, np.uint32)))


def _empty(name: str, size: int) -> NDArray[Any]:
    return np.full(size, _NOTHING.get(name, 0), COLUMNS[name])
