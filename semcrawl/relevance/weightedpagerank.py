"""Weighted PageRank: pages with more links to and from them get more rank (sources.md I)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from semcrawl.links import Link, Page
from semcrawl.relevance.linkrank import LinkRank, LinkRankOptions, Node
from semcrawl.relevance.pagerank import PageRank
from semcrawl.relevance.strategy import RuleOptions


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
