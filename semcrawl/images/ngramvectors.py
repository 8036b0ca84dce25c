"""Represents texts as vectors of character n-grams, to compare them by the cosine.

N-grams have 2 to 4 characters inside a word with a space before and after it. So misspelled words,
inflected forms and parts of compounds are near to the word itself, in any script. Their weight is
(1 + log count) · idf. Each is added with its own sign to one of :data:`DIMENSIONS` numbers (feature
hashing, Weinberger 2009), which keeps cosines within some 4 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from semcrawl.topics.segmentation import words_of

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
_BATCH = 1000
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
        for start in range(0, len(texts), _BATCH):  # all at once would take three times the memory
            found[start : start + _BATCH] = unit(found[start : start + _BATCH])
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
    for start in range(0, len(texts), _BATCH):
        rows, hashes = _ngrams(texts[start : start + _BATCH])
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
