"""Ranks of a link graph without the bound on the work that a crawl gives them."""

from __future__ import annotations

from semcrawl.relevance.pagerank import LinkRank


def settle_wholly(graph: LinkRank) -> None:
    """Pass all residuals on, however small: the graph's ranks to 9 digits."""
    while busy := [node for node in graph.sources if abs(node.residual) > 1e-12]:
        for node in busy:
            graph._push(node)
