"""The lab: runs strategies on closed pieces of the web, and measures what they find."""

from __future__ import annotations

from semcrawl.houses import House

__all__ = ["HOUSE"]


class _Lab(House):
    """Studies, a web to try the crawler on, and the strategies that only studies use."""

    commands = {"demo": "semcrawl.commands.demo", "evaluate": "semcrawl.commands.evaluate"}
    functions = {"evaluate": "semcrawl.lab.comparing"}
    strategies = {
        "association-rules": "semcrawl.relevance.association_rules.AssociationRules",
        "url-distance": "semcrawl.relevance.url_distance.UrlDistance",
        "pagerank": "semcrawl.relevance.pagerank.PageRank",
        "weighted-pagerank": "semcrawl.relevance.pagerank.WeightedPageRank",
        "relevance-weighting": "semcrawl.relevance.weighting.RelevanceWeighting",
        "ipagerank": "semcrawl.relevance.pagerank.IPageRank",
        "keyword-focused": "semcrawl.relevance.weighting.KeywordFocused",
        "domain-score": "semcrawl.relevance.domains.DomainScore",
        "context-graph": "semcrawl.relevance.contextgraph.ContextGraph",
        "random": "semcrawl.relevance.random.Random",
    }


HOUSE = _Lab()
