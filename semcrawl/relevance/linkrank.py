"""Keeps the ranks of pages in a crawl's link graph up to date while the graph grows.

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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from semcrawl.settings.reader import setting

#: smaller residuals are not passed on
_SMALL = 1e-4
#: relative change of a rank that is reported
_MOVED = 0.05


@dataclass(frozen=True, slots=True)
class LinkRankOptions:
    """Options of :class:`LinkRank`."""

    #: share of a page's rank that it passes on, d
    damping: float = setting("SEMCRAWL_PAGERANK_DAMPING")
    #: most links over which rank is passed on after each page
    updates: int = setting("SEMCRAWL_PAGERANK_UPDATES")
    #: most links in memory; beyond it those of the first pages are forgotten
    links: int = setting("SEMCRAWL_PAGERANK_LINKS")


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
