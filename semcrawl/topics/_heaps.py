"""Two heaps of similarities, of good and of bad documents, and where both are equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from statistics import fmean, median

#: rounds of the estimate; it changes little after ten
_ROUNDS = 25
#: least spread of a heap, and a bad heap's without data, relative to the middle of the good one
_LEAST_SPREAD, _USUAL_SPREAD = 0.08, 0.2
#: documents that the assumed middle of a heap counts for
_ASSUMED = 3.0
#: least share of a heap
_LEAST_SHARE = 0.1
#: bounds of the border, relative to the middle of the good heap of the samples
_LOWEST, _HIGHEST = 0.55, 0.8


@dataclass(frozen=True, slots=True)
class Heap:
    """Similarities around a middle."""

    middle: float
    spread: float
    #: share of all documents
    share: float = 0.5

    def likelihood(self, value: float) -> float:
        """Return how likely a document of this heap has a similarity, up to a factor."""
        away = (value - self.middle) / self.spread
        return self.share / self.spread * exp(-away * away / 2)


@dataclass(frozen=True, slots=True)
class Heaps:
    """The good and the bad heap, and the similarity at which both are equally likely."""

    good: Heap
    bad: Heap
    border: float

    @classmethod
    def of(
        cls, good: Sequence[float], bad: Sequence[float], crawl: Sequence[float], foreign: float
    ) -> Heaps:
        """Estimate two normal distributions (expectation maximisation).

        ``good``: similarities of the good samples, each left out of the topic that it is compared
        with. ``bad``: those of the bad samples. ``crawl``: those of documents of which nothing is
        known. ``foreign``: the assumed middle of the bad heap, which counts for few documents.
        """
        high = median(good)
        assumed = (
            Heap(high, _spread(good, high, high)),
            Heap(
                median(bad) if bad else foreign,
                _spread(bad, median(bad), high) if bad else _USUAL_SPREAD * high,
            ),
        )
        heaps = assumed
        for _ in range(_ROUNDS if crawl else 0):
            likely = [_share_of(heaps[0], heaps[1], value) for value in crawl]
            heaps = (
                _fitted(assumed[0], good, crawl, likely, high),
                _fitted(assumed[1], bad, crawl, [1 - one for one in likely], high),
            )
            share = min(max(fmean(likely), _LEAST_SHARE), 1 - _LEAST_SHARE)
            heaps = replace(heaps[0], share=share), replace(heaps[1], share=1 - share)
        return cls(*heaps, _border(*heaps, high))


def _share_of(good: Heap, bad: Heap, value: float) -> float:
    """Return the probability that a document is good."""
    if value >= good.middle:  # a wide bad heap reaches far
        return 1.0
    if value <= bad.middle:
        return 0.0
    one, other = good.likelihood(value), bad.likelihood(value)
    return one / (one + other) if one + other else float(value * 2 > good.middle + bad.middle)


def _fitted(
    assumed: Heap,
    samples: Sequence[float],
    crawl: Sequence[float],
    likely: Sequence[float],
    high: float,
) -> Heap:
    """Return the heap of its samples and of the documents that are likely to belong to it."""
    values = [*samples, *crawl]
    weights = [*(1.0 for _ in samples), *likely]
    total = sum(weights) + _ASSUMED
    middle = (
        sum(w * v for w, v in zip(weights, values, strict=True)) + _ASSUMED * assumed.middle
    ) / total
    square = (
        sum(w * (v - middle) ** 2 for w, v in zip(weights, values, strict=True))
        + _ASSUMED * assumed.spread**2
    ) / total
    return Heap(middle, max(square**0.5, _LEAST_SPREAD * high))


def _spread(values: Sequence[float], middle: float, high: float) -> float:
    """Return the spread of samples around their middle, which few outliers do not change."""
    away = 1.5 * median(abs(value - middle) for value in values) if values else 0.0
    return max(away, _LEAST_SPREAD * high)


def _border(good: Heap, bad: Heap, high: float) -> float:
    """Return where a document is as likely good as bad."""
    low, top = min(bad.middle, good.middle), good.middle
    for _ in range(40):
        middle = (low + top) / 2
        if good.likelihood(middle) >= bad.likelihood(middle):
            top = middle
        else:
            low = middle
    return min(max(top, _LOWEST * high), _HIGHEST * high)
