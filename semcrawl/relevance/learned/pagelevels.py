"""Compares RDF linked on pages near the topic with that linked on other pages."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.table import Floats
from semcrawl.topics import NEAR

#: levels of a page: unknown, not near the topic, near it as far as is known, with data about it
UNKNOWN, FAR, NAMES, HOLDS = range(4)


def level_of(relevance: float | None) -> int:
    """Return the level of a page by its relevance; ``UNKNOWN`` if it was not judged."""
    if relevance is None:
        return UNKNOWN
    return FAR if relevance < NEAR else NAMES if relevance == NEAR else HOLDS


class PageLevels:
    """Counts judged documents by the level of the page with their link.

    On some sites the pages that name a term link to the documents that use it; on others they only
    define it, and no document of theirs fits. A few documents tell which it is.
    """

    def __init__(self, strength: float) -> None:
        """Let the share of all documents count as ``strength`` documents of each level.

        With 0 all levels are taken to be alike, and pages near the topic to be reliable.
        """
        self._strength = strength
        #: gains and losses of the documents, by level
        self.counts: NDArray[np.float64] = np.zeros((HOLDS + 1, 2))

    def add(self, level: int, gain: float) -> None:
        """Count a document that was linked on a page of this level."""
        self.counts[level] += gain, 1 - gain

    def corrections(self) -> Floats:
        """Return the logits to add to the share of a document, by the level of its page.

        They are 0 for levels with as large a share as all documents. One good and one bad document
        are added, and divided among the levels like the others.
        """
        found = np.zeros(len(self.counts), np.float32)
        gained, lost = self.counts.sum(axis=0).tolist()
        judged = gained + lost
        if not (self._strength and judged):
            return found
        share = (gained + 1) / (judged + 2)
        for level, (good, bad) in enumerate(self.counts.tolist()):
            if level == UNKNOWN:
                continue
            added = (good + bad) / judged
            good += added + self._strength * share
            bad += added + self._strength * (1 - share)
            found[level] = math.log(good / bad) - math.log(share / (1 - share))
        return found

    def reliability(self, level: int) -> float:
        """Return the share of good documents on pages of this level, 1 before any is known."""
        good, bad = self.counts[level].tolist()
        return float((good + 1) / (good + bad + 1)) if self._strength else 1.0
