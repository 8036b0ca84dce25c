"""The strategy ``domain-score``: a roulette wheel over scored domains (sources.md I)."""

from semcrawl.relevance.domains.domainscore import DomainScore

__all__ = ["DomainScore"]
