"""The strategy ``learned``: an online model of the links' index (targets per request)."""

from semcrawl.relevance.learned.expecting import Patience
from semcrawl.relevance.learned.options import FEATURE_FAMILIES, LearnedOptions
from semcrawl.relevance.learned.strategy import Learned

__all__ = ["FEATURE_FAMILIES", "Learned", "LearnedOptions", "Patience"]
