"""Strategies that score domains.

A roulette wheel over a softmax, of which every turn changes only one name.
Each name has a clock that rings after an exponentially distributed time, with the rate
exp(score / temperature). The clock that rings first is a draw from the softmax of the scores. As
the exponential distribution has no memory, the other clocks may run on; only the one that rang is
wound again. A turn takes constant time, and a name that cannot be served now, for example as its
host rests, keeps its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, ScoredDomain
from semcrawl.relevance.pagerank import LinkRankOptions, WeightedPageRank
from semcrawl.relevance.strategy import RuleOptions, pack_state, reading_state, unpack_state
from semcrawl.relevance.weighting import LinkWeights, WeightOptions
from semcrawl.settings.reader import fill, setting
from semcrawl.web.hosts import domain_of
from semcrawl.web.vocabulary import Kind

__all__ = ["DomainScore"]


#: number of observations for which the crawl's share counts beside a domain's own
_WEIGHT_OF_CRAWL = 2.0


@dataclass(slots=True)
class Share:
    """A share of matches among observations."""

    matching: float = 0.0
    seen: int = 0

    def add(self, matching: float, seen: int = 1) -> None:
        """Add observations."""
        self.matching += matching
        self.seen += seen

    def smoothed(self, crawl: Share) -> float:
        """Return the share, 0 to 1, smoothed towards the crawl's while observations are few."""
        usual = (crawl.matching + 1) / (crawl.seen + 2)
        return (self.matching + _WEIGHT_OF_CRAWL * usual) / (self.seen + _WEIGHT_OF_CRAWL)


@dataclass(slots=True)
class Counts:
    """Observations of a domain, or of the whole crawl."""

    images: Share = field(default_factory=Share)
    texts: Share = field(default_factory=Share)
    #: fetched pages among the known ones
    pages: Share = field(default_factory=Share)


@dataclass(slots=True)
class Domain:
    """A domain, with the weights of its score (I's table DOMAINRANK)."""

    counts: Counts = field(default_factory=Counts)
    #: w0 … w3. **Reading**: before anything is learned the score is the mean of x1 and x2
    weights: list[float] = field(default_factory=lambda: [0.0, 0.5, 0.5, 0.0])
    #: number of outcomes learned
    learned: int = 0

    def inputs(self, crawl: Counts) -> tuple[float, float, float, float]:
        """Return 1, x1, x2 and x3: the shares of matching images and texts, and of fetched pages.

        **Reading**: x1 and x2 of a domain with few observations lean towards the crawl's shares.
        """
        counts = self.counts
        pages = counts.pages.matching / max(1, counts.pages.seen, counts.pages.matching)
        return (
            1.0,
            counts.images.smoothed(crawl.images),
            counts.texts.smoothed(crawl.texts),
            pages,
        )

    def score(self, crawl: Counts) -> float:
        """Return w0 + w1·x1 + w2·x2 + w3·x3."""
        return sum(w * x for w, x in zip(self.weights, self.inputs(crawl), strict=True))

    def rate(self, first: float) -> float:
        """Return the domain's learning rate, which falls from ``first`` with 1/√n."""
        return first / float((1 + self.learned) ** 0.5)

    def learn(self, crawl: Counts, gain: float, first_rate: float) -> None:
        """Learn the gain of a fetch, 0 to 1, by a step of linear regression (Widrow, Hoff 1960)."""
        inputs = self.inputs(crawl)
        error = gain - sum(w * x for w, x in zip(self.weights, inputs, strict=True))
        step = self.rate(first_rate) * error
        self.weights = [w + step * x for w, x in zip(self.weights, inputs, strict=True)]
        self.learned += 1


#: scores, in temperatures, are clipped to this magnitude
_STEEPEST = 300.0


@dataclass(slots=True)
class Clock:
    """The clock of one name; ``rings`` is the time at which it rings."""

    rings: float
    rate: float
    #: how often it was wound
    wound: int = 1


class Roulette:
    """Draws names, in the order in which their clocks ring; the seed determines the draws."""

    def __init__(self, temperature: float = 0.1, seed: int = 0) -> None:
        """Make a wheel; a smaller ``temperature`` (> 0) prefers the best names more."""
        self.temperature = temperature
        self._salt = seed.to_bytes(8, "big", signed=True)
        self.clocks: dict[str, Clock] = {}
        #: the latest time that a clock rang
        self.now = 0.0

    def add(self, name: str, score: float) -> None:
        """Add a name unless it is there."""
        if name not in self.clocks:
            rate = self._rate(score)
            self.clocks[name] = Clock(self.now + self._draw(name, 1) / rate, rate)

    def rings(self, name: str) -> float:
        """Return the time at which the name's clock rings."""
        return self.clocks[name].rings

    def turn(self, name: str) -> None:
        """Note that a name was drawn, and wind its clock."""
        clock = self.clocks[name]
        self.now = max(self.now, clock.rings)
        clock.wound += 1
        clock.rings = self.now + self._draw(name, clock.wound) / clock.rate

    def score(self, name: str, score: float) -> None:
        """Change a name's score, which scales the time left on its clock."""
        clock, rate = self.clocks[name], self._rate(score)
        left = max(0.0, clock.rings - self.now)
        if left:
            clock.rings = self.now + left * clock.rate / rate
        clock.rate = rate

    def _rate(self, score: float) -> float:
        return math.exp(min(_STEEPEST, max(-_STEEPEST, (score - 1) / self.temperature)))

    def _draw(self, name: str, wound: int) -> float:
        """Return an exponentially distributed number, a function of seed, name and turn."""
        text = f"{wound} {name}".encode("utf-8", "surrogatepass")
        digest = blake2b(text, digest_size=7, key=self._salt).digest()
        return -math.log((int.from_bytes(digest, "big") + 1) / 2**56)


#: most pages of each mapping; the oldest are forgotten
_MAX_PAGES = 200_000
#: most remembered pages that link to one page
_CITING = 16


@dataclass(slots=True)
class Vote:
    """The vote of a page: the share of its images and near texts that match."""

    matching: float = 0.0
    seen: int = 0
    #: number of its links to pages that could not be fetched
    failing: int = 0

    @property
    def value(self) -> float:
        """The vote, 0 to 1; a failing link counts as an image that does not match."""
        seen = self.seen + self.failing
        return self.matching / seen if seen else 0.0


@dataclass
class Votes:
    """The votes of pages, and the links between them."""

    #: returns the pay-level domain of a URL
    domain_of: Callable[[str], str]
    #: returns the weighted PageRank of a URL, I's priority(P)
    priority_of: Callable[[str], float]
    #: most groups of other domains in the mean
    groups: int = 3
    seed: int = 0
    pages: dict[str, Vote] = field(default_factory=dict)
    #: waiting page → pages that link to it
    citing: dict[str, list[str]] = field(default_factory=dict)
    #: page that could not be fetched → pages that link to it and lost a part of their vote
    failed: dict[str, list[str]] = field(default_factory=dict)

    def of(self, page: str) -> float:
        """Return the vote of a page, 0 to 1; 0 for an unknown page."""
        vote = self.pages.get(page)
        return 0.0 if vote is None else vote.value

    def count(self, page: str, matching: float, seen: int) -> None:
        """Add to a page's vote: its near texts, or the outcome of an image of it."""
        vote = self.pages.setdefault(page, Vote())
        vote.matching += matching
        vote.seen += seen
        _bound(self.pages)

    def cite(self, page: str, url: str) -> None:
        """Note that a page links to an unfetched one."""
        citing = self.citing.setdefault(url, [])
        if page not in citing and len(citing) < _CITING:
            citing.append(page)
        _bound(self.citing)

    def fetched(self, url: str, *, ok: bool) -> None:
        """Note whether a page could be fetched; pages that link to it lose or regain their vote."""
        citing = self.citing.pop(url, [])
        if ok:
            for page in self.failed.pop(url, ()):
                if (vote := self.pages.get(page)) is not None and vote.failing:
                    vote.failing -= 1
        elif url not in self.failed:
            self.failed[url] = citing
            for page in citing:
                self.pages.setdefault(page, Vote()).failing += 1
            _bound(self.failed)

    def score(self, url: str) -> float:
        """Return the score of an unfetched page.

        It is the mean vote of the pages in its domain that link to it. Without one, it is the mean
        of PR(group) = Σ ScoreLink(P)·priority(P) / count over a few random groups, one per other
        domain. **Reading**: ScoreLink(P) is P's vote.
        """
        citing, domain = self.citing.get(url, ()), self.domain_of(url)
        groups: dict[str, list[str]] = {}
        for page in citing:
            groups.setdefault(self.domain_of(page), []).append(page)
        if domain in groups:
            return fmean(map(self.of, groups[domain]))
        ranks = [
            fmean(self.of(page) * self.priority_of(page) for page in pages)
            for pages in groups.values()
        ]
        if len(ranks) > self.groups:
            chance = Random(f"{self.seed} {len(ranks)} {url}")
            ranks = chance.sample(ranks, self.groups)
        return fmean(ranks) if ranks else 0.0


def _bound(remembered: dict[str, object] | dict[str, Vote] | dict[str, list[str]]) -> None:
    """Forget the oldest, a tenth at once, as a dict walks over its deleted entries every time."""
    if len(remembered) > _MAX_PAGES:
        for name in list(islice(remembered, _MAX_PAGES // 10)):
            del remembered[name]


@dataclass
class Known:
    """The state of domains and pages, apart from the graph."""

    wheel: Roulette
    votes: Votes
    crawl: Counts
    domains: dict[str, Domain]


def dump_known(strategy: str, known: Known, graph: bytes) -> bytes:
    """Encode the state and the graph's bytes for :func:`load_known`."""
    clocks = {n: [c.rings, c.rate, c.wound] for n, c in known.wheel.clocks.items()}
    votes = known.votes
    return pack_state(
        strategy,
        graph,
        _of_counts(known.crawl),
        {
            name: [_of_counts(domain.counts), domain.weights, domain.learned]
            for name, domain in known.domains.items()
        },
        known.wheel.now,
        clocks,
        {page: [vote.matching, vote.seen, vote.failing] for page, vote in votes.pages.items()},
        votes.citing,
        votes.failed,
    )


def load_known(strategy: str, state: bytes, known: Known) -> bytes:
    """Restore the state; return the graph's bytes. Raise ``UsageError`` for invalid bytes."""
    graph: bytes
    with reading_state(strategy):
        fields = unpack_state(strategy, state)
        graph, totals, domains, now, clocks, votes, citing, failed = fields
        counts = _to_counts(totals)
        read = {str(name): _to_domain(*domain) for name, domain in domains.items()}
        wound = {str(name): _to_clock(*clock) for name, clock in clocks.items()}
        pages = {str(p): Vote(_number(m), int(s), int(f)) for p, (m, s, f) in votes.items()}
        who, gone = _lists(citing), _lists(failed)
        if not isinstance(graph, bytes) or read.keys() != wound.keys():
            raise ValueError("parts do not belong together")
        known.wheel.now = _number(now)
    crawl = known.crawl
    crawl.images, crawl.texts, crawl.pages = counts.images, counts.texts, counts.pages
    known.domains.update(read)
    known.wheel.clocks.update(wound)
    known.votes.pages, known.votes.citing, known.votes.failed = pages, who, gone
    return graph


def _of_counts(counts: Counts) -> list[Any]:
    shares = (counts.images, counts.texts, counts.pages)
    return [[share.matching, share.seen] for share in shares]


def _to_counts(fields: list[Any]) -> Counts:
    images, texts, pages = (Share(_number(matching), int(seen)) for matching, seen in fields)
    return Counts(images, texts, pages)


def _to_domain(counts: list[Any], weights: list[Any], learned: int) -> Domain:
    first, second, third, fourth = map(_number, weights)
    return Domain(_to_counts(counts), [first, second, third, fourth], max(0, int(learned)))


def _to_clock(rings: float, rate: float, wound: int) -> Clock:
    if _number(rate) <= 0:
        raise ValueError("a clock without a rate")
    return Clock(_number(rings), float(rate), int(wound))


def _lists(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    return {str(url): [str(page) for page in pages] for url, pages in fields.items()}


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number


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
    (:class:`~semcrawl.relevance.domains.Votes`).
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
    learning_rate: float = 0.1
    #: groups, by domain, whose mean is the score of a page without neighbours in its own
    groups: int = setting("SEMCRAWL_DOMAIN_GROUPS")
    seed: int = setting("SEMCRAWL_RANDOM_SEED")
