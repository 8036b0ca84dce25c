"""Predicting waiting links again, so that those that come first are first for good reason."""

from __future__ import annotations

import numpy as np

from semcrawl.relevance.learned.model import Ids, IndexModel, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.order import WaitingOrder
from semcrawl.relevance.learned.table import WAITING, LinkTable

#: what a fetch counts as surprise at least: links also move as places are known, or run dry
_EVERY_FETCH = 0.01
#: … where something happens: half as much after so many fetches in a row without a surprise, a
#: third after twice as many …, and a twentieth at least
_QUIET = 50
_LEAST_SHARE = 0.05
#: by how much a fetch must be off what was predicted to be a surprise
_SURPRISING = 0.05
#: links that a full refresh may go through per fetch, averaged
_LINKS_PER_FETCH = 1000
#: keys that a full refresh may change per fetch, averaged: the frontier has to file them all
_KEYS_PER_FETCH = 50
#: how many times as long all links can wait while hardly anything is off what was predicted
_UNSURPRISED = 16
#: links of a host that surely are the first ones when a crawl asks for more
_NEXT = 8
#: how often the first links are looked at until they are the right ones
_ROUNDS = 16
#: links whose rows are gathered at once
_CHUNK = 1 << 15


class Refresh:
    """Predicts the first links of a host again after its fetches, and all now and then."""

    def __init__(
        self, options: LearnedOptions, model: IndexModel, table: LinkTable, order: WaitingOrder
    ) -> None:
        self._options = options
        self._model = model
        self._table = table
        self._order = order
        #: fetches that all links were last predicted after
        self._done_at = 0
        #: keys that changed then
        self._changed = 0
        #: numbers of hosts that something was fetched of since their predictions were refreshed
        self._stale: set[int] = set()
        #: by how much the fetches since then were off what was predicted, in all, and each a bit
        self._surprise = 0.0
        #: … the fetches since all links were predicted
        self._all_surprise = 0.0
        #: fetches since the last surprise
        self._quiet = 0

    def note(self, host: int, error: float) -> None:
        """Hear of a fetch, and by how much it was off what was predicted."""
        self._stale.add(host)
        self._quiet = 0 if error >= _SURPRISING else self._quiet + 1
        least = _EVERY_FETCH * max(_LEAST_SHARE, _QUIET / (_QUIET + self._quiet))
        self._surprise += least + error
        self._all_surprise += error

    def stale(self, fetches: int) -> None:
        """Predict again what the last fetches may have moved: the first links of their hosts.

        Not while everything is as expected. From time to time, and at the start, all links.
        ``fetches``: how many there were in all.
        """
        if not self._stale:
            return
        options = self._options
        if fetches <= options.refresh_always or self._all_due(fetches - self._done_at):
            self.all(fetches)
            return
        if self._surprise < options.refresh_surprise:
            return
        self._surprise = 0.0
        hosts, self._stale = sorted(self._stale), set()
        for host in hosts:
            self._settle(host, predict=True)

    def _all_due(self, fetches: int) -> bool:
        """Whether to predict all links again, so many fetches after it was last done."""
        options, links = self._options, self._table.size
        every = max(
            options.refresh_every, links // _LINKS_PER_FETCH, self._changed // _KEYS_PER_FETCH
        )
        if fetches < every:
            return False
        surprised = self._all_surprise >= options.refresh_all_surprise
        return surprised or fetches >= _UNSURPRISED * every or links > options.max_links

    def all(self, fetches: int) -> None:
        """Predict every waiting link again and choose the fronts anew."""
        self._done_at = fetches
        self._stale.clear()
        self._surprise = 0.0
        self._all_surprise = 0.0
        if self._table.size > self._options.max_links:
            self._forget()
        for first in range(0, self._table.size, _CHUNK):
            self._predict_stretch(first, min(first + _CHUNK, self._table.size))
        self._order.rebuild()
        for host in self._order.crowded:
            self._settle(host, predict=False)
        self._changed = self._order.untold

    def _settle(self, host: int, *, predict: bool) -> None:
        """Put the first links of a host right, until those that are first then are right.

        Many alike may wait, and all be worth less than believed: those behind them would be taken
        next, for what they were worth.
        """
        told = self._table.columns["told"]
        for _ in range(_ROUNDS):
            first, next_best = self._order.first(host, self._options.first)
            if predict:
                self._predict(first)
            self._order.settle(first)
            if np.count_nonzero(told[first] >= next_best) >= min(_NEXT, len(first)):
                return

    def _predict_stretch(self, first: int, end: int) -> None:
        """Predict the waiting links among those from one number to before another."""
        table = self._table
        numbers = first + np.flatnonzero(table["state"][first:end] == WAITING)
        if len(numbers) < (end - first) // 2:
            self._predict(numbers)
            return
        # gathering costs more than predicting a few links in vain
        rows, starts = table.stretch(first, end)
        logits = self._model.logits(rows, starts, table["prior"][first:end])
        table["index"][numbers] = sigmoids(logits[numbers - first])

    def _predict(self, numbers: Ids) -> None:
        table, columns = self._table, self._table.columns
        if len(numbers):
            rows, starts = table.gather(numbers)
            logits = self._model.logits(rows, starts, columns["prior"][numbers])
            columns["index"][numbers] = sigmoids(logits)

    def _forget(self) -> None:
        """Drop the least likely of the waiting links, until a tenth of the room is free."""
        table, most = self._table, self._options.max_links
        kept = np.ones(table.size, bool)
        waiting = table.waiting()
        surplus = min(len(waiting), table.size - most * 9 // 10)
        if surplus:
            worst = np.argsort(table["told"][waiting], kind="stable")[:surplus]
            kept[waiting[worst]] = False
        if table.size - surplus > most:
            # so many pages were fetched that the oldest leave too
            kept[: table.size // 2] = False
        table.keep(kept)
        self._order.renumber(kept)
