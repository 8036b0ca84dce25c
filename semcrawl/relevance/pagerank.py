"""PageRank and IPageRank: links to well-linked pages first (sources.md S)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.relevance.linkrank import LinkRank, LinkRankOptions, Node
from semcrawl.relevance.linkweights import LinkWeighing, LinkWeights, WeightOptions
from semcrawl.relevance.strategy import (
    RuleOptions,
    Strategy,
    pack_state,
    reading_state,
    unpack_state,
)
from semcrawl.settings.reader import fill

_SEEDS, _LINKS = "seeds", "links"


class PageRank(Strategy):
    """First the link to the page with the largest PageRank in the graph crawled so far.

    PR(A) = (1−d) + d·Σ PR(T)/C(T) over the pages T that link to A, with C(T) links each (Brin and
    Page 1998, as in S). Links that filter 1 of T.5 drops do not count; a redirect counts as a page
    with one link. Seeds come first.
    """

    name = "pagerank"
    #: ranks of waiting links change with every page
    rekeys = True

    def __init__(
        self, options: RuleOptions | None = None, rank: LinkRankOptions | None = None
    ) -> None:
        super().__init__(options)
        self.graph = LinkRank(rank)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings of :class:`RuleOptions` and of :func:`rank_options`."""
        return cls(fill(RuleOptions, settings), fill(LinkRankOptions, settings))

    def weight(self, link: Link) -> float:
        """Return the weight of a link among those of its page: 1 for each."""
        return 1.0

    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Add the links of a page to the graph, including those to known pages."""
        kept = {link.url: self.weight(link) for link in links if not self.is_dropped(link)}
        self.graph.cite(page.url, kept)
        self.graph.settle()

    def _rank(self, page: Page, link: Link) -> Ranked:
        ranked = super()._rank(page, link)
        share = None if ranked.group is None else self.graph.share(page.url, link.url)
        if share is None:
            return ranked
        # other workers see only the new links; the share accounts for the known ones
        return Ranked(link, ranked.label, ranked.group, ranked.key, ranked.rules, (share,))

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links, which are ordered by rank, the largest first."""
        seed = link.element == "seed"
        self.set_value(_SEEDS, 1.0)
        self.set_value(_LINKS, 0.0)
        return (_SEEDS, 0.0) if seed else (_LINKS, -self.graph.rank(link.url))

    def learn(self, outcome: Outcome) -> None:
        """Add a redirect, and the links of another worker's page, to the graph."""
        page = outcome.final_url or outcome.url
        self.graph.leave(outcome.url)
        self.graph.leave(page)
        if page != outcome.url:
            self.graph.cite(outcome.url, {page: 1.0})
        if outcome.new_links and not self.graph.knows(page):
            self._cite_remote(page, outcome.new_links)
        self.graph.settle()

    def _cite_remote(self, page: str, links: Sequence[Ranked]) -> None:
        """Add the links of a page that another worker fetched."""
        if any(r.judged for r in links):
            shares = {r.link.url: r.judged[0] for r in links if r.judged}
            self.graph.cite(page, shares, total=1.0)
        else:
            self.graph.cite(page, {r.link.url: self.weight(r.link) for r in links})

    def importance(self, url: str) -> float:
        """Return the PageRank of a page as far as known."""
        return self.graph.rank(url)

    def worth_telling(self, outcome: Outcome) -> bool:
        """Whether an outcome adds to the graph."""
        return bool(outcome.new_links) or outcome.final_url not in ("", outcome.url)

    def taken(self, urls: Sequence[str]) -> None:
        """Note that links no longer wait."""
        for url in urls:
            self.graph.leave(url)

    def rekeyed(self) -> Mapping[str, float]:
        """Return the negated ranks that changed by more than a twentieth."""
        return {url: -rank for url, rank in self.graph.moved().items()}

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows of reasons: also the rank, and what this page contributes to it."""
        graph, rows = self.graph, super().explain(page, link)
        text = f"{graph.rank(link.url):.3f}"
        share = graph.share(page.url, link.url)
        if share is not None:
            given = graph.options.damping * share * graph.passed(page.url)
            text += f", {given:.3f} of it from this page, which gives {share:.1%} of its own here"
        return [*rows, ("rank", text)]

    def dump_state(self) -> bytes:
        """Return the graph with its ranks."""
        nodes, sources = list(self.graph.nodes.values()), self.graph.sources
        numbers = {node: number for number, node in enumerate(nodes)}
        links = [(to, weight) for node in sources for to, weight in node.links.items()]
        return pack_state(
            self.name,
            [node.url for node in nodes],
            array("d", [node.value for node in nodes]).tobytes(),
            array("d", [node.residual for node in nodes]).tobytes(),
            bytes(node.waiting for node in nodes),
            [[numbers[node], len(node.links), node.total] for node in sources],
            array("Q", [numbers[to] for to, _ in links]).tobytes(),
            array("d", [weight for _, weight in links]).tobytes(),
        )

    def load_state(self, state: bytes) -> None:
        """Restore the graph."""
        with reading_state(self.name):
            nodes, sources = _read(*unpack_state(self.name, state))
        self.graph.take_over(nodes, sources)


class IPageRank(LinkWeighing, PageRank):
    """PageRank whose pages divide their rank by the relevance weights of their links.

    IPR(A) = (1−d) + d·Σ IPR(T)·RW(T→A) / Σ RW(T→k) over the links k of T (sources.md S).
    **Reading**: a page whose links all weigh 0 passes no rank on. S prunes links below the
    threshold. Here they wait behind the others unless ``SEMCRAWL_RW_PRUNE`` is on, as pruning
    loses tunnels between clusters.
    """

    name = "ipagerank"

    def __init__(
        self,
        options: RuleOptions | None = None,
        rank: LinkRankOptions | None = None,
        weights: LinkWeights | None = None,
    ) -> None:
        super().__init__(options, rank)
        self.weights = weights or LinkWeights(None, WeightOptions())

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings of :class:`PageRank`, of :class:`WeightOptions`, and the topic."""
        weights = LinkWeights.from_settings(settings)
        return cls(fill(RuleOptions, settings), fill(LinkRankOptions, settings), weights)

    def weight(self, link: Link) -> float:
        """Return RW of the link."""
        return self.weights.of(link)


def _read(
    urls: list[str],
    values: bytes,
    residuals: bytes,
    waiting: bytes,
    sources: list[Any],
    targets: bytes,
    weights: bytes,
) -> tuple[list[Node], list[Node]]:
    """Rebuild the nodes; return them, and those whose links are stored."""
    columns = _doubles(values), _doubles(residuals), waiting
    nodes = [
        Node(url, value, residual, value + residual, bool(waits))
        for url, value, residual, waits in zip(urls, *columns, strict=True)
    ]
    if not all(isinstance(url, str) for url in urls):
        raise ValueError("an address is none")
    to = array("Q")
    to.frombytes(targets)
    links = zip(to, _doubles(weights), strict=True)
    held = []
    for number, count, total in sources:
        node = nodes[number]
        node.links = {nodes[n]: weight for n, weight in islice(links, count)}
        node.total = float(total)
        if node.total <= 0 or len(node.links) != count or min(node.links.values()) <= 0:
            raise ValueError("links without a weight")
        for linked in node.links:
            linked.cited += 1
        held.append(node)
    return nodes, held


def _doubles(data: bytes) -> array[float]:
    numbers = array("d")
    numbers.frombytes(data)
    if not all(map(math.isfinite, numbers)):
        raise ValueError("not a number")
    return numbers
