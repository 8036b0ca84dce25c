"""What to fetch next: strategies and their contract."""

from semcrawl.relevance.contract import Label, Outcome, Ranked, Relevance
from semcrawl.relevance.registry import STRATEGIES, load_strategy

__all__ = ["STRATEGIES", "Label", "Outcome", "Ranked", "Relevance", "load_strategy"]
