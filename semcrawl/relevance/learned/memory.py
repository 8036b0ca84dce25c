"""What one crawl has learned: weights, counts, and the discovery tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.answering import AnsweringHosts
from semcrawl.relevance.learned.explore import FetchCounts
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.judging import Judge, Judgement
from semcrawl.relevance.learned.model import Floats, Ids, Models, page_index
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.order import WaitingOrder, rounded
from semcrawl.relevance.learned.places import twin_addresses
from semcrawl.relevance.learned.prior import NEVER
from semcrawl.relevance.learned.refreshing import Refresh
from semcrawl.relevance.learned.table import (
    DONE,
    FAILED,
    NONE,
    SILENT,
    TAKEN,
    TARGET,
    TWIN,
    WAITING,
    LinkTable,
)

#: by how much an observation must be off what was predicted to be learned from, lest endless
#: pages of nothing cost as much as those that tell something
_AS_EXPECTED = 0.0005
#: … and the kind of a document off its probability, which tells labels apart and no more
_KIND_AS_EXPECTED = 0.01
#: where a backup stops: the parent's observation hardly moved
_NO_NEWS = 0.002
#: … and what makes a recomputed observation worth a step of learning
_NEWS = 0.01
#: … of full weight; a page whose links all turn out as expected is not learned again and again
_FULL_NEWS = 0.02
#: index of a page that shows its section not to be dry
_PROMISING = 0.1


class CrawlMemory:
    """Links, weights and counts of one crawl."""

    def __init__(self, options: LearnedOptions) -> None:
        self.options = options
        self.models = Models(options)
        #: says what links are worth that were not fetched yet
        self.judge = Judge(options, self.models)
        self.table = LinkTable()
        self.order = WaitingOrder(options, self.table, self.scores)
        self.hosts = FetchCounts()
        self.answering = AnsweringHosts()
        self.clusters = FetchCounts()
        self.sections = FetchCounts()
        self.subsections = FetchCounts()
        self.fetches = 0
        #: links in flight that may open others
        self.pending = 0
        self._refresh = Refresh(options, self.models.index, self.table, self.order)

    # -- links come in

    @property
    def age(self) -> tuple[int, int]:
        """What is the same as long as judgements stay the same."""
        return self.fetches, self.table.size

    def add(
        self,
        urls: Sequence[str],
        facts: Sequence[LinkFacts],
        parent: int = NONE,
        told: Floats | None = None,
        judged: Judgement | None = None,
    ) -> range:
        """Put new links of one page in the table, waiting; return their numbers.

        ``told``: what the frontier believes them to be worth. ``judged``: what :attr:`judge`
        would say.
        """
        if not urls:
            return range(self.table.size, self.table.size)
        judged = judged or self.judge.of(self.table, urls, facts)
        numbers = self.table.append(
            urls,
            [f.rows for f in facts],
            prior=judged.priors,
            target_prior=judged.target_priors,
            index=judged.indexes,
            target=judged.likely,
            told=judged.indexes if told is None else told,
            parent=parent,
            host=np.array([self.hosts.number(f.host) for f in facts]),
            cluster=np.array([self.clusters.number(f.groups[0]) for f in facts]),
            section=np.array([self.sections.number(f.groups[1]) for f in facts]),
            subsection=np.array([self.subsections.number(f.groups[2]) for f in facts]),
            flags=np.where(judged.twins, TWIN, 0),
        )
        columns = self.table.columns
        if parent != NONE and columns["first_child"][parent] == NONE:
            columns["first_child"][parent] = numbers.start
            columns["children"][parent] = len(urls)
        self.order.join(np.arange(numbers.start, numbers.stop))
        return numbers

    # -- what became of them

    def taken(self, number: int) -> None:
        """Count a link as being fetched: its like lose some of their exploration bonus."""
        columns = self.table.columns
        if columns["state"][number] == WAITING:
            columns["state"][number] = TAKEN
            self._count(number)
            self.pending += bool(columns["index"][number] < self.options.sure)

    def failed(self, number: int) -> None:
        """Hear that an address gave nothing: its twins may still be good."""
        table = self.table
        table["flags"][number] |= FAILED
        for url in twin_addresses(table.urls[number]):
            twin = table.ids.get(url)
            if twin is not None and table["flags"][twin] & TWIN:
                table["flags"][twin] &= ~TWIN & 0xFF
                table["prior"][twin] += np.float32(self.options.twin_penalty)

    def doubt(self, links: range) -> None:
        """Hear that links were found on a copy of a page that was had under another address.

        They are the page's own links, read from the wrong place, or those of a mirror.
        """
        self.table["prior"][links.start : links.stop] -= np.float32(self.options.twin_penalty)

    def superseded(self, number: int) -> None:
        """Hear that a waiting link's document was had under another address."""
        if self.table["state"][number] == WAITING:
            self.table["prior"][number] = NEVER

    def observe(self, number: int, *, target: bool, links: range, answered: bool = True) -> None:
        """Learn from a fetch: whether it was a target, and which new links it opened.

        ``answered``: something came of it. What fails on a host that never answered tells of that
        host, and nothing of what good links look like.
        """
        columns = self.table.columns  # read one by one here: whole columns are cut to length
        state, index = columns["state"].item(number), columns["index"].item(number)
        if state == WAITING:
            self._count(number)
        elif state == TAKEN and index < self.options.sure:
            self.pending = max(0, self.pending - 1)
        columns["state"][number] = DONE
        seen = 1.0 if target else self._page_index(links)
        columns["observed"][number] = seen
        section = columns["section"].item(number)
        self.sections.note_yield(section, seen >= _PROMISING, grew=self._grew(section, links))
        if target:
            columns["flags"][number] |= TARGET
        rows, error = self.table.rows(number), abs(seen - index)
        host = columns["host"].item(number)
        if answered:
            self.answering.answered(host)
        else:
            columns["flags"][number] |= SILENT
        telling = answered or self.answering.failed(host)
        if telling and error >= _AS_EXPECTED:
            self.models.index.update(rows, columns["prior"].item(number), seen, 1.0)
        if telling and abs(target - columns["target"].item(number)) >= _KIND_AS_EXPECTED:
            self.models.kinds.update(rows, columns["target_prior"].item(number), float(target), 1.0)
        if self.options.use_backups and error >= _NO_NEWS:
            self._back_up(number)
        self.fetches += 1
        self._refresh.note(host, error)

    def _values(self, links: range) -> Floats:
        """What each link turned out to be worth, or else is predicted to be."""
        part = slice(links.start, links.stop)
        observed = self.table.columns["observed"][part]
        predicted = self.table.columns["index"][part]
        if self.answering.doubtful:
            predicted = predicted * self.answering.trust(self.table.columns["host"][part])
        values: Floats = np.where(np.isnan(observed), predicted, observed)
        return values

    def _grew(self, section: int, links: range) -> bool:
        """Whether more of a section waits after one of its pages was had, that had these links."""
        if len(links) < 2:
            return False
        sections = self.table.columns["section"][links.start : links.stop]
        return int(np.count_nonzero(sections == section)) > 1

    def _page_index(self, links: range) -> float:
        """What a page with these new links is worth."""
        if not links:
            return 0.0
        return page_index(self._values(links), self.options.horizon)

    def _back_up(self, number: int) -> None:
        """Walk up the discovery tree and learn again what each page is worth by now."""
        columns = self.table.columns
        parent = columns["parent"].item(number)
        for level in range(self.options.backup_depth):
            if parent == NONE:
                return
            before = columns["observed"].item(parent)
            first = columns["first_child"].item(parent)
            if first != NONE and not math.isnan(before) and not columns["flags"][parent] & TARGET:
                now = self._page_index(range(first, first + columns["children"].item(parent)))
                change = abs(now - before)
                columns["observed"][parent] = now
                if now >= _PROMISING:
                    self.sections.note_yield(columns["section"].item(parent), True)
                if change < _NO_NEWS:
                    return
                if level == 0 or change > _NEWS:
                    prior = columns["prior"].item(parent)
                    weight = self.options.backup_weight * min(1.0, change / _FULL_NEWS)
                    self.models.index.update(self.table.rows(parent), prior, now, weight)
            parent = columns["parent"].item(parent)

    def _count(self, number: int) -> None:
        columns = self.table.columns
        self.clusters.add(columns["cluster"].item(number))
        self.sections.add(columns["section"].item(number))
        self.subsections.add(columns["subsection"].item(number))

    # -- the order of what waits

    def believed(self, numbers: Ids) -> Floats:
        """Index as last predicted, less on hosts that never answered."""
        index: Floats = self.table["index"][numbers]
        if self.answering.doubtful:
            index = index * self.answering.trust(self.table["host"][numbers])
        return index

    def scores(self, numbers: Ids) -> Floats:
        """Index (as last predicted) plus exploration bonus, less in sections that ran dry."""
        table = self.table
        index = self.believed(numbers)
        sections = table["section"][numbers]
        worth: Floats = index - np.float32(self.options.dry_penalty) * self.sections.dryness(
            sections
        )
        if self.options.use_exploration:
            worth = worth + self.bonus(
                index, table["cluster"][numbers], sections, table["subsection"][numbers]
            )
        return rounded(worth)

    def bonus(
        self, index: Floats, clusters: NDArray[Any], sections: NDArray[Any], below: NDArray[Any]
    ) -> Floats:
        """Exploration bonus of links; -1 as a number stands for a group never seen."""
        options = self.options
        full = (
            options.explore_cluster * self.clusters.shares(clusters)
            + options.explore_section * self.sections.shares(sections)
            + options.explore_subsection * self.subsections.shares(below)
        )
        share = np.sqrt(np.minimum(index / np.float32(options.explore_index), 1))
        result: Floats = (full * share).astype(np.float32)
        return result

    def refresh_stale(self) -> None:
        """Predict again what the last fetches may have moved."""
        self._refresh.stale(self.fetches)

    def replace_table(self, table: LinkTable) -> None:
        """Go on with other links; those that were being fetched wait again."""
        self.table = table
        self.answering = AnsweringHosts.of(table)
        self.order = WaitingOrder(self.options, table, self.scores)
        state = table["state"]
        state[state == TAKEN] = WAITING
        self._refresh = Refresh(self.options, self.models.index, table, self.order)
        self._refresh.all(self.fetches)
