"""A linear classifier of vectors into many classes, trained in one step.

Scores come from regularised least squares, one against the rest: W = (XᵀX + λI)⁻¹ XᵀY. A softmax
turns them into probabilities; its temperature is chosen on held-out vectors (Platt scaling with one
number). The cost hardly depends on the number of classes. With fewer vectors than dimensions, the
same weights are computed as W = Xᵀ(XXᵀ + λI)⁻¹ Y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: every n-th vector is held out
_HELD_OUT = 5
_TEMPERATURES = np.geomspace(1, 200, 24)


@dataclass(frozen=True)
class LinearClassifier:
    """Weights per class, and the softmax's inverse temperature."""

    weights: Floats  #: dimensions + 1 rows (the last one is added to all), a column per class
    sharpness: float

    @classmethod
    def fit(
        cls,
        vectors: Floats,
        classes: Ints,
        count: int,
        ridge: float = 1.0,
        sharpness: float | None = None,
    ) -> Self:
        """Train on vectors with one class each, 0 to ``count`` - 1.

        ``ridge`` is λ, in hundredths of the mean sum of a dimension's squares. A known
        ``sharpness`` is not computed again.
        """
        if sharpness is not None:
            return cls(_solved(vectors, classes, count, ridge), sharpness)
        held = np.arange(len(vectors)) % _HELD_OUT == _HELD_OUT - 1
        tried = _solved(vectors[~held], classes[~held], count, ridge)
        known = held & np.isin(classes, classes[~held])
        sharpness = 20.0
        if known.any():
            scores = _scores(tried, vectors[known])
            losses = [_loss(scores * t, classes[known]) for t in _TEMPERATURES]
            sharpness = float(_TEMPERATURES[int(np.argmin(losses))])
        return cls(_solved(vectors, classes, count, ridge), sharpness)

    def probabilities(self, vectors: Floats) -> Floats:
        """Return a row of probabilities for each vector."""
        return softmax(_scores(self.weights, vectors) * self.sharpness)


def softmax(scores: Floats) -> Floats:
    """Return exp(score), each row divided by its sum."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    shares: Floats = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def _solved(vectors: Floats, classes: Ints, count: int, ridge: float) -> Floats:
    inputs = _with_one(vectors)
    rows, size = inputs.shape
    whole = float(np.vdot(inputs, inputs))
    penalty = max(ridge * 0.01 * whole / size, 1e-6)
    if rows < size:
        products = (inputs @ inputs.T).astype(np.float64)
        products[np.diag_indices(rows)] += penalty
        targets = np.zeros((rows, count))
        targets[np.arange(rows), classes] = 1
        return (inputs.T @ np.linalg.solve(products, targets)).astype(np.float32)
    squares = (inputs.T @ inputs).astype(np.float64)
    squares[np.diag_indices(size)] += penalty
    sums = np.zeros((count, size), np.float32)
    np.add.at(sums, classes, inputs)
    return np.linalg.solve(squares, sums.T).astype(np.float32)


def _scores(weights: Floats, vectors: Floats) -> Floats:
    scores: Floats = _with_one(vectors) @ weights
    return scores


def _with_one(vectors: Floats) -> Floats:
    return np.hstack([vectors, np.ones((len(vectors), 1), np.float32)])


def _loss(scores: Floats, classes: Ints) -> float:
    right = softmax(scores)[np.arange(len(classes)), classes]
    return float(-np.log(np.maximum(right, 1e-12)).mean())
