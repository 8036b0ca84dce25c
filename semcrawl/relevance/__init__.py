"""Strategies decide which link to fetch next."""

from semcrawl.relevance.contract import Label, Outcome, Ranked, Relevance
from semcrawl.relevance.registry import STRATEGIES, crawl_strategy, load_strategy

__all__ = [
    "STRATEGIES",
    "Label",
    "Outcome",
    "Ranked",
    "Relevance",
    "crawl_strategy",
    "load_strategy",
]
