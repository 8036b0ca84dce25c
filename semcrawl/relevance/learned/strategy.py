"""The strategy ``learned``: the link with the largest learned index comes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from semcrawl.config.targets import Targets
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.relevance.learned import expecting
from semcrawl.relevance.learned.aboutness import TopicSigns, options_for
from semcrawl.relevance.learned.answering import NO_HOST
from semcrawl.relevance.learned.expecting import evidence
from semcrawl.relevance.learned.features import FeatureMaker, LinkFacts
from semcrawl.relevance.learned.memory import (
    CrawlMemory,
    content_of,
    pack,
    read_model,
    take_over,
    unpack,
)
from semcrawl.relevance.learned.model import Judgement
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.parts import SeedFolders, folder_of
from semcrawl.relevance.learned.prior import TargetSigns
from semcrawl.relevance.learned.table import DONE, NONE, Floats
from semcrawl.relevance.rules import relevancy_inside_rdf, relevancy_r
from semcrawl.topics import Topic, about
from semcrawl.web.vocabulary import Kind

#: most described links that were ranked but not learned yet
_REMEMBERED = 20_000
#: most links in flight without an outcome yet
_EARLY = 50_000
#: least probability of a link labelled R; and of one where only the content can tell
_LIKELY_TARGET = 0.5
_WORTH_A_LOOK = 0.1
#: score that a seed has beyond what it is judged by, so that seeds come before links, as with other
#: strategies: what strangers name must not keep back what the user names
_SEED_LEAD = 1e3
#: least index of a page labelled HR; a page with a single target has ½
_LIKELY_PARENT = 0.35


class Learned:
    """Online index model with exploration and backups; one group per host."""

    name = "learned"
    #: it changes keys of waiting links, so the crawler has to know their groups
    rekeys = True

    def __init__(self, options: LearnedOptions | None = None, topic: Topic | None = None) -> None:
        """Make the strategy of a crawl about ``topic``, if any."""
        self.options = options_for(topic, options or LearnedOptions())
        #: it judges the folders that pages are in, as these may have data that no page links to
        self.ascends = self.options.ascend
        #: … and documents that pages have if they are like others of their host
        self.guesses = self.options.guess
        targets = Targets.parse(self.options.targets)
        self._rdf_counts = targets.rdf
        #: whether the place of RDF and its relevance to the topic are learned separately
        self._with_shares = topic is not None and targets == Targets()
        self._maker = FeatureMaker(
            self.options,
            TargetSigns.of(targets),
            TopicSigns(topic, in_folders=self._with_shares) if topic is not None else None,
            with_shares=self._with_shares,
        )
        self._memory = CrawlMemory(self.options, with_shares=self._with_shares)
        self._seeds = SeedFolders()
        #: facts of ranked links, by the link's identity. Other workers know a link only from the
        #: page whose worker added it, so facts from other pages must not count here either
        self._described: OrderedDict[int, tuple[Link, LinkFacts]] = OrderedDict()
        self._in_step = False
        #: links in flight that are not in the table yet, such as seeds
        self._early: set[str] = set()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Make the strategy; see :meth:`LearnedOptions.from_settings` for the settings.

        ``SEMCRAWL_MODEL`` names a file with another crawl's state to start from; raises
        ``UsageError`` if it cannot be read or used.
        """
        topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
        strategy = cls(LearnedOptions.from_settings(settings), topic)
        if path := settings.get("SEMCRAWL_MODEL"):
            strategy.load_model(read_model(path))
        return strategy

    # -- the contract

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge the links of a page by their predicted index."""
        if page.depth == 0 and self._in_step:
            # other workers know a seed only from its outcome on, and so must this one
            with self._seeds.for_now(page.url):
                return self._rank(page, links)
        if page.depth == 0:
            self._seeds.add(page.url)
        return self._rank(page, links)

    def learn(self, outcome: Outcome) -> None:
        """Learn the outcome of a fetch, and add its new links."""
        memory, page = self._memory, outcome.final_url or outcome.url
        if outcome.parent is None:
            self._seeds.add(page)
            if self._in_step:  # the facts depend on the seeds
                self._described.clear()
        self._early.discard(outcome.url)
        number = self._number(outcome)
        if memory.table.columns["state"].item(number) == DONE:
            self._add(
                number, page, outcome.new_links, outcome.relevance
            )  # further links of a long list
            return
        known = memory.table.ids
        children = self._add(number, page, outcome.new_links, outcome.relevance)
        second = outcome.duplicate and memory.is_twin(number)
        if second:
            memory.doubt(children)
        if outcome.kind is None and not outcome.duplicate:
            memory.failed(number)
        if page != outcome.url and (elsewhere := known.get(page, number)) != number:
            memory.superseded(elsewhere)
        success = outcome.status is not None and 200 <= outcome.status < 300
        answered = success or outcome.duplicate or outcome.kind is not None
        had = second or outcome.kind not in (Kind.HTML, Kind.RDF)
        target = outcome.target and not outcome.duplicate
        links, gain = range(0) if had else children, outcome.worth
        if memory.shares is not None and outcome.kind is Kind.HTML:
            memory.shares.learn_page(memory.table, number, outcome.relevance or 0.0, links)
        if self._rdf_counts and outcome.relevance is not None and outcome.kind is Kind.RDF:
            if memory.shares is None:
                gain = max(gain, memory.near_miss(relevant=outcome.target))
            elif not outcome.duplicate:
                memory.shares.learn(memory.table, number, gain)
                target, gain = True, 1.0
        memory.observe(number, target=target, gain=gain, links=links, answered=answered)

    def _add(
        self, number: int, page: str, links: Sequence[Ranked], relevance: float | None
    ) -> range:
        """Add the new ones of a page's links to the table; return their numbers."""
        memory, known = self._memory, self._memory.table.ids
        new = {r.link.url: r for r in links if r.group is not None and r.link.url not in known}
        if not new:
            return range(0)
        found = [r.link for r in new.values()]
        facts = self._facts(page, found, relevance)
        told = np.fromiter((-r.key for r in new.values()), np.float32, len(new))
        judged = Judgement.together([r.judged for r in new.values()])
        children = memory.add(list(new), facts, number, told, judged)
        for child, link in zip(children, found, strict=True):
            self._described.pop(id(link), None)
            if link.url in self._early:
                self._early.remove(link.url)
                memory.taken(child)
        return children

    def taken(self, urls: Sequence[str]) -> None:
        """Count these links as fetched, for the exploration bonus."""
        for url in urls:
            number = self._memory.table.ids.get(url)
            if number is not None:
                self._memory.taken(number)
            elif len(self._early) < _EARLY:
                self._early.add(url)

    def values(self) -> Mapping[str, float]:
        """Return nothing: all groups have the same value, so the best key comes first.

        A value per host would be that of its best link, and outdated once that link is taken:
        several links taken at once would all come from one host.
        """
        return {}

    def rekeyed(self) -> Mapping[str, float]:
        """Return new keys of links whose score changed."""
        self._memory.refresh_stale()
        return {url: -score for url, score in self._memory.order.moved().items()}

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows with label, index, bonus, prior, and the heaviest features."""
        (facts,) = self._facts(page.url, [link], page.relevance)
        if facts.dropped:
            return [("dropped", "its address, type or rel is never a page's or a target's")]
        judged, index, scores = self._judge(page.depth + 1, [link], [facts])
        target = float(judged.likely[0])
        label = self._label(page, link, facts, float(index[0]), target)
        named = self._maker.named(link, folder_of(page.url), self._seeds, page.relevance)
        return [
            ("label", str(label)),
            ("rules", " ".join(relevancy_r(link)[1]) or "none holds"),
            ("index", f"{index[0]:.3f} targets per request"),
            ("exploration bonus", f"{scores[0] - index[0]:.3f}"),
            ("is a target", f"{target:.0%} likely"),
            *self._share_row(facts),
            *evidence(self._memory, link.url, facts, named),
        ]

    def dump_state(self) -> bytes:
        """Return weights, counts, the discovery tree and the best waiting links."""
        return pack(content_of(self._memory) | {"seeds": self._seeds.folders})

    def load_state(self, state: bytes) -> None:
        """Restore a state; raise ``UsageError`` for a foreign or damaged one."""
        content = unpack(state)
        memory = CrawlMemory(self.options, with_shares=self._with_shares)
        take_over(memory, content)
        self._memory = memory
        self._seeds = SeedFolders(content.get("seeds", {}))

    # -- beyond the contract

    def load_model(self, state: bytes) -> None:
        """Start from another crawl's weights; raise ``UsageError`` as :meth:`load_state` does."""
        take_over(self._memory, unpack(state), weights_only=True)

    def keep_in_step(self) -> None:
        """Learn from now on exactly like every worker with the same outcomes in the same order."""
        self._in_step = True

    def room(self, in_flight: int) -> int:
        """Return how many more fetches to start while ``in_flight`` are under way.

        At the start every answer changes the order, so many requests in flight waste requests. Sure
        targets are not limited. Of other links only a few may be in flight, and one more after
        every ``ramp`` fetches. At least 1 when none is in flight.
        """
        uncertain = min(self._memory.pending + len(self._early), in_flight)
        return expecting.room(self._memory, uncertain)

    def expected_next(self, requests: int) -> float:
        """Return the expected number of targets from the next ``requests`` requests."""
        return expecting.expected_next(self._memory, requests)

    def expected_remaining(self) -> float:
        """Return the expected number of targets among waiting links and the pages behind them."""
        return expecting.expected_remaining(self._memory)

    # -- inside

    def _rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        known = self._memory.table.ids
        new = iter(self._rank_new(page, [link for link in links if link.url not in known]))
        return [
            next(new) if (number := known.get(link.url)) is None else self._rank_known(link, number)
            for link in links
        ]

    def _share_row(self, facts: LinkFacts) -> list[tuple[str, str]]:
        """Return the row about the topic, if its share is predicted separately."""
        if (shares := self._memory.shares) is None:
            return []
        share, hope = (each.item(0) for each in shares.of([facts]))
        return [("about the topic", f"{share:.0%} of what it leads to; at best {hope:.0%}")]

    def _facts(
        self, page: str, links: Sequence[Link], relevance: float | None = None
    ) -> list[LinkFacts]:
        """Return the facts of a page's links, cached until they are learned."""
        described = self._described
        unknown = [link for link in links if id(link) not in described]
        if unknown:
            facts = self._maker.facts(unknown, folder_of(page), self._seeds, relevance)
            described.update(zip(map(id, unknown), zip(unknown, facts, strict=True), strict=True))
        found = [described[id(link)][1] for link in links]
        while len(described) > _REMEMBERED:
            described.popitem(last=False)
        return found

    def _judge(
        self, depth: int, links: Sequence[Link], facts: Sequence[LinkFacts]
    ) -> tuple[Judgement, Floats, Floats]:
        """Return the judgement of links, their index, and their score (index plus bonus).

        ``depth``: clicks from a seed.
        The index includes the trust in their hosts.
        """
        memory = self._memory
        judged = memory.judge.of(memory.table, [link.url for link in links], facts)
        index = judged.indexes
        if not len(index):
            return judged, index, index
        if memory.answering.doubtful:
            hosts = np.array([memory.hosts.numbers.get(f.host, NO_HOST) for f in facts])
            names = [f.named_by for f in facts]
            index = index * memory.answering.trust_as_named(hosts, names)
        shares = None if memory.shares is None else memory.shares.of(facts)
        clusters, sections, below = memory.places(facts)
        hope = index if shares is None else index * shares.hope
        worth = memory.worth(hope, clusters, sections, below, np.float32(depth))
        return judged, index if shares is None else index * shares.share, worth

    def _rank_new(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge links that are not in the table."""
        described = self._facts(page.url, links, page.relevance)
        kept = [i for i, facts in enumerate(described) if not facts.dropped]
        if not kept:
            return [Ranked(link, Label.N, None) for link in links]
        facts = [described[i] for i in kept]
        judged, index, scores = self._judge(page.depth + 1, [links[i] for i in kept], facts)
        found = iter(zip(facts, judged.each(), index.tolist(), scores.tolist(), strict=True))
        ranked = []
        for link, seen in zip(links, described, strict=True):
            if seen.dropped:
                ranked.append(Ranked(link, Label.N, None))
                continue
            fact, numbers, worth, score = next(found)
            label = self._label(page, link, fact, worth, numbers[-1])
            lead = _SEED_LEAD if link.element == "seed" else 0.0
            ranked.append(Ranked(link, label, fact.host, -score - lead, judged=numbers))
        return ranked

    def _rank_known(self, link: Link, number: int) -> Ranked:
        """Return the present judgement of a link in the table."""
        memory, table = self._memory, self._memory.table
        index = float(table["index"][number])
        label = Label.HR if index >= _LIKELY_PARENT else Label.H
        if table["target"][number] >= _LIKELY_TARGET:
            label = Label.R
        return Ranked(link, label, memory.hosts.names[table["host"][number]], -index)

    def _label(
        self, page: Page, link: Link, facts: LinkFacts, index: float, target: float
    ) -> Label:
        """Label a link (sources.md T.1); one that only its content can tell is R until learned.

        It stays R if a rule of T.2 holds, as bodies refused for their header teach nothing about
        those that such a rule finds.
        """
        if page.rdf:
            return relevancy_inside_rdf(link)
        ambiguous = facts.signs.ambiguous
        if target >= (_WORTH_A_LOOK if ambiguous else _LIKELY_TARGET):
            return Label.R
        if ambiguous:
            return Label.R if relevancy_r(link)[1] else Label.N
        return Label.HR if index >= _LIKELY_PARENT else Label.H

    def _number(self, outcome: Outcome) -> int:
        """Return the number of the fetched link; add an unknown one, such as a seed."""
        ids = self._memory.table.ids
        for url in (outcome.url, outcome.final_url):
            if (number := ids.get(url)) is not None:
                return number
        page, seed = outcome.parent or outcome.url, [Link(outcome.url, element="seed")]
        facts = self._facts(page, seed)
        self._described.pop(id(seed[0]), None)
        number = self._memory.add([outcome.url], facts).start
        self._memory.table["parent"][number] = ids.get(outcome.parent or "", NONE)
        return number
