"""What to fetch next: strategies and their contract."""

from semcrawl.relevance.contract import Label, Outcome, Ranked, Relevance

__all__ = ["Label", "Outcome", "Ranked", "Relevance"]
