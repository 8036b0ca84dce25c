"""The order of the waiting links: keeps it right, and sends changed keys to the frontier."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from semcrawl.relevance.learned.model import IndexModel, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.shares import TopicShares
from semcrawl.relevance.learned.table import WAITING, Floats, Ids, LinkTable

_NO_LINKS: Ids = np.zeros(0, np.int64)
#: scores are multiples of one over this
_GRID = np.float32(1 << 12)
#: what a fetch counts as surprise at least: links also move as places are known, or run dry
_EVERY_FETCH = 0.01
#: … where something happens: half as much after so many fetches in a row without a surprise, a
#: third after twice as many …, and a twentieth at least
_QUIET = 50
_LEAST_SHARE = 0.05
#: error of a prediction above which the fetch is a surprise
_SURPRISING = 0.05
#: links that a full refresh may go through per fetch, averaged
_LINKS_PER_FETCH = 1000
#: keys that a full refresh may change per fetch, averaged: the frontier has to file them all
_KEYS_PER_FETCH = 50
#: factor by which the refresh of all links may be delayed while predictions hold
_UNSURPRISED = 16
#: links of a host that surely are the first ones when a crawl asks for more
_NEXT = 8
#: how often the first links are looked at until they are the right ones
_ROUNDS = 16
#: links whose rows are gathered at once
_CHUNK = 1 << 15


def rounded(scores: Floats) -> Floats:
    """Scores on a grid, so that links that are worth the same have the same score.

    Sums of the same weights in another order differ in their last digits.
    """
    result: Floats = np.rint(scores * _GRID)
    result /= _GRID
    return result


class WaitingOrder:
    """Keeps the best links of every host in right order in the frontier.

    The frontier holds a key of every link, as it was when last told. Only a host's *front* is
    kept right. It holds the best links by what they are worth and the first ones by what the
    frontier believes: a *reserve* of all others, first ones first, fills it up.
    """

    def __init__(
        self, options: LearnedOptions, table: LinkTable, scores: Callable[[Ids], Floats]
    ) -> None:
        self._options = options
        self._table = table
        self._scores = scores
        #: host number → its front
        self._fronts: dict[int, Ids] = {}
        #: host number → the other links of the host, largest worth at the frontier first
        self._reserves: dict[int, Ids] = {}
        self._moved: dict[int, float] = {}
        #: whether a sure target may be among them; most of the time there is none
        self._may_be_sure = False

    @property
    def crowded(self) -> list[int]:
        """Numbers of the hosts on which more links wait than are in front."""
        return list(self._reserves)

    @property
    def untold(self) -> int:
        """How many links have another place than the frontier has heard of."""
        return len(self._moved)

    def front(self, host: int) -> Ids:
        """The best waiting links of a host, in no order."""
        front = self._fronts.get(host)
        if front is None:
            return _NO_LINKS
        waiting = self._table.columns["state"][front] == WAITING
        if not waiting.all():
            front = self._fronts[host] = front[waiting]
        return front

    def sure(self) -> int:
        """How many links in front of their hosts are believed to be (nearly) sure targets."""
        if not self._may_be_sure:
            return 0
        told, state = self._table.columns["told"], self._table.columns["state"]
        found = 0
        for front in self._fronts.values():
            sure = front[told[front] >= self._options.sure]
            found += int(np.count_nonzero(state[sure] == WAITING))
        self._may_be_sure = found > 0
        return found

    def join(self, numbers: Ids) -> None:
        """New links join the fronts of their hosts, the best of them if they are many."""
        hosts = self._table.columns["host"][numbers]
        distinct = dict.fromkeys(hosts.tolist())
        head = self._options.head
        self._look_for_sure(self._table.columns["told"][numbers])
        for host in distinct:
            mine = numbers if len(distinct) == 1 else numbers[hosts == host]
            if len(mine) > head:
                mine = self._first_told_first(mine)
                others = np.concatenate((self._reserves.get(host, _NO_LINKS), mine[head:]))
                self._reserves[host] = self._first_told_first(others)
                mine = mine[:head]
            self._fronts[host] = np.concatenate((self._fronts.get(host, _NO_LINKS), mine))

    def rejoin(self, number: int) -> bool:
        """A link that was taken waits again; return whether it is unsure."""
        columns = self._table.columns
        self.front(columns["host"].item(number))  # (leaves it out if it was there)
        columns["state"][number] = WAITING
        self.join(np.array([number]))
        return bool(columns["index"].item(number) < self._options.sure)

    def first(self, host: int, most: int) -> tuple[Ids, float]:
        """The first so many links of a host, in no order, as the frontier believes.

        And what the first of the others is believed to be worth, if there are any.
        """
        told = self._table.columns["told"]
        best, next_best = self._best(self.front(host), most)
        behind = self._behind(host)
        if behind > -math.inf and (len(best) < most or behind > told[best].min()):
            take, reserve = max(most, self._options.head), self._reserves[host]
            self._fronts[host] = np.concatenate((self.front(host), reserve[:take]))
            self._reserves[host] = reserve[take:]
            self._may_be_sure = True
            best, next_best = self._best(self.front(host), most)
            behind = self._behind(host)
        return best, max(next_best, behind)

    def _behind(self, host: int) -> float:
        """Return the believed worth of the first link in a host's reserve."""
        reserve = self._reserves.get(host, _NO_LINKS)
        return self._table.columns["told"].item(reserve[0]) if len(reserve) else -math.inf

    def _best(self, front: Ids, most: int) -> tuple[Ids, float]:
        """The best of a front, so many, and what the next one is believed to be worth."""
        if len(front) <= most:
            return front, -math.inf
        against = -self._table.columns["told"][front]
        order = against.argsort(kind="stable")  # (which of equals are first is not left to chance)
        return front[order[:most]], -against.item(order[most])

    def settle(self, numbers: Ids) -> None:
        """Note which of these links have another place than the frontier believes."""
        self._tell(numbers, self._scores(numbers))

    def rebuild(self) -> None:
        """Choose the fronts anew out of all waiting links."""
        table = self._table
        waiting = table.waiting()
        scores = self._scores(waiting)
        order = np.lexsort((-scores, table["host"][waiting]))
        waiting, scores = waiting[order], scores[order]
        hosts = table["host"][waiting]
        begins = np.flatnonzero(np.diff(hosts, prepend=-1))
        sizes = np.diff(begins, append=len(hosts))
        head = np.arange(len(hosts)) - np.repeat(begins, sizes) < self._options.head
        self._tell(waiting[head], scores[head])
        self._fronts, self._reserves = {}, {}
        self._may_be_sure = True
        for host, begin, size in zip(
            hosts[begins].tolist(), begins.tolist(), sizes.tolist(), strict=True
        ):
            mine = waiting[begin : begin + size]
            self._fronts[host] = mine[: self._options.head]
            if size > self._options.head:
                self._reserves[host] = self._first_told_first(mine[self._options.head :])

    def renumber(self, kept: np.ndarray) -> None:
        """Follow :meth:`LinkTable.keep`: ``kept`` tells which of the old numbers are left."""
        renumbered = np.cumsum(kept) - 1
        self._moved = {int(renumbered[n]): s for n, s in self._moved.items() if kept[n]}
        self._fronts = dict.fromkeys(self._fronts, _NO_LINKS)
        self._reserves = {}

    def moved(self) -> dict[str, float]:
        """Scores by URL of waiting links whose place changed since the last call."""
        if not self._moved:
            return {}
        state, urls = self._table["state"], self._table.urls
        moved, self._moved = self._moved, {}
        return {urls[n]: score for n, score in moved.items() if state[n] == WAITING}

    def _first_told_first(self, numbers: Ids) -> Ids:
        """Links in the order of the frontier; those with the same key in that of arrival."""
        numbers = np.sort(numbers)
        return numbers[np.argsort(-self._table["told"][numbers], kind="stable")]

    def _tell(self, numbers: Ids, scores: Floats) -> None:
        told = self._table.columns["told"]
        off = np.abs(scores - told[numbers]) > self._options.tolerance
        if off.any():
            numbers, scores = numbers[off], scores[off]
            self._moved.update(zip(numbers.tolist(), scores.tolist(), strict=True))
            told[numbers] = scores
            self._look_for_sure(scores)

    def _look_for_sure(self, told: Floats) -> None:
        if not self._may_be_sure:
            self._may_be_sure = bool((told >= self._options.sure).any())


class Refresh:
    """Predicts the first links of a host again after its fetches, and all now and then."""

    def __init__(
        self,
        options: LearnedOptions,
        model: IndexModel,
        table: LinkTable,
        order: WaitingOrder,
        shares: TopicShares | None = None,
    ) -> None:
        self._options = options
        self._model = model
        self._shares = shares
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
        """Note a fetch, and the error of its prediction."""
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
        if len(numbers) < (end - first) // 2 or self._shares is not None:
            self._predict(numbers)
            return
        # gathering costs more than predicting a few links too many
        rows, starts = table.stretch(first, end)
        logits = self._model.logits(rows, starts, table["prior"][first:end])
        table["index"][numbers] = sigmoids(logits[numbers - first])

    def _predict(self, numbers: Ids) -> None:
        table, columns = self._table, self._table.columns
        if len(numbers):
            rows, starts = table.gather(numbers)
            logits = self._model.logits(rows, starts, columns["prior"][numbers])
            columns["index"][numbers] = sigmoids(logits)
            if self._shares is not None:
                priors = columns["share_prior"][numbers]
                shares = self._shares.among(rows, starts, priors)
                columns["share"][numbers], columns["hope"][numbers] = shares

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
