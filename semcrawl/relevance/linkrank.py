"""Rank of the pages of a crawl's link graph, kept up to date while the graph grows.

PR(A) = (1−d) + d·Σ PR(T)·w(T→A), where the weights of a page's links add up to 1: 1/C(T) each in
PageRank, their share of the page's relevance weights in IPageRank (sources.md S). A page that was
not fetched passes nothing on.

The sum is kept in two parts: what a page has passed on, and a residual that it has not. Passing a
residual on touches each link of the page once (Gauss-Southwell, as for personalised PageRank in
Andersen, Chung and Lang 2006). As many links are touched after each page as the options say, the
largest residuals first; value and residual together are the rank, and what is late moves on with
the next page.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

#: residuals below this wait until they have grown
_SMALL = 1e-4
#: a rank is reported again when it moved by this share
_MOVED = 0.05


@dataclass(frozen=True, slots=True)
class LinkRankOptions:
    """Numbers of :class:`LinkRank`."""

    #: share of a page's rank that goes on along its links, d
    damping: float = 0.85
    #: links that rank is passed on over after each page, at most
    updates: int = 500
    #: links that are held; those of the pages fetched first are forgotten
    links: int = 1_000_000


@dataclass(slots=True, eq=False)
class Node:
    """A page of the graph, fetched or not."""

    url: str
    #: what was passed on, or would have been had it links
    value: float
    #: what was not yet
    residual: float
    #: the rank that was reported last
    told: float
    waiting: bool = True
    #: links to it from pages that are held
    cited: int = 0
    #: residual under which it is in the queue; 0 = it is not
    queued: float = 0.0
    #: whom it links to, with the links' weights as they were given
    links: dict[Node, float] = field(default_factory=dict)
    #: sum of these weights
    total: float = 0.0

    @property
    def rank(self) -> float:
        """The page's rank as far as it is known."""
        return self.value + self.residual


class LinkRank:
    """Ranks by URL."""

    def __init__(self, options: LinkRankOptions | None = None) -> None:
        self.options = options or LinkRankOptions()
        self.nodes: dict[str, Node] = {}
        #: pages whose links are held, the first fetched first
        self.sources: dict[Node, None] = {}
        self.held = 0
        self._queue: list[tuple[float, int, Node]] = []
        self._numbered = 0
        self._moved: dict[str, float] = {}

    @property
    def base(self) -> float:
        """The rank of a page that nobody links to: 1−d."""
        return 1 - self.options.damping

    def rank(self, url: str) -> float:
        """The rank of a page, as far as it is known."""
        node = self.nodes.get(url)
        return node.rank if node is not None else self.base

    def share(self, page: str, url: str) -> float | None:
        """Share of a page's rank that goes to another one; ``None`` if its links are not held."""
        node, to = self.nodes.get(page), self.nodes.get(url)
        if node is None or node not in self.sources:
            return None
        return node.links[to] / node.total if to in node.links else 0.0

    def knows(self, page: str) -> bool:
        """Whether the links of a page are held."""
        return (node := self.nodes.get(page)) is not None and node in self.sources

    def passed(self, url: str) -> float:
        """The part of a page's rank that it has passed on."""
        return node.value if (node := self.nodes.get(url)) is not None else 0.0

    def cite(self, page: str, links: Mapping[str, float], total: float | None = None) -> None:
        """Add links with their weights (≥ 0) to those of a page, and pass rank on over them.

        ``total``: the sum of the weights where not all of the page's links are among these.
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
        """Pass residuals on, over ``updates`` links at most (the options say how many)."""
        left = self.options.updates if updates is None else updates
        while self._queue and left > 0:
            _, _, node = heapq.heappop(self._queue)
            node.queued = 0.0
            if node.links and abs(node.residual) > _SMALL:
                left -= len(node.links)
                self._push(node)

    def leave(self, url: str) -> None:
        """Hear that a page waits no more."""
        self._moved.pop(url, None)
        node = self.nodes.get(url)
        if node is not None:
            node.waiting = False

    def moved(self) -> dict[str, float]:
        """Ranks of the waiting pages that moved since they were reported."""
        moved, self._moved = self._moved, {}
        for url, rank in moved.items():
            if (node := self.nodes.get(url)) is not None:
                node.told = rank
        return moved

    def take_over(self, nodes: Iterable[Node], sources: Iterable[Node]) -> None:
        """Go on with another graph's pages, ``sources`` being those whose links are held."""
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
        """Pass a page's residual on over its links."""
        passed, node.residual = node.residual, 0.0
        node.value += passed
        self._add(node, passed)

    def _flow(self, source: Node, sign: int) -> None:
        """Give what a page has passed on to those whom it links to, or take it back."""
        if source.links and source.value:
            self._add(source, sign * source.value)

    def _add(self, source: Node, amount: float) -> None:
        each = self.options.damping * amount / source.total
        for node, weight in source.links.items():
            node.residual += each * weight
            if node.waiting:
                rank = node.value + node.residual
                if abs(rank - node.told) > _MOVED * node.told:
                    self._moved[node.url] = rank
            else:
                self._enqueue(node)

    def _enqueue(self, node: Node) -> None:
        """Have a page's residual passed on in its turn, if that pays."""
        size = abs(node.residual)
        if node.links and size > _SMALL and size > 2 * node.queued:
            node.queued = size
            self._numbered += 1
            heapq.heappush(self._queue, (-size, self._numbered, node))

    def _forget_oldest(self) -> None:
        """Drop the links of the pages fetched first, and pages that nobody links to any more.

        What they have passed on stays.
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
