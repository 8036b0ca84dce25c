"""What one crawl has learned: weights, the discovery tree, and the order of the waiting links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from semcrawl.errors import UsageError
from semcrawl.relevance.learned.explore import FetchCounts
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.model import Floats, Ids, IndexModel, page_index, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.table import NONE, LinkState, LinkTable

#: where a backup stops: the parent's observation hardly moved
_NO_NEWS = 0.002
#: … and what makes a recomputed observation worth a step of learning
_NEWS = 0.01
#: rows that a full refresh may go through per fetch, averaged
_ROWS_PER_FETCH = 40_000


class CrawlMemory:
    """Links, weights and counts of one crawl."""

    def __init__(self, options: LearnedOptions) -> None:
        self.options = options
        self.model = IndexModel(options)
        self.table = LinkTable()
        self.hosts = FetchCounts()
        self.clusters = FetchCounts()
        self.sections = FetchCounts()
        self.subsections = FetchCounts()
        self.fetches = 0
        self._last_refresh = 0
        #: host number → its best waiting links as of the last refresh, and newer ones
        self._fronts: dict[int, Ids] = {}
        self._moved: dict[int, float] = {}
        self._dirty_hosts: set[int] = set()
        self._host_values: dict[int, float] = {}

    # -- links come in

    def priors(self, urls: Sequence[str], facts: Sequence[LinkFacts]) -> Floats:
        """Prior logits with the jitter that breaks ties, the same for a URL and a seed."""
        count = len(urls)
        if not self.options.use_prior:
            base = np.full(count, -2.2, np.float32)
        else:
            base = np.fromiter((f.prior for f in facts), np.float32, count)
        salt = self.options.seed & 0xFFFFFFFF
        noise = np.fromiter(
            (crc32(u[:2000].encode("utf-8", "replace"), salt) for u in urls), np.uint64, count
        )
        return base + np.float32(self.options.jitter) * _normal(noise)

    def predict(self, facts: Sequence[LinkFacts], priors: Floats) -> Floats:
        """Indexes of links that need not be in the table."""
        lengths = np.fromiter((len(f.rows) for f in facts), np.int64, len(facts))
        if not len(lengths):
            return np.zeros(0, np.float32)
        rows = np.concatenate([f.rows for f in facts])
        return sigmoids(self.model.logits(rows, np.cumsum(lengths) - lengths, priors))

    def add(
        self, urls: Sequence[str], facts: Sequence[LinkFacts], parent: int = NONE,
        told: Floats | None = None, flags: Sequence[int] = (),
    ) -> range:  # fmt: skip
        """Put new links of one page in the table, waiting; return their numbers."""
        if not urls:
            return range(self.table.size, self.table.size)
        priors = self.priors(urls, facts)
        index = self.predict(facts, priors)
        names = [f.groups for f in facts]
        numbers = self.table.append(
            urls,
            facts,
            prior=priors,
            index=index,
            told=index if told is None else told,
            parent=parent,
            host=np.array([self.hosts.number(f.host) for f in facts]),
            cluster=np.array([self.clusters.number(n[0]) for n in names]),
            section=np.array([self.sections.number(n[1]) for n in names]),
            subsection=np.array([self.subsections.number(n[2]) for n in names]),
            flags=np.array(flags, np.uint8) if flags else 0,
        )
        if parent != NONE and self.table["first_child"][parent] == NONE:
            self.table["first_child"][parent] = numbers.start
            self.table["children"][parent] = len(numbers)
        self._to_fronts(np.arange(numbers.start, numbers.stop))
        return numbers

    # -- what became of them

    def taken(self, number: int) -> None:
        """Count a link as being fetched: its like lose some of their exploration bonus."""
        table = self.table
        if table["state"][number] == LinkState.WAITING:
            table["state"][number] = LinkState.TAKEN
            self._count(number)

    def observe(self, number: int, *, target: bool, links: range) -> None:
        """Learn from a fetch: whether it was a target, and which new links it opened."""
        table = self.table
        if table["state"][number] == LinkState.WAITING:
            self._count(number)
        table["state"][number] = LinkState.DONE
        seen = 1.0 if target else self._seen(links)
        table["observed"][number] = seen
        self.model.update(table.rows(number), float(table["prior"][number]), seen, 1.0)
        if self.options.use_backups:
            self._back_up(number)
        self.fetches += 1
        self._dirty_hosts.add(int(table["host"][number]))
        self._refresh_when_due(int(table["host"][number]))

    def _seen(self, links: range) -> float:
        return page_index(self._values(links))

    def _values(self, links: range) -> Floats:
        """What each link turned out to be worth, or else is predicted to be."""
        part = slice(links.start, links.stop)
        observed = self.table["observed"][part]
        values: Floats = np.where(np.isnan(observed), self.table["index"][part], observed)
        return values

    def _back_up(self, number: int) -> None:
        """Walk up the discovery tree and learn again what each page is worth by now."""
        table = self.table
        parent = int(table["parent"][number])
        for level in range(self.options.backup_depth):
            if parent == NONE:
                return
            before = float(table["observed"][parent])
            first = int(table["first_child"][parent])
            if first != NONE and not np.isnan(before) and not table["flags"][parent] & 1:
                now = page_index(self._values(range(first, first + int(table["children"][parent]))))
                change = abs(now - before)
                table["observed"][parent] = now
                if level == 0 or change > _NEWS:
                    self.model.update(
                        table.rows(parent), float(table["prior"][parent]), now,
                        self.options.backup_weight,
                    )  # fmt: skip
                if change < _NO_NEWS:
                    return
            parent = int(table["parent"][parent])

    def _count(self, number: int) -> None:
        table = self.table
        self.clusters.add(int(table["cluster"][number]))
        self.sections.add(int(table["section"][number]))
        self.subsections.add(int(table["subsection"][number]))

    # -- the order of what waits

    def bonus(self, numbers: Ids) -> Floats:
        """Exploration bonus of links."""
        options, table = self.options, self.table
        if not options.use_exploration:
            return np.zeros(len(numbers), np.float32)
        result: Floats = (
            options.explore_cluster * self.clusters.shares(table["cluster"][numbers])
            + options.explore_section * self.sections.shares(table["section"][numbers])
            + options.explore_subsection * self.subsections.shares(table["subsection"][numbers])
        ).astype(np.float32)
        return result

    def scores(self, numbers: Ids) -> Floats:
        """Index (as last predicted) plus exploration bonus."""
        return self.table["index"][numbers] + self.bonus(numbers)

    def _refresh_when_due(self, host: int) -> None:
        every = max(self.options.refresh_every, 40 * self.table.size // _ROWS_PER_FETCH)
        if (
            self.fetches <= self.options.refresh_always
            or self.fetches - self._last_refresh >= every
        ):
            self.refresh()
        else:
            self._predict_again(self._fronts.get(host, _NO_LINKS))
            self._settle(host)

    def refresh(self) -> None:
        """Predict every waiting link again and note which keys in the frontier are off."""
        self._last_refresh = self.fetches
        if self.table.size > self.options.max_links:
            self._forget()
        waiting = self.table.waiting()
        for start in range(0, len(waiting), 1 << 16):
            self._predict_again(waiting[start : start + (1 << 16)])
        table = self.table
        scores = self.scores(waiting)
        best = np.maximum(scores, table["told"][waiting])
        hosts = table["host"][waiting]
        order = np.lexsort((-best, hosts))
        waiting, hosts = waiting[order], hosts[order]
        begins = np.flatnonzero(np.concatenate(([True], hosts[1:] != hosts[:-1])))[: len(hosts)]
        sizes = np.diff(np.concatenate((begins, [len(hosts)])))
        rank = np.arange(len(hosts)) - np.repeat(begins, sizes)
        head = rank < self.options.head
        self._fronts = {
            int(hosts[begin]): waiting[begin : begin + min(int(size), self.options.head)]
            for begin, size in zip(begins, sizes, strict=True)
        }
        self._dirty_hosts.update(self._fronts)
        self._tell(waiting[head], scores[order][head])

    def _settle(self, host: int) -> None:
        """Note which keys of a host's front are off."""
        front = self._fronts.get(host)
        if front is None:
            return
        front = front[self.table["state"][front] == LinkState.WAITING]
        self._fronts[host] = front
        self._tell(front, self.scores(front))

    def _tell(self, numbers: Ids, scores: Floats) -> None:
        told = self.table["told"]
        off = np.abs(scores - told[numbers]) > self.options.tolerance
        for number, score in zip(numbers[off].tolist(), scores[off].tolist(), strict=True):
            self._moved[number] = score
        told[numbers[off]] = scores[off]

    def _predict_again(self, numbers: Ids) -> None:
        table = self.table
        if len(numbers):
            rows, starts = table.gather(numbers)
            table["index"][numbers] = sigmoids(
                self.model.logits(rows, starts, table["prior"][numbers])
            )

    def _to_fronts(self, numbers: Ids) -> None:
        """New links join the fronts of their hosts, the best of them if they are many."""
        hosts = self.table["host"][numbers]
        for host in np.unique(hosts).tolist():
            mine = numbers[hosts == host]
            limit = self.options.head
            if len(mine) > limit:
                mine = mine[np.argsort(-self.table["told"][mine], kind="stable")[:limit]]
            front = self._fronts.get(host, _NO_LINKS)
            self._fronts[host] = np.concatenate((front, mine))
            self._dirty_hosts.add(host)

    # -- what the frontier is to hear

    def moved(self) -> dict[str, float]:
        """Scores by URL of waiting links whose place changed since the last call."""
        state, urls = self.table["state"], self.table.urls
        result = {
            urls[n]: score for n, score in self._moved.items() if state[n] == LinkState.WAITING
        }
        self._moved = {}
        return result

    def host_values(self) -> dict[str, float]:
        """Best score by host, where it changed since the last call."""
        if not self._dirty_hosts:
            return {}
        names = list(self.hosts.numbers)
        found: dict[str, float] = {}
        for host in sorted(self._dirty_hosts):
            front = self._fronts.get(host, _NO_LINKS)
            front = front[self.table["state"][front] == LinkState.WAITING]
            self._fronts[host] = front
            value = round(float(self.table["told"][front].max()), 3) if len(front) else 0.0
            if self._host_values.get(host) != value:
                self._host_values[host] = value
                found[names[host]] = value
        self._dirty_hosts.clear()
        return found

    def expected_remaining(self) -> float:
        """Targets that the waiting links are expected to be, or to lead to, at one each."""
        waiting = self.table.waiting()
        return float(self.table["index"][waiting].sum()) if len(waiting) else 0.0

    def _forget(self) -> None:
        """Drop the least likely tenth of the links, and the finished ones without children."""
        table = self.table
        keep = np.ones(table.size, bool)
        waiting = table.waiting()
        surplus = min(len(waiting), table.size - self.options.max_links * 9 // 10)
        scores = table["told"][waiting]
        keep[waiting[np.argpartition(scores, surplus - 1)[:surplus]]] = False
        renumbered = np.cumsum(keep) - 1
        self._moved = {int(renumbered[n]): s for n, s in self._moved.items() if keep[n]}
        self.table = table.select(keep)

    # -- kept for later

    def state(self) -> dict[str, Any]:
        """Weights, counts, the tree, and the best of the waiting links."""
        rows = np.flatnonzero(self.model.squares != np.float32(self.options.initial_squares))
        content: dict[str, Any] = {
            "bits": self.options.table_bits,
            "fetches": self.fetches,
            "weight_rows": rows,
            "weights": self.model.weights[rows],
            "squares": self.model.squares[rows],
        }
        for name in _COUNTS:
            content[f"{name}_names"], content[f"{name}_counts"] = getattr(self, name).state()
        return content | self._worth_keeping().state()

    def restore(self, content: Mapping[str, Any]) -> None:
        """Take over what :meth:`state` gave; raise ``UsageError`` if it does not fit."""
        try:
            if content["bits"] != self.options.table_bits:
                raise UsageError(
                    f"the model has 2^{content['bits']} rows, not 2^{self.options.table_bits}"
                )
            table = LinkTable.restored(content)
            rows = content["weight_rows"]
            self.model.weights[rows] = content["weights"]
            self.model.squares[rows] = content["squares"]
            self.fetches = int(content["fetches"])
            for name in _COUNTS:
                getattr(self, name).restore(content[f"{name}_names"], content[f"{name}_counts"])
        except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
            raise UsageError(f"the model cannot be read: {error}") from None
        self.table = table
        state = table["state"]
        state[state == LinkState.TAKEN] = LinkState.WAITING
        self.refresh()

    def _worth_keeping(self) -> LinkTable:
        table, most = self.table, self.options.saved_links
        if table.size <= most:
            return table
        keep = (table["children"] > 0) & (table["state"] == LinkState.DONE)
        waiting = table.waiting()
        best = np.argsort(-table["told"][waiting], kind="stable")
        keep[waiting[best[:most]]] = True
        return table.select(keep)


_COUNTS = ("hosts", "clusters", "sections", "subsections")
_NO_LINKS: Ids = np.zeros(0, np.int64)


def _normal(noise: np.ndarray) -> Floats:
    """Normally distributed numbers from 32 uniform bits each (sum of four uniform bytes)."""
    mixed = (noise * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    total = np.zeros(len(noise), np.float64)
    for shift in (0, 8, 16, 24):
        total += ((mixed >> np.uint64(shift)) & np.uint64(255)).astype(np.float64)
    # a uniform byte has variance (256² - 1) / 12
    result: Floats = ((total - 510.0) / (4 * 65535 / 12) ** 0.5).astype(np.float32)
    return result
