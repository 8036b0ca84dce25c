"""Figures of crawls: curves, areas, tests of differences.

Measures of a run: pure functions of curves, runs and the world.
Sources: sources.md T.7 (precision, harvest, confidence and support of a rule).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, stdev

from semcrawl.lab.graph import IsTarget, LinkGraph, SiteMap, is_rdf
from semcrawl.lab.simulator import Run
from semcrawl.relevance.contract import Label
from semcrawl.web.bodies import media_type
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import RDF_EXTENSIONS, RDF_MEDIA_TYPES, Kind


def area_budget(site: SiteMap, pages: int) -> int:
    """Return the requests over which areas are taken: ``pages``, or fewer on a smaller site."""
    return min(pages, len(site.pages.keys() | site.target_depth.keys()))


def padded(curve: Sequence[int], budget: int) -> list[int]:
    """Return a curve of exactly ``budget`` requests: cut, or extended with its last value."""
    last = curve[-1] if curve else 0
    return list(curve[:budget]) + [last] * (budget - len(curve))


def auc(curve: Sequence[int], budget: int) -> int:
    """Return the area under targets(requests): the sum of the curve up to the budget."""
    return sum(padded(curve, budget))


def auc_relative(curve: Sequence[int], bound: Sequence[int], budget: int) -> float:
    """Return the area under a curve, divided by that under the bound (``omniscient``)."""
    return auc(curve, budget) / max(1, auc(bound, budget))


def requests_to(curve: Sequence[int], targets: float) -> int | None:
    """Return the requests needed to find so many targets; ``None`` if they are never found."""
    return next((i + 1 for i, had in enumerate(curve) if had >= targets), None)


def harvest_rate(curve: Sequence[int], requests: int) -> float:
    """Return targets per request after so many requests (T.7: N_RDF / N fetched).

    A crawl that ends earlier keeps its last rate. Before the first request the rate is 0.
    """
    requests = min(requests, len(curve))
    return curve[requests - 1] / requests if requests > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """How often a label is right (Table 4-6)."""

    predicted: int  #: links with the label
    fetched: int  #: of these, documents served with status 200
    right: int  #: of these, documents for which the label was right

    @property
    def precision(self) -> float | None:
        """``right / fetched``, 0 to 1; ``None`` if nothing is fetched."""
        return self.right / self.fetched if self.fetched else None


@dataclass(frozen=True, slots=True)
class RuleFigures:
    """How good a rule is (Figure 4-1)."""

    label: Label  #: label that the rule predicts
    selected: int  #: fetched documents for whose link the rule held
    right: int  #: of these, documents for which the rule was right
    documents: int  #: documents rightly predicted with the rule's label, by any rule

    @property
    def confidence(self) -> float | None:
        """N_rLT / N_rLS, 0 to 1; ``None`` if the rule never holds."""
        return self.right / self.selected if self.selected else None

    @property
    def support(self) -> float | None:
        """N_rLT / N_LT, 0 to 1; ``None`` if nothing is rightly predicted."""
        return self.right / self.documents if self.documents else None


@dataclass(frozen=True)
class RuleTable:
    """Counts for the figures of all rules; tables of several crawls can be added."""

    #: rule → (label, selected, right)
    counts: Mapping[str, tuple[Label, int, int]] = field(default_factory=dict)
    #: label → documents rightly predicted
    documents: Mapping[Label, int] = field(default_factory=dict)

    def figures(self) -> dict[str, RuleFigures]:
        """Return the figures of every rule that held, by name."""
        return {
            rule: RuleFigures(label, selected, right, self.documents.get(label, 0))
            for rule, (label, selected, right) in self.counts.items()
        }

    def __add__(self, other: RuleTable) -> RuleTable:
        """Return the sum of both crawls' counts."""
        counts = dict(self.counts)
        for rule, (label, selected, right) in other.counts.items():
            _, before, right_before = counts.get(rule, (label, 0, 0))
            counts[rule] = (label, before + selected, right_before + right)
        documents = dict(self.documents)
        for label, number in other.documents.items():
            documents[label] = documents.get(label, 0) + number
        return RuleTable(counts, documents)


class Truth:
    """Finds the true labels of links in the world."""

    def __init__(self, graph: LinkGraph, is_target: IsTarget = is_rdf) -> None:
        self._graph = graph
        self._is_target = is_target
        self._labels: dict[str, Label | None] = {}

    def document(self, url: str) -> str:
        """Return the identity of the document that a URL serves."""
        return self._graph.look(url).answer.document or url

    def is_clear(self, url: str) -> bool:
        """Whether the extension or the content type is one of RDF (T.7)."""
        declared = media_type(self._graph.look(url).answer.content_type)
        return declared in RDF_MEDIA_TYPES or extension_of(path_of(url)) in RDF_EXTENSIONS

    def label(self, url: str) -> Label | None:
        """Return the right label for a link; ``None`` unless a document has status 200.

        Redirects inside the world are followed.
        """
        if url not in self._labels:
            self._labels[url] = self._find(url)
        return self._labels[url]

    def _find(self, url: str) -> Label | None:
        _, node = self._graph.follow(url)
        if node.answer.status != 200:
            return None
        if self._is_target(node):
            return Label.R
        if node.answer.kind is not Kind.HTML:
            return Label.N
        parent = any(self._is_target(self._graph.follow(link.url)[1]) for link in node.links)
        return Label.HR if parent else Label.H


def label_figures(run: Run, truth: Truth) -> dict[Label, LabelFigures]:
    """Return the precision of each label that the run gave.

    R, HR and H count the documents that the run fetched. A link labelled N is never fetched: its
    true label comes from the world, in the thesis from other crawlers. H is right for any page that
    links to no target.
    """
    fetched = {fetch.asked for fetch in run.fetches if fetch.status == 200}
    figures = {}
    for label in Label:
        links = [url for url, judged in run.judged.items() if judged[0] is label]
        if not links:
            continue
        had = links if label is Label.N else [url for url in links if url in fetched]
        real = [found for url in had if (found := truth.label(url)) is not None]
        figures[label] = LabelFigures(len(links), len(real), real.count(label))
    return figures


def rule_table(run: Run, truth: Truth) -> RuleTable:
    """Count how often every rule that held for a link fetched with status 200 is right."""
    counts: dict[str, tuple[Label, int, int]] = {}
    documents: dict[Label, int] = {}
    for fetch in run.fetches:
        if fetch.status != 200:
            continue
        right = truth.label(fetch.url) is fetch.label
        documents[fetch.label] = documents.get(fetch.label, 0) + right
        for rule in fetch.rules:
            _, selected, before = counts.get(rule, (fetch.label, 0, 0))
            counts[rule] = (fetch.label, selected + 1, before + right)
    return RuleTable(counts, documents)


def depth_histogram(run: Run) -> dict[int, tuple[int, int]]:
    """Return requests and new targets by depth: ``{depth: (all, targets)}``."""
    table: dict[int, tuple[int, int]] = {}
    for fetch in run.fetches:
        every, targets = table.get(fetch.depth, (0, 0))
        table[fetch.depth] = (every + 1, targets + fetch.new_target)
    return dict(sorted(table.items()))


_RESAMPLES = 2000
_EXACT = 12  # most pairs for which every assignment of signs is counted


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean, and the spread of the values around it."""

    mean: float
    #: sample standard deviation; 0 for a single value
    deviation: float
    low: float
    high: float
    count: int


def spread(values: Sequence[float]) -> Spread:
    """Return mean, standard deviation and range; raise ``ValueError`` without values."""
    if not values:
        raise ValueError("no values")
    deviation = stdev(values) if len(values) > 1 else 0.0
    return Spread(fmean(values), deviation, min(values), max(values), len(values))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two strategies compared on the same worlds and seeds, first minus second."""

    first: str
    second: str
    pairs: int
    difference: float
    #: bootstrap interval of the mean difference, 95 %
    low: float
    high: float
    #: number of pairs in which the first is better, equal, worse
    wins: int
    ties: int
    losses: int
    #: probability of a mean difference at least this large between equals (sign-flip test)
    p_value: float


def compare(
    first: str, second: str, values: Sequence[tuple[float, float]], seed: int = 0
) -> Comparison:
    """Compare two strategies by pairs of values; larger is better.

    The interval comes from a percentile bootstrap over the pairs, the p-value from a two-sided
    sign-flip permutation test (exact for up to 12 pairs). Raises ``ValueError`` for no pairs.
    """
    differences = [a - b for a, b in values]
    if not differences:
        raise ValueError("no pairs")
    random, count = Random(seed), len(differences)
    means = sorted(fmean(random.choices(differences, k=count)) for _ in range(_RESAMPLES))
    return Comparison(
        first,
        second,
        count,
        fmean(differences),
        means[round(0.025 * (_RESAMPLES - 1))],
        means[round(0.975 * (_RESAMPLES - 1))],
        sum(d > 0 for d in differences),
        sum(d == 0 for d in differences),
        sum(d < 0 for d in differences),
        _sign_flip(differences, random),
    )


def _sign_flip(differences: Sequence[float], random: Random) -> float:
    """Return the share of sign assignments whose sum is at least as far from 0 as observed."""
    seen = abs(math.fsum(differences)) - 1e-12
    moved = [d for d in differences if d]
    if len(moved) <= _EXACT:
        flips = list(itertools.product((1, -1), repeat=len(moved)))
        extra = 0
    else:
        flips = [tuple(random.choices((1, -1), k=len(moved))) for _ in range(_RESAMPLES)]
        extra = 1  # the observed assignment counts too
    hits = sum(
        abs(math.fsum(s * d for s, d in zip(signs, moved, strict=True))) >= seen for signs in flips
    )
    return (hits + extra) / (len(flips) + extra)
