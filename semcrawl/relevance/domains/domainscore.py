"""The strategy ``domain-score`` (sources.md I)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

from semcrawl.config.numbers import random_seed, read_number
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.domains._domainstate import Known, dump_known, load_known
from semcrawl.relevance.domains.hypotheses import Counts, Domain
from semcrawl.relevance.domains.roulette import Roulette
from semcrawl.relevance.domains.votes import Votes
from semcrawl.relevance.linkrank import LinkRankOptions
from semcrawl.relevance.linkweights import LinkWeights, WeightOptions
from semcrawl.relevance.pagerank import rank_options
from semcrawl.relevance.strategy import RuleOptions
from semcrawl.relevance.weightedpagerank import WeightedPageRank
from semcrawl.web.hosts import host_of, pay_level_domain
from semcrawl.web.vocabulary import Kind

_SEEDS = "seeds"
#: links of this worker that are under way, of which it remembers so many
_UNDER_WAY = 10_000


class DomainScore(WeightedPageRank):
    """Draws a domain by its score, and takes its most promising link.

    score = w0 + w1·x1 + w2·x2 + w3·x3 with x1 = images that match of those seen, x2 = near texts
    that match of those seen, x3 = pages fetched of those known. Each domain has its own weights,
    learned by linear regression; the next domain is drawn by a roulette wheel over the softmax of
    the scores.

    **Readings.** The crawl has one query class, its topic. An *image* is a link to what the crawl
    is after, which need not be an image. It matches if it turns out to be a target; its near text
    matches if what the topic makes of it, or RW where it was not asked, reaches the threshold c.
    Both count for the domain that serves it. A fetch gives what a target is worth; a
    page, the share of its near texts that match. In a domain images come by their near texts, pages
    by their score (:class:`~semcrawl.relevance.domains.votes.Votes`).
    """

    name = "domain-score"

    def __init__(
        self,
        options: RuleOptions | None = None,
        rank: LinkRankOptions | None = None,
        weights: LinkWeights | None = None,
        domains: DomainOptions | None = None,
    ) -> None:
        super().__init__(options, rank)
        self.weights = weights or LinkWeights(None, WeightOptions())
        self.domain_options = domains or DomainOptions()
        chosen = self.domain_options
        self.wheel = Roulette(chosen.temperature, chosen.seed)
        self.votes = Votes(domain_of, self.graph.rank, chosen.groups, chosen.seed)
        self.domains: dict[str, Domain] = {}
        self.crawl = Counts()
        self._moved: dict[str, float] = {}
        self._under_way: dict[str, None] = {}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings of its parts, and the topic; raise ``UsageError`` for wrong ones."""
        return cls(
            RuleOptions.from_settings(settings),
            rank_options(settings),
            LinkWeights.from_settings(settings),
            DomainOptions.from_settings(settings),
        )

    # -- links
    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Take in the links of a page: the graph, the page's vote, and who links to whom."""
        super().cited(page, links)
        kept = [link for link in links if not self.is_dropped(link)]
        labelled = [(link, self.label(page, link)[0]) for link in kept]
        self._vote(page.url, labelled)
        for link, label in labelled:
            if label is not Label.R and link.url in self.votes.citing:
                self.votes.cite(page.url, link.url)
                self._moved[link.url] = -self.votes.score(link.url)

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links; a group per domain, images by RW, pages by their score."""
        self.set_value(_SEEDS, float("1e12"))
        if link.element == "seed":
            return _SEEDS, 0.0
        domain = domain_of(link.url)
        self._know(domain)
        if label is Label.R:
            return group_of(domain), -self._near(link)
        if page.url != link.url:  # (who only asks for the group names no page)
            self.votes.cite(page.url, link.url)
        return group_of(domain), -self.votes.score(link.url)

    def _near(self, link: Link) -> float:
        """How well the texts near an image match, 0 to 1; 0 below the threshold."""
        if (near := link.near_text) is None:
            return self.weights.of(link)
        return near if near >= self.weights.options.threshold else 0.0

    def _vote(self, page: str, links: Sequence[tuple[Link, Label]]) -> None:
        near = [self._near(link) > 0 for link, label in links if label is Label.R]
        self.votes.count(page, sum(near), len(near))

    def page_score(self, url: str) -> float:
        """The score of a page: its vote, or what those that link to it let expect."""
        return self.votes.of(url) if url in self.votes.pages else self.votes.score(url)

    # -- outcomes
    def learn(self, outcome: Outcome) -> None:
        """Take in the outcome of a fetch, and the links of its page."""
        page, image = outcome.final_url or outcome.url, outcome.label is Label.R
        new = [(ranked.link, ranked.label) for ranked in outcome.new_links]
        if outcome.kind is Kind.HTML and page not in self.votes.pages:
            self._vote(page, new)  # another worker read it
        near = self._see_links(page, new)
        super().learn(outcome)
        name = domain_of(outcome.url)
        domain = self._know(name)
        gave = outcome.worth
        counts = domain.counts
        if image:
            counts.images.add(gave)
            self.crawl.images.add(gave)
            if outcome.parent is not None and outcome.kind is not None:
                self.votes.count(outcome.parent, gave, 1)
        else:
            counts.pages.add(1.0, int(outcome.parent is None))
            gave = max(gave, near)
        self.votes.had(outcome.url, ok=outcome.kind is not None)
        domain.learn(self.crawl, gave, self.domain_options.learning_rate)
        if outcome.url in self._under_way:
            del self._under_way[outcome.url]
        else:
            self.wheel.turn(name)  # another worker drew it
        self._score(name)

    def _see_links(self, page: str, links: Sequence[tuple[Link, Label]]) -> float:
        """Count the new links of a page for their domains; return the share of near texts."""
        matching = seen = 0
        for link, label in links:
            counts = self._know(domain_of(link.url)).counts
            if label is Label.R:
                matches = self._near(link) > 0
                for each in (counts, self.crawl):
                    each.texts.add(float(matches))
                matching += matches
                seen += 1
            else:
                counts.pages.add(0.0)
                self.votes.cite(page, link.url)
        return matching / seen if seen else 0.0

    def worth_telling(self, outcome: Outcome) -> bool:
        """Whether an outcome says something: every one does."""
        return True

    def taken(self, urls: Sequence[str]) -> None:
        """Hear that links are being fetched: their domains were drawn."""
        super().taken(urls)
        for url in urls:
            self._moved.pop(url, None)
            name = domain_of(url)
            if name in self.domains:
                self.wheel.turn(name)
                self._tell(name)
                self._under_way[url] = None
        if len(self._under_way) > _UNDER_WAY:
            for url in list(islice(self._under_way, _UNDER_WAY // 10)):
                del self._under_way[url]

    def rekeyed(self) -> Mapping[str, float]:
        """Return the scores, negated, of pages that another page was found to link to."""
        super().rekeyed()  # (ranks order nothing here)
        moved, self._moved = self._moved, {}
        return moved

    # -- domains
    def _know(self, name: str) -> Domain:
        domain = self.domains.get(name)
        if domain is None:
            domain = self.domains[name] = Domain()
            self.wheel.add(name, domain.score(self.crawl))
            self._tell(name)
        return domain

    def _score(self, name: str) -> None:
        self.wheel.score(name, self.domains[name].score(self.crawl))
        self._tell(name)

    def _tell(self, name: str) -> None:
        self.set_value(group_of(name), -self.wheel.rings(name))

    # -- reasons and state
    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Say label, group and rank, the score of the domain, and the link's own."""
        rows = super().explain(page, link)
        name = domain_of(link.url)
        domain = self.domains.get(name) or Domain()
        terms = " + ".join(
            f"{w:.2f}·{x:.2f}"
            for w, x in zip(domain.weights, domain.inputs(self.crawl), strict=True)
        )
        score = domain.score(self.crawl)
        rows.append((f"domain {name}", f"{score:.3f} = {terms} after {domain.learned} fetches"))
        if self.label(page, link)[0] is Label.R:
            return [*rows, *self.weights.explain(link)]
        return [*rows, ("page score", f"{self.votes.score(link.url):.3f}")]

    def dump_state(self) -> bytes:
        """Return graph, votes, domains and the wheel."""
        return dump_known(self.name, self._known, super().dump_state())

    def load_state(self, state: bytes) -> None:
        """Go on with a state; raise ``UsageError`` for a foreign one."""
        super().load_state(load_known(self.name, state, self._known))
        for name in self.domains:
            self._tell(name)

    @property
    def _known(self) -> Known:
        return Known(self.wheel, self.votes, self.crawl, self.domains)


def domain_of(url: str) -> str:
    """Return the pay-level domain of a URL."""
    return pay_level_domain(host_of(url))


def group_of(domain: str) -> str:
    """Return the group in which a domain's links wait."""
    return f"domain {domain}"


@dataclass(frozen=True, slots=True)
class DomainOptions:
    """The user's choices."""

    #: score by which a domain is preferred e times as often: small = greedy, large = any
    temperature: float = 0.1
    #: first learning rate of a domain's weights; it sinks with 1/√n
    learning_rate: float = 0.1
    #: groups of domains whose mean is the score of a page without known neighbours
    groups: int = 3
    seed: int = 0

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read ``SEMCRAWL_DOMAIN_…`` and the random seed; raise ``UsageError`` for wrong ones."""
        usual, prefix = cls(), "SEMCRAWL_DOMAIN_"
        return cls(
            read_number(settings, f"{prefix}TEMPERATURE", usual.temperature, 0.005, 1000),
            # (beyond ½ a step might overshoot: four inputs of up to 1)
            read_number(settings, f"{prefix}LEARNING_RATE", usual.learning_rate, 0, 0.5),
            int(read_number(settings, f"{prefix}GROUPS", usual.groups, 1, 1000)),
            random_seed(settings),
        )
