"""Strategies that rank pages by the links to them.

Keeps the ranks of pages in a crawl's link graph up to date while the graph grows.
PR(A) = (1−d) + d·Σ PR(T)·w(T→A). The weights of a page's links sum to 1: each is 1/C(T) in
PageRank, and a share of the page's relevance weights in IPageRank (sources.md S). A page that was
not fetched passes no rank on.

A page's rank is the sum of two parts: a value that it has passed on, and a residual that it has
not. Passing on a residual touches each link of the page once (Gauss-Southwell, as for personalised
PageRank in Andersen, Chung and Lang 2006). After each page, residuals are passed on, the largest
first, over as many links as the options allow; the rest waits for the next page.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.relevance.strategy import (
    RuleOptions,
    Strategy,
    pack_state,
    reading_state,
    unpack_state,
)
from semcrawl.relevance.weighting import LinkWeighing, LinkWeights, WeightOptions
from semcrawl.settings.reader import fill, setting

#: smaller residuals are not passed on
_SMALL = 1e-4
#: relative change of a rank that is reported
_MOVED = 0.05


@dataclass(frozen=True, slots=True)
class LinkRankOptions:
    """Options of :class:`LinkRank`."""

    #: share of a page's rank that it passes on, d
    damping: float = 0.85
    #: most links over which rank is passed on after each page
    updates: int = setting("SEMCRAWL_PAGERANK_UPDATES")
    #: most links in memory; beyond it those of the first pages are forgotten
    links: int = 1_000_000


@dataclass(slots=True, eq=False)
class Node:
    """A page of the graph, fetched or not."""

    url: str
    #: rank that it passed on, or would have if it had links
    value: float
    #: rank that it did not pass on yet
    residual: float
    #: last reported rank
    reported: float
    waiting: bool = True
    #: number of stored links to it
    cited: int = 0
    #: the residual with which it was queued; 0 = not in the queue
    queued: float = 0.0
    #: the pages that it links to, with unnormalised weights
    links: dict[Node, float] = field(default_factory=dict)
    #: sum of these weights
    total: float = 0.0

    @property
    def rank(self) -> float:
        """The page's rank as far as known."""
        return self.value + self.residual


class LinkRank:
    """The link graph and its ranks."""

    def __init__(self, options: LinkRankOptions | None = None) -> None:
        self.options = options or LinkRankOptions()
        self.nodes: dict[str, Node] = {}
        #: pages whose links are stored, the first fetched first
        self.sources: dict[Node, None] = {}
        self.held = 0
        self._queue: list[tuple[float, int, Node]] = []
        self._numbered = 0
        self._moved: dict[str, float] = {}

    @property
    def base(self) -> float:
        """The rank of a page without links to it: 1−d."""
        return 1 - self.options.damping

    def rank(self, url: str) -> float:
        """Return the rank of a page as far as known."""
        node = self.nodes.get(url)
        return node.rank if node is not None else self.base

    def share(self, page: str, url: str) -> float | None:
        """Return the share of its rank that a page gives to another; ``None`` without its links."""
        node, to = self.nodes.get(page), self.nodes.get(url)
        if node is None or node not in self.sources:
            return None
        return node.links[to] / node.total if to in node.links else 0.0

    def knows(self, page: str) -> bool:
        """Whether the links of a page are stored."""
        return (node := self.nodes.get(page)) is not None and node in self.sources

    def passed(self, url: str) -> float:
        """Return the part of a page's rank that it has passed on."""
        return node.value if (node := self.nodes.get(url)) is not None else 0.0

    def cite(self, page: str, links: Mapping[str, float], total: float | None = None) -> None:
        """Add links with their weights (≥ 0) to those of a page, and pass rank on along them.

        ``total`` is the sum of all the page's weights, if some of its links are missing here.
        """
        weights = {url: weight for url, weight in links.items() if weight > 0}
        source = self._node(page)
        source.waiting = False
        if not weights:
            self._forget_if_lone(source)
            return
        self._flow(source, -1)
        for url, weight in weights.items():
            node = self._node(url)
            if node not in source.links:
                node.cited += 1
                self.held += 1
            source.total += weight - source.links.get(node, 0.0)
            source.links[node] = weight
        source.total = source.total if total is None else total
        self.sources[source] = None
        self._flow(source, 1)
        self._enqueue(source)
        self._forget_oldest()

    def settle(self, updates: int | None = None) -> None:
        """Pass on residuals along at most ``updates`` links, by default those of the options."""
        left = self.options.updates if updates is None else updates
        while self._queue and left > 0:
            _, _, node = heapq.heappop(self._queue)
            node.queued = 0.0
            if node.links and abs(node.residual) > _SMALL:
                left -= len(node.links)
                self._push(node)

    def leave(self, url: str) -> None:
        """Note that a page no longer waits."""
        self._moved.pop(url, None)
        node = self.nodes.get(url)
        if node is not None:
            node.waiting = False

    def moved(self) -> dict[str, float]:
        """Return the ranks of waiting pages that changed since they were last reported."""
        moved, self._moved = self._moved, {}
        for url, rank in moved.items():
            if (node := self.nodes.get(url)) is not None:
                node.reported = rank
        return moved

    def take_over(self, nodes: Iterable[Node], sources: Iterable[Node]) -> None:
        """Replace the graph by these pages; ``sources`` are those whose links are stored."""
        self.nodes = {node.url: node for node in nodes}
        self.sources = dict.fromkeys(sources)
        self.held = sum(len(node.links) for node in self.sources)
        self._queue, self._moved = [], {}
        for node in self.sources:
            self._enqueue(node)
        self._forget_oldest()

    def _node(self, url: str) -> Node:
        node = self.nodes.get(url)
        if node is None:
            base = self.base
            node = self.nodes[url] = Node(url, 0.0, base, base)
        return node

    def _push(self, node: Node) -> None:
        """Pass on a page's residual along its links."""
        passed, node.residual = node.residual, 0.0
        node.value += passed
        self._add(node, passed)

    def _flow(self, source: Node, sign: int) -> None:
        """Add a page's passed-on rank to the pages that it links to, or (−1) take it back."""
        if source.links and source.value:
            self._add(source, sign * source.value)

    def _add(self, source: Node, amount: float) -> None:
        each = self.options.damping * amount / source.total
        for node, weight in source.links.items():
            node.residual += each * weight
            if node.waiting:
                rank = node.value + node.residual
                if abs(rank - node.reported) > _MOVED * node.reported:
                    self._moved[node.url] = rank
            else:
                self._enqueue(node)

    def _enqueue(self, node: Node) -> None:
        """Queue a page's residual if it is large enough."""
        size = abs(node.residual)
        if node.links and size > _SMALL and size > 2 * node.queued:
            node.queued = size
            self._numbered += 1
            heapq.heappush(self._queue, (-size, self._numbered, node))

    def _forget_oldest(self) -> None:
        """Drop the links of the first pages, and pages to which no link remains.

        Rank that they passed on remains.
        """
        while self.held > self.options.links and self.sources:
            source = next(iter(self.sources))
            del self.sources[source]
            self.held -= len(source.links)
            links, source.links, source.total = source.links, {}, 0.0
            for node in links:
                node.cited -= 1
                self._forget_if_lone(node)
            self._forget_if_lone(source)

    def _forget_if_lone(self, node: Node) -> None:
        if not node.cited and node not in self.sources:
            self.nodes.pop(node.url, None)
            self._moved.pop(node.url, None)


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


class WeightedPageRank(PageRank):
    """First the link to the page with the largest weighted PageRank in the graph crawled so far.

    PR(u) = (1−d) + d·Σ PR(v)·W_in(v,u)·W_out(v,u) over the pages v that link to u. W_in is u's
    share of the links to the pages that v links to, W_out its share of the links on these (Xing
    and Ghorbani 2004, whom Gupta follows). **Reading**: an unfetched page counts with the average
    number of links of fetched pages, and a page without links counts with one.

    A page's links are weighed when it is read. After each page, those of other pages are weighed
    again in turn, until as many links as ``SEMCRAWL_PAGERANK_UPDATES`` are done.
    """

    name = "weighted-pagerank"

    def __init__(
        self, options: RuleOptions | None = None, rank: LinkRankOptions | None = None
    ) -> None:
        super().__init__(options, rank)
        #: pages whose links are to be weighed again, the next one first
        self._turns: deque[str] = deque()

    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Add the links of a page to the graph, including those to known pages."""
        if self._weigh(page.url, [link.url for link in links if not self.is_dropped(link)]):
            self._weigh_others()
            self._turns.append(page.url)
        self.graph.settle()

    def _weigh(self, page: str, more: Iterable[str] = ()) -> bool:
        """Weigh the links of a page, and ``more`` links; return whether it has any."""
        graph = self.graph
        if more := list(dict.fromkeys(more)):
            # all of them must be in the graph before any is weighed
            graph.cite(page, dict.fromkeys(more, 1e-3 / len(more)), total=1.0)
        node = graph.nodes.get(page)
        if node is None or not node.links:  # no links, or more than may be stored
            return False
        graph.cite(page, link_weights(graph, list(node.links)), total=1.0)
        return True

    def _weigh_others(self) -> None:
        left = self.graph.options.updates
        for _ in range(len(self._turns)):
            page = self._turns.popleft()
            node = self.graph.nodes.get(page)
            if node is None or not node.links:
                continue  # its links were forgotten
            self._turns.append(page)
            left -= len(node.links)
            self._weigh(page)
            if left <= 0:
                break

    def load_state(self, state: bytes) -> None:
        """Restore the graph."""
        super().load_state(state)
        self._turns = deque(node.url for node in self.graph.sources)


def link_weights(graph: LinkRank, linked: Sequence[Node]) -> Mapping[str, float]:
    """Return W_in·W_out of the links from one page to ``linked``; their sum is at most 1."""
    usual = graph.held / max(1, len(graph.sources))
    links_on = [max(1.0, usual if node.waiting else len(node.links)) for node in linked]
    all_to, all_on = sum(node.cited for node in linked), sum(links_on)
    return {
        node.url: node.cited / all_to * on / all_on
        for node, on in zip(linked, links_on, strict=True)
    }
