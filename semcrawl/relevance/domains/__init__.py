"""The strategy ``domain-score``: domains by what they gave, drawn by a roulette wheel (I)."""

from semcrawl.relevance.domains.domainscore import DomainScore

__all__ = ["DomainScore"]
