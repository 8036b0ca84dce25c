"""The strategy ``learned``: takes the link of the largest learned index first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.relevance.learned.features import FeatureMaker, LinkFacts
from semcrawl.relevance.learned.memory import CrawlMemory
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.state import pack, unpack
from semcrawl.relevance.learned.table import NONE, LinkState
from semcrawl.relevance.learned.targets import TargetSigns
from semcrawl.vocabulary import Kind

#: descriptions of links that were ranked but not yet learned of
_REMEMBERED = 50_000
#: features shown for and against a link
_EXPLAINED = 8
_FLAG_TARGET = 1
_FLAG_AMBIGUOUS = 2
_FLAG_SURE = 4


class Learned:
    """Online index model with exploration and backups; one group per host."""

    name = "learned"

    def __init__(self, options: LearnedOptions | None = None) -> None:
        self.options = options or LearnedOptions()
        self._maker = FeatureMaker(self.options, TargetSigns.parse(self.options.targets))
        self._memory = CrawlMemory(self.options)
        self._described: OrderedDict[str, LinkFacts] = OrderedDict()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Make the strategy; see :meth:`LearnedOptions.from_settings` for the settings."""
        return cls(LearnedOptions.from_settings(settings))

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge the links of a page by the index that is predicted now."""
        memory = self._memory
        described = [self._facts(link) for link in links]
        fresh = [i for i, f in enumerate(described) if not f.dropped]
        facts = [described[i] for i in fresh]
        urls = [links[i].url for i in fresh]
        index = memory.predict(facts, memory.priors(urls, facts))
        scores = index + self._bonuses(facts)
        ranked: list[Ranked | None] = [None] * len(links)
        for i, q, score in zip(fresh, index.tolist(), scores.tolist(), strict=True):
            fact = described[i]
            ranked[i] = Ranked(links[i], self._label(fact, q), fact.host, -score, ())
        return [r or Ranked(link, Label.N, None) for r, link in zip(ranked, links, strict=True)]

    def learn(self, outcome: Outcome) -> None:
        """Take in a fetch and the links that it brought into the frontier."""
        memory = self._memory
        number = self._number(outcome)
        if memory.table["state"][number] == LinkState.DONE:
            return
        useful = outcome.kind is Kind.HTML and not outcome.duplicate
        known = memory.table.ids
        new = list(
            {
                r.link.url: r
                for r in outcome.new_links
                if r.group is not None and r.link.url not in known
            }.values()
        )
        facts = [self._facts(r.link) for r in new]
        children = memory.add(
            [r.link.url for r in new], facts, parent=number,
            told=np.fromiter((-r.key for r in new), np.float32, len(new)),
        )  # fmt: skip
        for r in outcome.new_links:
            self._described.pop(r.link.url, None)
        target = outcome.target and not outcome.duplicate
        if target:
            memory.table["flags"][number] |= _FLAG_TARGET
        memory.observe(number, target=target, links=children if useful else range(0))

    def taken(self, urls: Sequence[str]) -> None:
        """Count these links as fetched already, where exploration is concerned."""
        for url in urls:
            number = self._memory.table.ids.get(url)
            if number is not None:
                self._memory.taken(number)

    def values(self) -> Mapping[str, float]:
        """Best index plus bonus of each host that changed."""
        return self._memory.host_values()

    def rekeyed(self) -> Mapping[str, float]:
        """New keys of the links in front whose index moved."""
        return {url: -score for url, score in self._memory.moved().items()}

    def expected_remaining(self) -> float:
        """Targets that may still be found among and behind the waiting links."""
        return self._memory.expected_remaining()

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Rows: index, bonus, prior, and the features that weigh most, for and against."""
        facts, memory = self._facts(link), self._memory
        if facts.dropped:
            return [("dropped", "its extension, type or rel is never a target's or a page's")]
        priors = memory.priors([link.url], [facts])
        index = float(memory.predict([facts], priors)[0])
        bonus = float(self._bonuses([facts])[0])
        weighed = sorted(
            ((float(memory.model.weights[row]), name) for name, row in self._maker.named(link)),
            key=lambda item: -abs(item[0]),
        )
        rows = [
            ("index", f"{index:.3f} targets per request"),
            ("exploration bonus", f"{bonus:.3f}"),
            ("prior", f"{float(priors[0]):+.2f} logits"),
        ]
        rows += [("for", f"{w:+.2f} {name}") for w, name in weighed if w > 0.005][:_EXPLAINED]
        rows += [("against", f"{w:+.2f} {name}") for w, name in weighed if w < -0.005][:_EXPLAINED]
        return rows

    def dump_state(self) -> bytes:
        """Weights, counts, the discovery tree and the best of the waiting links."""
        return pack(self._memory.state())

    def load_state(self, state: bytes) -> None:
        """Go on with a dumped state; raise ``UsageError`` for a foreign or damaged one."""
        memory = CrawlMemory(self.options)
        memory.restore(unpack(state))
        self._memory = memory

    def _facts(self, link: Link) -> LinkFacts:
        facts = self._described.get(link.url)
        if facts is None:
            facts = self._maker.facts(link)
            self._described[link.url] = facts
            if len(self._described) > _REMEMBERED:
                self._described.popitem(last=False)
        return facts

    def _bonuses(self, facts: Sequence[LinkFacts]) -> np.ndarray:
        options, memory = self.options, self._memory
        if not options.use_exploration:
            return np.zeros(len(facts), np.float32)
        rates = (options.explore_cluster, options.explore_section, options.explore_subsection)
        counts = (memory.clusters, memory.sections, memory.subsections)
        return np.array(
            [
                sum(
                    r / (1 + c.count(n)) ** 0.5
                    for r, c, n in zip(rates, counts, f.groups, strict=True)
                )
                for f in facts
            ],
            np.float32,
        )

    def _label(self, facts: LinkFacts, index: float) -> Label:
        if facts.signs.sure or facts.signs.ambiguous:
            return Label.R
        return Label.HR if index >= 0.3 else Label.H

    def _number(self, outcome: Outcome) -> int:
        """The link that was fetched; one that nobody told us of (a seed) is put in."""
        ids = self._memory.table.ids
        for url in (outcome.url, outcome.final_url):
            if url in ids:
                return ids[url]
        parent = ids.get(outcome.parent or "", NONE)
        facts = self._facts(Link(outcome.url, element="seed"))
        number = self._memory.add([outcome.url], [facts]).start
        self._memory.table["parent"][number] = parent
        return number
