"""Means with their spread, and significance tests of differences between strategies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, stdev

_RESAMPLES = 2000
_EXACT = 12  # most pairs for which every assignment of signs is counted


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean, and the spread of the values around it."""

    mean: float
    #: sample standard deviation; 0 for a single value
    deviation: float
    low: float
    high: float
    count: int


def spread(values: Sequence[float]) -> Spread:
    """Return mean, standard deviation and range; raise ``ValueError`` without values."""
    if not values:
        raise ValueError("no values")
    deviation = stdev(values) if len(values) > 1 else 0.0
    return Spread(fmean(values), deviation, min(values), max(values), len(values))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two strategies compared on the same worlds and seeds, first minus second."""

    first: str
    second: str
    pairs: int
    difference: float
    #: bootstrap interval of the mean difference, 95 %
    low: float
    high: float
    #: number of pairs in which the first is better, equal, worse
    wins: int
    ties: int
    losses: int
    #: probability of a mean difference at least this large between equals (sign-flip test)
    p_value: float


def compare(
    first: str, second: str, values: Sequence[tuple[float, float]], seed: int = 0
) -> Comparison:
    """Compare two strategies by pairs of values; larger is better.

    The interval comes from a percentile bootstrap over the pairs, the p-value from a two-sided
    sign-flip permutation test (exact for up to 12 pairs). Raises ``ValueError`` for no pairs.
    """
    differences = [a - b for a, b in values]
    if not differences:
        raise ValueError("no pairs")
    random, count = Random(seed), len(differences)
    means = sorted(fmean(random.choices(differences, k=count)) for _ in range(_RESAMPLES))
    return Comparison(
        first,
        second,
        count,
        fmean(differences),
        means[round(0.025 * (_RESAMPLES - 1))],
        means[round(0.975 * (_RESAMPLES - 1))],
        sum(d > 0 for d in differences),
        sum(d == 0 for d in differences),
        sum(d < 0 for d in differences),
        _sign_flip(differences, random),
    )


def _sign_flip(differences: Sequence[float], random: Random) -> float:
    """Return the share of sign assignments whose sum is at least as far from 0 as observed."""
    seen = abs(math.fsum(differences)) - 1e-12
    moved = [d for d in differences if d]
    if len(moved) <= _EXACT:
        flips = list(itertools.product((1, -1), repeat=len(moved)))
        extra = 0
    else:
        flips = [tuple(random.choices((1, -1), k=len(moved))) for _ in range(_RESAMPLES)]
        extra = 1  # the observed assignment counts too
    hits = sum(
        abs(math.fsum(s * d for s, d in zip(signs, moved, strict=True))) >= seen for signs in flips
    )
    return (hits + extra) / (len(flips) + extra)
