"""Crawlers of others as strategies, rebuilt from their papers, to compare with.

``semcrawl evaluate --strategies sb-classifier,anthelion`` runs them. They are made for the
simulator: they keep no state over restarts, and share none among workers.
"""

from semcrawl.evaluation.rivals.anthelion import Anthelion
from semcrawl.evaluation.rivals.sbclassifier import SbClassifier

#: name → import path, for ``evaluate``
RIVALS = {
    "sb-classifier": "semcrawl.evaluation.rivals.SbClassifier",
    "anthelion": "semcrawl.evaluation.rivals.Anthelion",
}

__all__ = ["RIVALS", "Anthelion", "SbClassifier"]
