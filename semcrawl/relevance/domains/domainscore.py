"""The strategy ``domain-score`` (sources.md I)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, ScoredDomain
from semcrawl.relevance.domains._domainstate import Known, dump_known, load_known
from semcrawl.relevance.domains.hypotheses import Counts, Domain
from semcrawl.relevance.domains.roulette import Roulette
from semcrawl.relevance.domains.votes import Votes
from semcrawl.relevance.linkrank import LinkRankOptions
from semcrawl.relevance.linkweights import LinkWeights, WeightOptions
from semcrawl.relevance.strategy import RuleOptions
from semcrawl.relevance.weightedpagerank import WeightedPageRank
from semcrawl.settings.reader import fill, setting
from semcrawl.web.hosts import domain_of
from semcrawl.web.vocabulary import Kind

_SEEDS = "seeds"
#: most links in flight that a worker remembers
_MAX_IN_FLIGHT = 10_000


class DomainScore(WeightedPageRank):
    """Draws a domain by its score, and fetches its most promising link.

    score = w0 + w1·x1 + w2·x2 + w3·x3, where x1 is the share of seen images that match, x2 the
    share of seen near texts that match, and x3 the share of known pages that were fetched. Each
    domain has its own weights, learned by linear regression. A roulette wheel over the softmax of
    the scores draws the next domain.

    **Readings.** The crawl has one query class, its topic. An *image* is a link to a wanted kind of
    document, which need not be an image. It matches if it turns out to be a target. Its near text
    matches if its relevance, or RW if the topic did not judge it, reaches the threshold c. Both
    count for the domain that serves the image. The gain of a fetch is that of a target, or for a
    page the share of its near texts that match, if that is larger. In a domain, images are ordered
    by their near texts and pages by their score
    (:class:`~semcrawl.relevance.domains.votes.Votes`).
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
        self._in_flight: dict[str, None] = {}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings of its parts, and the topic; raise ``UsageError`` for a wrong one."""
        return cls(
            fill(RuleOptions, settings),
            fill(LinkRankOptions, settings),
            LinkWeights.from_settings(settings),
            fill(DomainOptions, settings),
        )

    # -- links
    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Add the links of a page to the graph, and count its vote and its citations."""
        super().cited(page, links)
        kept = [link for link in links if not self.is_dropped(link)]
        labelled = [(link, self.label(page, link)[0]) for link in kept]
        self._vote(page.url, labelled)
        for link, label in labelled:
            if label is not Label.R and link.url in self.votes.citing:
                self.votes.cite(page.url, link.url)
                self._moved[link.url] = -self.votes.score(link.url)

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds first, then a group per domain: images by near text, pages by score."""
        self.set_value(_SEEDS, float("1e12"))
        if link.element == "seed":
            return _SEEDS, 0.0
        domain = domain_of(link.url)
        self._domain(domain)
        if label is Label.R:
            return group_of(domain), -self._near_text(link)
        if page.url != link.url:  # equal when a caller only wants the group
            self.votes.cite(page.url, link.url)
        return group_of(domain), -self.votes.score(link.url)

    def _near_text(self, link: Link) -> float:
        """Return how well the texts near an image match, 0 to 1; 0 below the threshold."""
        if (near := link.near_text) is None:
            return self.weights.of(link)
        return near if near >= self.weights.options.threshold else 0.0

    def _vote(self, page: str, links: Sequence[tuple[Link, Label]]) -> None:
        near = [self._near_text(link) > 0 for link, label in links if label is Label.R]
        self.votes.count(page, sum(near), len(near))

    def page_score(self, url: str) -> float:
        """Return the score of a page: its vote, or an estimate from the pages that link to it."""
        return self.votes.of(url) if url in self.votes.pages else self.votes.score(url)

    def scored_domains(self) -> list[ScoredDomain]:
        """Return the scores of all domains."""
        first = self.domain_options.learning_rate
        return [
            ScoredDomain(
                name,
                domain.score(self.crawl),
                (domain.weights[0], domain.weights[1], domain.weights[2], domain.weights[3]),
                domain.rate(first),
            )
            for name, domain in self.domains.items()
        ]

    # -- outcomes
    def learn(self, outcome: Outcome) -> None:
        """Learn the outcome of a fetch, and the links of its page."""
        page, image = outcome.final_url or outcome.url, outcome.label is Label.R
        new = [(ranked.link, ranked.label) for ranked in outcome.new_links]
        if outcome.kind is Kind.HTML and page not in self.votes.pages:
            self._vote(page, new)  # another worker read it
        near = self._count_links(page, new)
        super().learn(outcome)
        name = domain_of(outcome.url)
        domain = self._domain(name)
        gain = outcome.worth
        counts = domain.counts
        if image:
            counts.images.add(gain)
            self.crawl.images.add(gain)
            if outcome.parent is not None and outcome.kind is not None:
                self.votes.count(outcome.parent, gain, 1)
        else:
            counts.pages.add(1.0, int(outcome.parent is None))
            gain = max(gain, near)
        self.votes.fetched(outcome.url, ok=outcome.kind is not None)
        domain.learn(self.crawl, gain, self.domain_options.learning_rate)
        if outcome.url in self._in_flight:
            del self._in_flight[outcome.url]
        else:
            self.wheel.turn(name)  # another worker drew it
        self._score(name)

    def _count_links(self, page: str, links: Sequence[tuple[Link, Label]]) -> float:
        """Count the new links of a page for their domains; return the share of matching texts."""
        matching = seen = 0
        for link, label in links:
            counts = self._domain(domain_of(link.url)).counts
            if label is Label.R:
                matches = self._near_text(link) > 0
                for each in (counts, self.crawl):
                    each.texts.add(float(matches))
                matching += matches
                seen += 1
            else:
                counts.pages.add(0.0)
                self.votes.cite(page, link.url)
        return matching / seen if seen else 0.0

    def worth_telling(self, outcome: Outcome) -> bool:
        """Always: every outcome changes a domain's score."""
        return True

    def taken(self, urls: Sequence[str]) -> None:
        """Note that links are being fetched, so that their domains were drawn."""
        super().taken(urls)
        for url in urls:
            self._moved.pop(url, None)
            name = domain_of(url)
            if name in self.domains:
                self.wheel.turn(name)
                self._report(name)
                self._in_flight[url] = None
        if len(self._in_flight) > _MAX_IN_FLIGHT:
            for url in list(islice(self._in_flight, _MAX_IN_FLIGHT // 10)):
                del self._in_flight[url]

    def rekeyed(self) -> Mapping[str, float]:
        """Return the negated scores of waiting pages to which another link was found."""
        super().rekeyed()  # discards the ranks, which order nothing here
        moved, self._moved = self._moved, {}
        return moved

    # -- domains
    def _domain(self, name: str) -> Domain:
        domain = self.domains.get(name)
        if domain is None:
            domain = self.domains[name] = Domain()
            self.wheel.add(name, domain.score(self.crawl))
            self._report(name)
        return domain

    def _score(self, name: str) -> None:
        self.wheel.score(name, self.domains[name].score(self.crawl))
        self._report(name)

    def _report(self, name: str) -> None:
        self.set_value(group_of(name), -self.wheel.rings(name))

    # -- reasons and state
    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows of reasons, the scores of the domain and the link among them."""
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
        """Restore a state; raise ``UsageError`` for a foreign one."""
        super().load_state(load_known(self.name, state, self._known))
        for name in self.domains:
            self._report(name)

    @property
    def _known(self) -> Known:
        return Known(self.wheel, self.votes, self.crawl, self.domains)


def group_of(domain: str) -> str:
    """Return the group of a domain's links."""
    return f"domain {domain}"


@dataclass(frozen=True, slots=True)
class DomainOptions:
    """Options of :class:`DomainScore`."""

    #: difference in score at which a domain is drawn e times as often; small = greedy
    temperature: float = setting("SEMCRAWL_DOMAIN_TEMPERATURE")
    #: first learning rate of a domain's weights, which falls with 1/√n. Above ½ a
    #: step might overshoot, as there are four inputs of up to 1
    learning_rate: float = setting("SEMCRAWL_DOMAIN_LEARNING_RATE")
    #: groups, by domain, whose mean is the score of a page without neighbours in its own
    groups: int = setting("SEMCRAWL_DOMAIN_GROUPS")
    seed: int = setting("SEMCRAWL_RANDOM_SEED")
