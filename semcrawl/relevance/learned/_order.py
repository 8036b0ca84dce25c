"""The order of the frontier: what links are worth beside each other, by what their kind gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.model import IndexModel, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.shares import TopicShares
from semcrawl.relevance.learned.table import WAITING, Floats, Ids, LinkTable

_NO_LINKS: Ids = np.zeros(0, np.int64)
#: scores are multiples of 1 / this
_GRID = np.float32(1 << 12)
#: least surprise of a fetch, as links also move when places become known or run dry
_EVERY_FETCH = 0.01
#: … it falls to a half after this many consecutive fetches without a surprise, to a third after
#: twice as many …, and to a twentieth at least
_QUIET = 50
_LEAST_SHARE = 0.05
#: least error of a prediction that is a surprise
_SURPRISING = 0.05
#: most links that full refreshes predict per fetch, on average
_LINKS_PER_FETCH = 1000
#: most keys that full refreshes change per fetch, on average, as the frontier has to file them
_KEYS_PER_FETCH = 50
#: factor by which a full refresh may be delayed while predictions hold
_UNSURPRISED = 16
#: links at a host's front that must be in the right order when the crawl asks for more
_NEXT = 8
#: most attempts to get these right
_ROUNDS = 16
#: links that are predicted at once
_CHUNK = 1 << 15


def rounded(scores: Floats) -> Floats:
    """Round scores to a grid, so that links of equal worth have equal scores.

    Sums of the same weights in different orders differ in their last digits.
    """
    result: Floats = np.rint(scores * _GRID)
    result /= _GRID
    return result


class WaitingOrder:
    """Keeps the best links of every host in the right order in the frontier.

    The frontier has the last reported key of every link. Only those of a host's *front* are kept
    right: the best links by their present score, and the first ones by their key in the frontier.
    The *reserve* has all other links, the first ones by key first, and fills up the front.
    """

    def __init__(
        self, options: LearnedOptions, table: LinkTable, scores: Callable[[Ids], Floats]
    ) -> None:
        self._options = options
        self._table = table
        self._scores = scores
        #: host number → its front
        self._fronts: dict[int, Ids] = {}
        #: host number → its other links, the first ones in the frontier first
        self._reserves: dict[int, Ids] = {}
        self._moved: dict[int, float] = {}
        #: whether a front may contain a sure target; usually none does
        self._may_be_sure = False

    @property
    def crowded(self) -> list[int]:
        """Numbers of the hosts with links beyond their front."""
        return list(self._reserves)

    @property
    def untold(self) -> int:
        """Number of links with a changed score that was not reported yet."""
        return len(self._moved)

    def front(self, host: int) -> Ids:
        """Return the front of a host, unordered."""
        front = self._fronts.get(host)
        if front is None:
            return _NO_LINKS
        waiting = self._table.columns["state"][front] == WAITING
        if not waiting.all():
            front = self._fronts[host] = front[waiting]
        return front

    def sure(self) -> int:
        """Return the number of waiting links in fronts that are (nearly) sure targets."""
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
        """Add new links to the fronts of their hosts; of many, only the best."""
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

    def first(self, host: int, most: int) -> tuple[Ids, float]:
        """Return the first ``most`` links of a host by their key in the frontier, unordered.

        Return also the score in the frontier of the next link, minus infinity if there is none.
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
        """Return the score in the frontier of the first link in a host's reserve."""
        reserve = self._reserves.get(host, _NO_LINKS)
        return self._table.columns["told"].item(reserve[0]) if len(reserve) else -math.inf

    def _best(self, front: Ids, most: int) -> tuple[Ids, float]:
        """Return the ``most`` first links of a front, and the next one's score in the frontier."""
        if len(front) <= most:
            return front, -math.inf
        against = -self._table.columns["told"][front]
        order = against.argsort(kind="stable")  # a deterministic order of equal links
        return front[order[:most]], -against.item(order[most])

    def settle(self, numbers: Ids) -> None:
        """Report those of these links whose score changed."""
        self._tell(numbers, self._scores(numbers))

    def rebuild(self) -> None:
        """Choose all fronts again from the waiting links."""
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
        """Follow :meth:`LinkTable.keep`, where ``kept`` marks the remaining old numbers."""
        renumbered = np.cumsum(kept) - 1
        self._moved = {int(renumbered[n]): s for n, s in self._moved.items() if kept[n]}
        self._fronts = dict.fromkeys(self._fronts, _NO_LINKS)
        self._reserves = {}

    def moved(self) -> dict[str, float]:
        """Return scores by URL, for waiting links whose score changed since the last call."""
        if not self._moved:
            return {}
        state, urls = self._table["state"], self._table.urls
        moved, self._moved = self._moved, {}
        return {urls[n]: score for n, score in moved.items() if state[n] == WAITING}

    def _first_told_first(self, numbers: Ids) -> Ids:
        """Sort links as the frontier does: by key, then in order of arrival."""
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
    """Predicts the first links of hosts again after their fetches, and all links now and then."""

    def __init__(
        self,
        options: LearnedOptions,
        model: IndexModel,
        table: LinkTable,
        order: WaitingOrder,
        shares: TopicShares | None = None,
        *,
        forgotten: Callable[[], None] = lambda: None,
    ) -> None:
        """``forgotten`` is called when links have left the table, before their order is made."""
        self._options = options
        self._forgotten = forgotten
        self._model = model
        self._shares = shares
        self._table = table
        self._order = order
        #: number of fetches at the last full refresh
        self._done_at = 0
        #: number of keys that it changed
        self._changed = 0
        #: numbers of hosts with fetches since their last refresh
        self._stale: set[int] = set()
        #: sum of prediction errors since the last refresh, plus a little per fetch
        self._surprise = 0.0
        #: sum of prediction errors since the last full refresh
        self._all_surprise = 0.0
        #: number of fetches since the last surprise
        self._quiet = 0

    def note(self, host: int, error: float) -> None:
        """Note a fetch and the error of its prediction."""
        self._stale.add(host)
        self._quiet = 0 if error >= _SURPRISING else self._quiet + 1
        least = _EVERY_FETCH * max(_LEAST_SHARE, _QUIET / (_QUIET + self._quiet))
        self._surprise += least + error
        self._all_surprise += error

    def stale(self, fetches: int) -> None:
        """Predict the first links of recently fetched hosts again.

        Do nothing while fetches match their predictions. At the start, and from time to time, all
        links are predicted. ``fetches`` is the total number of fetches.
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
        """Whether a full refresh is due, ``fetches`` after the last one."""
        options, links = self._options, self._table.size
        every = max(
            options.refresh_every, links // _LINKS_PER_FETCH, self._changed // _KEYS_PER_FETCH
        )
        if fetches < every:
            return False
        surprised = self._all_surprise >= options.refresh_all_surprise
        return surprised or fetches >= _UNSURPRISED * every or links > options.max_links

    def all(self, fetches: int) -> None:
        """Predict all waiting links, and choose the fronts again."""
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
        """Correct the first links of a host until those that are then first are correct.

        Many similar links may all be worth less than their key says; the next ones, with outdated
        keys, would then be taken first.
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
        """Predict the waiting links with numbers from ``first`` to ``end - 1``."""
        table = self._table
        numbers = first + np.flatnonzero(table["state"][first:end] == WAITING)
        if len(numbers) < (end - first) // 2 or self._shares is not None:
            self._predict(numbers)
            return
        # predicting a few links too many is cheaper than gathering rows
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
                priors, levels = columns["share_prior"][numbers], columns["level"][numbers]
                shares = self._shares.among(rows, starts, priors, levels)
                columns["share"][numbers], columns["hope"][numbers] = shares

    def _forget(self) -> None:
        """Forget the least promising waiting links, until a tenth of the table is free."""
        table, most = self._table, self._options.max_links
        kept = np.ones(table.size, bool)
        waiting = table.waiting()
        surplus = min(len(waiting), table.size - most * 9 // 10)
        if surplus:
            worst = np.argsort(table["told"][waiting], kind="stable")[:surplus]
            kept[waiting[worst]] = False
        if table.size - surplus > most:
            # with very many fetched pages, the oldest half goes too
            kept[: table.size // 2] = False
        table.keep(kept)
        self._order.renumber(kept)
        self._forgotten()


#: unit of dryness: consecutive fruitless fetches that give 1; three times as many give 2 …
_DRY_UNIT = 32
#: links under one name that make a list
_LIST = 8


class FetchCounts:
    """Counts fetches by name; names get numbers, by which arrays are read in bulk."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.names: list[str] = []
        #: updated one by one, which is faster in lists than in arrays
        self._counts: list[float] = []
        self._fruitless: list[int] = []
        self._links: list[int] = []
        #: number of lists without a fetch
        self.untried_lists = 0
        self._make_room(256)

    def _make_room(self, size: int) -> None:
        """Allocate arrays for ``size`` names.

        They are read in bulk. The last element, never used, is for unknown names (number -1).
        """
        self._shares: Floats = np.ones(size + 1, np.float32)
        self._dryness: Floats = np.zeros(size + 1, np.float32)
        self._untried: Floats = np.zeros(size + 1, np.float32)
        #: fetches that gave nothing, and that gave a document
        self._given: Floats = np.zeros((2, size + 1), np.float32)

    def number(self, name: str) -> int:
        """Return the number of a name; a new one if it has none."""
        number = self.numbers.get(name)
        if number is not None:
            return number
        number = self.numbers[name] = len(self.names)
        self.names.append(name)
        self._counts.append(0)
        self._fruitless.append(0)
        self._links.append(0)
        if number + 1 == len(self._shares):
            self._shares = np.concatenate((self._shares, np.ones(number, np.float32)))
            self._dryness = np.concatenate((self._dryness, np.zeros(number, np.float32)))
            self._untried = np.concatenate((self._untried, np.zeros(number, np.float32)))
            more = np.zeros((2, number), np.float32)
            self._given = np.concatenate((self._given, more), axis=1)
        return number

    def numbers_of(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of names, as :meth:`number` does."""
        known = self.numbers
        return [known[name] if name in known else self.number(name) for name in names]

    def found(self, numbers: Iterable[int]) -> None:
        """Count found links."""
        for number in numbers:
            links = self._links[number] = self._links[number] + 1
            if links == _LIST and not self._counts[number]:
                self._untried[number] = 1
                self.untried_lists += 1

    def add(self, number: int) -> None:
        """Count a fetch."""
        if not self._counts[number] and self._links[number] >= _LIST:
            self._untried[number] = 0
            self.untried_lists -= 1
        self._counts[number] += 1
        self._shares[number] = 1 / math.sqrt(1 + self._counts[number])

    def note_yield(self, number: int, good: bool, *, grew: bool = False) -> None:
        """Note whether a fetch paid off.

        ``grew`` says that more links wait here after the fetch than before. A place that keeps
        growing may be endless, so such a fruitless fetch counts twice.
        """
        fruitless = 0 if good else self._fruitless[number] + 1 + grew
        self._fruitless[number] = fruitless
        self._dryness[number] = math.log2(1 + fruitless / _DRY_UNIT)

    def gave(self, number: int, document: bool) -> None:
        """Count a fetch by whether it gave a document."""
        self._given[int(document), number] += 1

    def trust(self, numbers: NDArray[np.integer], believed: float) -> Floats:
        """Return the share of fetches that gave a document, as if ``believed`` more had.

        -1 is an unknown name, of which nothing was fetched.
        """
        nothing, documents = self._given[:, numbers]
        result: Floats = (documents + believed) / (nothing + documents + believed)
        return result

    def untried(self, numbers: NDArray[np.integer]) -> Floats:
        """Return 1 for names with a list of links of which none was fetched, else 0."""
        result: Floats = self._untried[numbers]
        return result

    def dryness(self, numbers: NDArray[np.integer]) -> Floats:
        """Return log2(1 + n/32) for each number, after n consecutive fruitless fetches.

        -1 is an unknown name.
        """
        result: Floats = self._dryness[numbers]
        return result

    def shares(self, numbers: NDArray[np.integer]) -> Floats:
        """Return 1/√(1+n) for each number, where n is its count; -1 is an unknown name."""
        result: Floats = self._shares[numbers]
        return result

    def keep(self, numbers: NDArray[np.integer]) -> None:
        """Forget all names but those with these numbers; they get new ones in this order."""
        kept = numbers.tolist()
        self.names = [self.names[number] for number in kept]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._counts = [self._counts[number] for number in kept]
        self._fruitless = [self._fruitless[number] for number in kept]
        self._links = [self._links[number] for number in kept]
        before = self._shares, self._dryness, self._untried, self._given
        self._make_room(max(256, len(kept)))
        now = self._shares, self._dryness, self._untried, self._given
        for old, new in zip(before, now, strict=True):
            new[..., : len(kept)] = old[..., numbers]
        self.untried_lists = int(self._untried.sum())

    def state(self) -> dict[str, list[str] | NDArray[np.generic]]:
        """Return everything that is saved, for :meth:`restore`."""
        return {
            "names": self.names,
            "counts": np.array(self._counts, np.float32),
            "fruitless": np.array(self._fruitless, np.int64),
            "given": self._given[:, : len(self.names)],
        }

    def restore(
        self,
        names: list[str],
        counts: Floats,
        fruitless: NDArray[np.int64] | None = None,
        given: Floats | None = None,
    ) -> None:
        """Restore the result of :meth:`state`; raise ``ValueError`` if it does not fit.

        States of earlier versions lack ``fruitless`` and ``given``.
        """
        self.numbers = {name: i for i, name in enumerate(names)}
        self.names, self._counts = list(names), counts.tolist()
        self._fruitless = [0] * len(names) if fruitless is None else fruitless.tolist()
        self._links, self.untried_lists = [0] * len(names), 0
        lengths = {len(known) for known in (self.numbers, names, self._counts, self._fruitless)}
        if len(lengths) > 1:
            raise ValueError("names and counts are not of the same number")
        self._make_room(max(256, len(names)))
        if given is not None:
            self._given[:, : len(names)] = given
        self._shares[: len(names)] = 1 / np.sqrt(1 + counts)
        self._dryness[: len(names)] = np.log2(1 + np.array(self._fruitless) / _DRY_UNIT)
