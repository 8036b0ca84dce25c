"""The order of the waiting links, and which of it the frontier has yet to hear."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from semcrawl.relevance.learned.model import Floats, Ids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.table import WAITING, LinkTable

_NO_LINKS: Ids = np.zeros(0, np.int64)


class WaitingOrder:
    """Keeps the best links of every host in right order in the frontier.

    The frontier holds a key of every link, as it was when last told. Only a host's *front* is
    kept right: its best links by what they are worth now or by what the frontier believes.
    """

    def __init__(
        self, options: LearnedOptions, table: LinkTable, scores: Callable[[Ids], Floats]
    ) -> None:
        self._options = options
        self._table = table
        self._scores = scores
        #: host number → its front as of the last rebuild, and newer links
        self._fronts: dict[int, Ids] = {}
        self._moved: dict[int, float] = {}

    @property
    def hosts(self) -> int:
        """Number of hosts that links waited on at the last rebuild, or joined since."""
        return len(self._fronts)

    def front(self, host: int) -> Ids:
        """The best waiting links of a host, in no order."""
        front = self._fronts.get(host)
        if front is None:
            return _NO_LINKS
        waiting = self._table["state"][front] == WAITING
        if not waiting.all():
            front = self._fronts[host] = front[waiting]
        return front

    def join(self, numbers: Ids) -> None:
        """New links join the fronts of their hosts, the best of them if they are many."""
        hosts = self._table["host"][numbers]
        told = self._table["told"]
        for host in np.unique(hosts).tolist():
            mine = numbers[hosts == host]
            if len(mine) > self._options.head:
                mine = mine[np.argsort(-told[mine], kind="stable")[: self._options.head]]
            self._fronts[host] = np.concatenate((self._fronts.get(host, _NO_LINKS), mine))

    def first(self, host: int, most: int) -> Ids:
        """The first so many links of a host, in no order, as the frontier believes."""
        front = self.front(host)
        if len(front) > most:
            front = front[np.argpartition(-self._table["told"][front], most - 1)[:most]]
        return front

    def settle(self, numbers: Ids) -> None:
        """Note which of these links have another place than the frontier believes."""
        self._tell(numbers, self._scores(numbers))

    def rebuild(self) -> None:
        """Choose the fronts anew out of all waiting links."""
        table = self._table
        waiting = table.waiting()
        scores = self._scores(waiting)
        best = np.maximum(scores, table["told"][waiting])
        order = np.lexsort((-best, table["host"][waiting]))
        waiting, scores = waiting[order], scores[order]
        hosts = table["host"][waiting]
        begins = np.flatnonzero(np.diff(hosts, prepend=-1))
        sizes = np.diff(begins, append=len(hosts))
        head = np.arange(len(hosts)) - np.repeat(begins, sizes) < self._options.head
        self._fronts = {
            host: waiting[begin : begin + min(size, self._options.head)]
            for host, begin, size in zip(
                hosts[begins].tolist(), begins.tolist(), sizes.tolist(), strict=True
            )
        }
        self._tell(waiting[head], scores[head])

    def renumber(self, kept: np.ndarray) -> None:
        """Follow :meth:`LinkTable.keep`: ``kept`` tells which of the old numbers are left."""
        renumbered = np.cumsum(kept) - 1
        self._moved = {int(renumbered[n]): s for n, s in self._moved.items() if kept[n]}
        self._fronts = dict.fromkeys(self._fronts, _NO_LINKS)

    def moved(self) -> dict[str, float]:
        """Scores by URL of waiting links whose place changed since the last call."""
        state, urls = self._table["state"], self._table.urls
        moved, self._moved = self._moved, {}
        return {urls[n]: score for n, score in moved.items() if state[n] == WAITING}

    def _tell(self, numbers: Ids, scores: Floats) -> None:
        told = self._table["told"]
        off = np.abs(scores - told[numbers]) > self._options.tolerance
        if off.any():
            self._moved.update(zip(numbers[off].tolist(), scores[off].tolist(), strict=True))
            told[numbers[off]] = scores[off]
