"""The strategy ``learned``: takes the link of the largest learned index first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from semcrawl.config.targets import Targets
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.relevance.learned import expecting
from semcrawl.relevance.learned._state import content_of, pack, read_model, take_over, unpack
from semcrawl.relevance.learned.aboutness import TopicSigns, options_for
from semcrawl.relevance.learned.answering import NO_HOST
from semcrawl.relevance.learned.expecting import evidence
from semcrawl.relevance.learned.features import FeatureMaker, LinkFacts
from semcrawl.relevance.learned.memory import CrawlMemory
from semcrawl.relevance.learned.model import Judgement
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.parts import SeedFolders, folder_of
from semcrawl.relevance.learned.prior import TargetSigns
from semcrawl.relevance.learned.table import DONE, NONE, TAKEN, Floats
from semcrawl.relevance.rules import relevancy_inside_rdf, relevancy_r
from semcrawl.topics import Topic, about
from semcrawl.web.vocabulary import Kind

#: descriptions of links that were ranked but not yet learned of
_REMEMBERED = 20_000
#: most links in flight without an outcome yet
_EARLY = 50_000
#: from this probability on a link is labelled R; where only a look inside can tell, from the other
_LIKELY_TARGET = 0.5
_WORTH_A_LOOK = 0.1
#: index from which on a page is labelled HR: a page with one target and no more has ½
_LIKELY_PARENT = 0.35


class Learned:
    """Online index model with exploration and backups; one group per host."""

    name = "learned"
    #: it changes keys of waiting links, so that the crawler has to know where they wait
    rekeys = True

    def __init__(self, options: LearnedOptions | None = None, topic: Topic | None = None) -> None:
        """Make it with options, for a crawl about ``topic``."""
        self.options = options_for(topic, options or LearnedOptions())
        targets = Targets.parse(self.options.targets)
        self._rdf_counts = targets.rdf
        #: where RDF is, and whether it is about the topic, are learned apart
        self._with_shares = topic is not None and targets == Targets()
        self._maker = FeatureMaker(
            self.options,
            TargetSigns.of(targets),
            TopicSigns(topic, in_folders=self._with_shares) if topic is not None else None,
            with_shares=self._with_shares,
        )
        self._memory = CrawlMemory(self.options, with_shares=self._with_shares)
        self._seeds = SeedFolders()
        #: … by identity: the other workers know a link as it is on the page whose worker put it
        #: in, so that what this one saw under that address elsewhere must not count
        self._described: OrderedDict[int, tuple[Link, LinkFacts]] = OrderedDict()
        self._in_step = False
        #: links in flight without an outcome yet: seeds, and links of a page that is
        #: learned from a moment later
        self._early: set[str] = set()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Make the strategy; see :meth:`LearnedOptions.from_settings` for the settings.

        ``SEMCRAWL_MODEL`` names a file with another crawl's state to start from; raises
        ``UsageError`` when it cannot be read or used.
        """
        topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
        strategy = cls(LearnedOptions.from_settings(settings), topic)
        if path := settings.get("SEMCRAWL_MODEL"):
            strategy.load_model(read_model(path))
        return strategy

    # -- the contract

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge the links of a page by the index that is predicted now."""
        if page.depth == 0 and self._in_step:
            # the others know of a seed from when it is learned of: so does this worker
            with self._seeds.for_now(page.url):
                return self._rank(page, links)
        if page.depth == 0:
            self._seeds.add(page.url)
        return self._rank(page, links)

    def learn(self, outcome: Outcome) -> None:
        """Take in a fetch and the links that it brought into the frontier."""
        memory, page = self._memory, outcome.final_url or outcome.url
        if outcome.parent is None:
            self._seeds.add(page)
            if self._in_step:  # links have another place to the seeds now
                self._described.clear()
        self._early.discard(outcome.url)
        number = self._number(outcome)
        if memory.table.columns["state"].item(number) == DONE:
            self._add(number, page, outcome.new_links, outcome.relevance)  # more of a long list
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
            memory.shares.learn_page(memory.table, number, outcome.relevance or 0.0)
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
        """Put the new ones among the links of a page in the table; return their numbers."""
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
        """Count these links as fetched already, where exploration is concerned."""
        for url in urls:
            number = self._memory.table.ids.get(url)
            if number is not None:
                self._memory.taken(number)
            elif len(self._early) < _EARLY:
                self._early.add(url)

    def returned(self, url: str) -> None:
        """Keep the place of a link right that went back into the frontier."""
        self._early.discard(url)
        memory, number = self._memory, self._memory.table.ids.get(url)
        if number is not None and memory.table.columns["state"].item(number) == TAKEN:
            memory.pending = max(0, memory.pending - memory.order.rejoin(number))

    def values(self) -> Mapping[str, float]:
        """Nothing: all hosts' groups are worth the same, so that the best key goes first.

        A value per host would be that of its best link, and stale as soon as that link is taken:
        several links taken at once would all come from one host.
        """
        return {}

    def rekeyed(self) -> Mapping[str, float]:
        """New keys of the links in front whose index moved."""
        self._memory.refresh_stale()
        return {url: -score for url, score in self._memory.order.moved().items()}

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Rows: label, index, bonus, prior, and the features that weigh most either way."""
        (facts,) = self._facts(page.url, [link], page.relevance)
        if facts.dropped:
            return [("dropped", "its address, type or rel is never a page's or a target's")]
        judged, index, scores = self._judge([link], [facts])
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
            *evidence(self._memory, facts, named),
        ]

    def dump_state(self) -> bytes:
        """Weights, counts, the discovery tree and the best of the waiting links."""
        return pack(content_of(self._memory) | {"seeds": self._seeds.folders})

    def load_state(self, state: bytes) -> None:
        """Go on with a dumped state; raise ``UsageError`` for a foreign or damaged one."""
        content = unpack(state)
        memory = CrawlMemory(self.options, with_shares=self._with_shares)
        take_over(memory, content)
        self._memory = memory
        self._seeds.folders = dict(content.get("seeds", {}))

    # -- beyond the contract

    def load_model(self, state: bytes) -> None:
        """Start from another crawl's weights; raise ``UsageError`` as :meth:`load_state` does."""
        take_over(self._memory, unpack(state), weights_only=True)

    def keep_in_step(self) -> None:
        """Learn the same as every worker that hears the same outcomes in the same order."""
        self._in_step = True

    def room(self, in_flight: int) -> int:
        """How many more fetches to start before the next answer, ``in_flight`` being under way.

        At the start every answer changes the order, so that asking for many links at once wastes
        requests. What surely is a target is asked for at once; of the others only a few may be in
        flight, and more with every so many fetches (option ``ramp``). At least 1 when nothing is
        in flight.
        """
        uncertain = min(self._memory.pending + len(self._early), in_flight)
        return expecting.room(self._memory, uncertain)

    def expected_next(self, requests: int) -> float:
        """Targets that the next so many requests are expected to bring."""
        return expecting.expected_next(self._memory, requests)

    def expected_remaining(self) -> float:
        """Targets expected among the waiting links and on the pages that they lead to."""
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
        """Return the row on the topic, where what it is about is predicted apart."""
        if (shares := self._memory.shares) is None:
            return []
        share, hope = (each.item(0) for each in shares.of([facts]))
        return [("about the topic", f"{share:.0%} of what it leads to; at best {hope:.0%}")]

    def _facts(
        self, page: str, links: Sequence[Link], relevance: float | None = None
    ) -> list[LinkFacts]:
        """Descriptions of a page's links, remembered until they are learned of."""
        found, folder, described = [], folder_of(page), self._described
        for link in links:
            known = described.get(id(link))
            if known is None:
                facts = self._maker.facts(link, folder, self._seeds, relevance)
                known = described[id(link)] = link, facts
                if len(described) > _REMEMBERED:
                    described.popitem(last=False)
            found.append(known[1])
        return found

    def _judge(
        self, links: Sequence[Link], facts: Sequence[LinkFacts]
    ) -> tuple[Judgement, Floats, Floats]:
        """Return the judgement of links, their index and score (index and bonus).

        The index heeds whether their hosts ever answered.
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
        places = memory.places(facts)
        if memory.shares is None:
            return judged, index, memory.worth(index, *places)
        shares = memory.shares.of(facts)
        return judged, index * shares.share, memory.worth(index * shares.hope, *places)

    def _rank_new(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge links that the model has not heard of."""
        described = self._facts(page.url, links, page.relevance)
        kept = [i for i, facts in enumerate(described) if not facts.dropped]
        if not kept:
            return [Ranked(link, Label.N, None) for link in links]
        facts = [described[i] for i in kept]
        judged, index, scores = self._judge([links[i] for i in kept], facts)
        found = iter(zip(facts, judged.each(), index.tolist(), scores.tolist(), strict=True))
        ranked = []
        for link, seen in zip(links, described, strict=True):
            if seen.dropped:
                ranked.append(Ranked(link, Label.N, None))
                continue
            fact, numbers, worth, score = next(found)
            label = self._label(page, link, fact, worth, numbers[-1])
            ranked.append(Ranked(link, label, fact.host, -score, judged=numbers))
        return ranked

    def _rank_known(self, link: Link, number: int) -> Ranked:
        """The judgement of a link that is in the frontier, or was, as it stands."""
        memory, table = self._memory, self._memory.table
        index = float(table["index"][number])
        label = Label.HR if index >= _LIKELY_PARENT else Label.H
        if table["target"][number] >= _LIKELY_TARGET:
            label = Label.R
        return Ranked(link, label, memory.hosts.names[table["host"][number]], -index)

    def _label(
        self, page: Page, link: Link, facts: LinkFacts, index: float, target: float
    ) -> Label:
        """Predicted class (sources.md T.1): what only a look inside can tell is R until learned.

        It stays R where a rule of T.2 holds: a body refused for its header teaches nothing of those
        that a word in the address tells apart.
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
        """The link that was fetched; an unknown one (a seed) is added."""
        ids = self._memory.table.ids
        for url in (outcome.url, outcome.final_url):
            if (number := ids.get(url)) is not None:
                return number
        page, seed = outcome.parent or outcome.url, [Link(outcome.url, element="seed")]
        facts = self._facts(page, seed)
        number = self._memory.add([outcome.url], facts).start
        self._memory.table["parent"][number] = ids.get(outcome.parent or "", NONE)
        return number
