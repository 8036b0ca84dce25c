"""Classes of texts near images, learned from n-grams.

Represents texts as vectors of character n-grams, to compare them by the cosine.
N-grams have 2 to 4 characters inside a word with a space before and after it. So misspelled words,
inflected forms and parts of compounds are near to the word itself, in any script. Their weight is
(1 + log count) · idf. Each is added with its own sign to one of :data:`DIMENSIONS` numbers (feature
hashing, Weinberger 2009), which keeps cosines within some 4 %.

Groups texts of the same meaning into query classes (sources.md I).
A text joins the class with the nearest centre if the cosine reaches a threshold; else it founds a
new class (the leader algorithm, Hartigan 1975). The commonest texts come first. Afterwards each
text goes to its nearest centre, and centres become the means of their texts. A later query joins or
founds a class by the same rule; existing classes keep their numbers.

A linear classifier of vectors into many classes, trained in one step.
Scores come from regularised least squares, one against the rest: W = (XᵀX + λI)⁻¹ XᵀY. A softmax
turns them into probabilities; its temperature is chosen on held-out vectors (Platt scaling with one
number). The cost hardly depends on the number of classes. With fewer vectors than dimensions, the
same weights are computed as W = Xᵀ(XXᵀ + λI)⁻¹ Y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from semcrawl.topics.texts import words_of

Floats = npt.NDArray[np.float32]
Hashes = npt.NDArray[np.uint64]

#: numbers of a vector
DIMENSIONS = 512
#: characters of a text that are used
MAX_CHARACTERS = 500
_SIZES = (2, 3, 4)
#: number of bins in which n-grams are counted
_BINS = 1 << 16
#: texts processed at a time: some 100 MB for long ones
_TEXTS_AT_ONCE = 1000
_SPACE = ord(" ")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class NgramVectors:
    """Makes vectors, weighted by the rarity of n-grams."""

    def __init__(self, idf: Floats) -> None:
        """Use the ``idf`` of an instance that :meth:`fit` has made."""
        self.idf = idf

    @classmethod
    def fit(cls, texts: Sequence[str]) -> Self:
        """Learn the rarity of n-grams from texts."""
        counts = np.zeros(_BINS)
        for _, hashes, _ in _counted(texts):
            counts += np.bincount(_bin(hashes), minlength=_BINS)
        return cls(np.log((1 + len(texts)) / (1 + counts)).astype(np.float32) + 0.1)

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return a vector of length 1 for each text; of length 0 for one without a word."""
        found = np.zeros((len(texts), DIMENSIONS), np.float32)
        for rows, hashes, counts in _counted(texts):
            weights = (1 + np.log(counts)) * self.idf[_bin(hashes)]
            signs = np.where(hashes >> np.uint64(63), 1, -1)
            places = rows * DIMENSIONS + (hashes >> np.uint64(16)).astype(np.int64) % DIMENSIONS
            np.add.at(found.reshape(-1), places, (weights * signs).astype(np.float32))
        for start in range(0, len(texts), _TEXTS_AT_ONCE):  # all would take three times the memory
            found[start : start + _TEXTS_AT_ONCE] = unit(found[start : start + _TEXTS_AT_ONCE])
        return found

    def vector(self, text: str) -> Floats:
        """Return the vector of one text."""
        one: Floats = self.vectors([text])[0]
        return one


def unit(vectors: Floats) -> Floats:
    """Return vectors (rows) of length 1; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled = vectors / np.where(lengths > 0, lengths, np.float32(1))
    return scaled.astype(np.float32, copy=False)


def _bin(hashes: Hashes) -> npt.NDArray[np.int64]:
    return (hashes & np.uint64(_BINS - 1)).astype(np.int64)


def _counted(texts: Sequence[str]) -> Iterator[tuple[npt.NDArray[np.int64], Hashes, Floats]]:
    """Yield numbers of texts, and hashes and counts of their n-grams."""
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        rows, hashes = _ngrams(texts[start : start + _TEXTS_AT_ONCE])
        order = np.lexsort((hashes, rows))
        rows, hashes = rows[order], hashes[order]
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
        firsts = np.flatnonzero(new)
        counts = np.diff(np.append(firsts, len(rows)))
        yield rows[firsts] + start, hashes[firsts], counts.astype(np.float32)


def _ngrams(texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], Hashes]:
    """Return the number of the text and the hash of each n-gram."""
    padded = [f" {' '.join(words_of(text[:MAX_CHARACTERS]))} " for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.uint64)
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in padded])
    gaps = letters == _SPACE
    found_rows, found = [], []
    for size in _SIZES:
        count = max(0, len(letters) - size + 1)
        hashes = np.full(count, size, np.uint64)
        inside = rows[:count] == rows[size - 1 : size - 1 + count]
        for place in range(size):
            hashes = (hashes ^ letters[place : place + count]) * _FACTOR
            hashes ^= hashes >> np.uint64(29)
            if 0 < place < size - 1:
                inside &= ~gaps[place : place + count]
        inside &= ~(gaps[:count] & gaps[size - 1 : size - 1 + count] & (size == 2))
        found_rows.append(rows[:count][inside])
        found.append(hashes[inside])
    return np.concatenate(found_rows), np.concatenate(found)


Ints = npt.NDArray[np.int64]

#: steps that move centres to the means of their texts
_STEPS = 3
#: texts compared with all centres at a time
_VECTORS_AT_ONCE = 1024


@dataclass
class TextClasses:
    """Names and centres of classes; the index in the lists is the class."""

    #: least cosine between a text and the centre of its class
    nearness: float
    #: most classes that grouping makes; queries may make more
    most: int
    names: list[str] = field(default_factory=list)
    centres: Floats = field(default_factory=lambda: np.zeros((0, DIMENSIONS), np.float32))

    def nearest(self, vectors: Floats) -> tuple[Ints, Floats]:
        """Return for each row the nearest class and the cosine; -1 without classes."""
        if not self.names:
            return np.full(len(vectors), -1), np.zeros(len(vectors), np.float32)
        classes = np.empty(len(vectors), np.int64)
        cosines = np.empty(len(vectors), np.float32)
        for start in range(0, len(vectors), _VECTORS_AT_ONCE):
            part = slice(start, start + _VECTORS_AT_ONCE)
            found = vectors[part] @ self.centres.T
            classes[part] = found.argmax(axis=1)
            cosines[part] = found.max(axis=1)
        return classes, cosines

    def joined(self, text: str, vector: Floats) -> tuple[int, bool]:
        """Return the class of a new query, and whether the class is new."""
        classes, cosines = self.nearest(vector[None])
        if classes[0] >= 0 and cosines[0] >= self.nearness:
            return int(classes[0]), False
        self._add([text], vector[None])
        return len(self.names) - 1, True

    def group(self, texts: Sequence[str], vectors: Floats) -> Ints:
        """Group texts, the most important first; return the class of each, -1 for none.

        New classes are named after the text nearest to their centre.
        """
        known = len(self.names)
        for start in range(0, len(texts), _VECTORS_AT_ONCE):
            self._lead(texts, vectors, range(start, min(start + _VECTORS_AT_ONCE, len(texts))))
        if not self.names:
            return np.full(len(texts), -1)
        for _ in range(_STEPS):
            classes, cosines = self.nearest(vectors)
            joins = cosines >= self.nearness
            sums = np.zeros_like(self.centres)
            np.add.at(sums, classes[joins], vectors[joins])
            moved = np.linalg.norm(sums, axis=1) > 0
            moved[:known] = False
            self.centres[moved] = unit(sums[moved])
        classes, cosines = self.nearest(vectors)
        best = np.full(len(self.names), -1.0)
        for number, (one, cosine) in enumerate(zip(classes, cosines, strict=True)):
            if one >= known and cosine > best[one]:
                best[one], self.names[one] = cosine, texts[number]
        return np.where(cosines >= self.nearness, classes, -1)

    def _lead(self, texts: Sequence[str], vectors: Floats, part: range) -> None:
        """Make classes from texts that join none."""
        part_vectors = vectors[part.start : part.stop]
        _, cosines = self.nearest(part_vectors)
        empty = ~part_vectors.any(axis=1)
        far = np.flatnonzero((cosines < self.nearness) & ~empty)
        room = self.most - len(self.names)
        chosen: list[int] = []
        leaders = np.zeros((0, vectors.shape[1]), np.float32)
        for number in far:
            if len(chosen) >= room:
                break
            vector = part_vectors[number]
            if not len(leaders) or float((leaders @ vector).max()) < self.nearness:
                chosen.append(int(number))
                leaders = part_vectors[chosen]
        if chosen:
            self._add([texts[part.start + number] for number in chosen], leaders)

    def _add(self, names: Sequence[str], centres: Floats) -> None:
        self.names += names
        self.centres = np.concatenate([self.centres, centres.astype(np.float32)])


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
