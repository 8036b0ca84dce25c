"""Strategies decide which link to fetch next."""

from semcrawl.relevance.contract import Label, Outcome, Ranked, Relevance
from semcrawl.relevance.registry import crawl_strategy, load_strategy, strategies

__all__ = [
    "Label",
    "Outcome",
    "Ranked",
    "Relevance",
    "crawl_strategy",
    "load_strategy",
    "strategies",
]
