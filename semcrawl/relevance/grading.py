"""How much of a target a document is: its kind and the topic's judgement of it together."""

from __future__ import annotations

from typing import NamedTuple

#: what a document of the wanted kind is worth that just misses the threshold, and one that just
#: reaches it: strategies prefer targets to near misses, and near misses to nothing
_NEAR_MISS = 0.25
_REACHED = 0.75


class Grade(NamedTuple):
    """A document as a target."""

    #: whether it counts as a target
    target: bool
    #: how much of one it is, 0 to 1
    gain: float


def grade(
    counts: bool, relevance: float | None, threshold: float, worth: float | None = None
) -> Grade:
    """Return how much of a target a document is.

    ``counts``: it is of a kind that the crawl is after. ``relevance``: what the topic makes of it,
    0 to 1, ``None`` without a topic. It is a target if it counts and its relevance reaches
    ``threshold``. The gain rises with the relevance: from 0 to 0.25 below the threshold, from 0.75
    to 1 above. It is ``worth`` where the topic says that (:attr:`Judgement.worth`).
    """
    if relevance is None or not counts:
        return Grade(counts, float(counts))
    relevance = min(1.0, max(0.0, relevance))
    if worth is not None:
        return Grade(relevance >= threshold, min(1.0, max(0.0, worth)))
    if relevance < threshold:
        return Grade(False, _NEAR_MISS * relevance / threshold)
    above = (relevance - threshold) / (1 - threshold) if threshold < 1 else 1.0
    return Grade(True, _REACHED + (1 - _REACHED) * above)
