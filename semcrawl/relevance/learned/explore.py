"""The exploration bonus: how often something like a link was fetched."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.model import Floats

#: fruitless fetches in a row that make a place dry once, three times as many twice …
_DRY_UNIT = 32


class FetchCounts:
    """Counts fetches by name; names get numbers, so that what follows can be read in bulk."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.names: list[str] = []
        self._empty(256)

    def _empty(self, size: int) -> None:
        self._counts: Floats = np.zeros(size, np.float32)
        self._fruitless: Floats = np.zeros(size, np.float32)
        #: ready to be read; the last element is never a name's and stands for those never counted
        self._shares: Floats = np.ones(size + 1, np.float32)
        self._dryness: Floats = np.zeros(size, np.float32)

    def number(self, name: str) -> int:
        """The number of a name; a new one if it has none."""
        number = self.numbers.get(name)
        if number is not None:
            return number
        number = self.numbers[name] = len(self.names)
        self.names.append(name)
        if number >= len(self._counts):
            more = np.zeros_like(self._counts)
            self._counts = np.concatenate((self._counts, more))
            self._fruitless = np.concatenate((self._fruitless, more))
            self._dryness = np.concatenate((self._dryness, more))
            self._shares = np.concatenate((self._shares, more + 1))
        return number

    def add(self, number: int, fetches: float = 1.0) -> None:
        """Count a fetch."""
        self._counts[number] += fetches
        self._shares[number] = 1 / math.sqrt(1 + self._counts[number])

    def note_yield(self, number: int, good: bool, *, grew: bool = False) -> None:
        """Note whether a fetch paid.

        ``grew``: more waits here after it than before. What keeps growing may have no end: if such
        a fetch did not pay, it counts twice.
        """
        fruitless = 0.0 if good else float(self._fruitless[number]) + 1 + grew
        self._fruitless[number] = fruitless
        self._dryness[number] = math.log2(1 + fruitless / _DRY_UNIT)

    def dryness(self, numbers: NDArray[np.integer]) -> Floats:
        """log2(1 + n/32) of each number: n fetches in a row did not pay, as they count."""
        result: Floats = self._dryness[numbers]
        return result

    def shares(self, numbers: NDArray[np.integer]) -> Floats:
        """1/√(1+n) for the counts n of each number; -1 stands for a name never counted."""
        result: Floats = self._shares[numbers]
        return result

    def state(self) -> tuple[list[str], Floats]:
        """Names and counts, for :meth:`restore`."""
        return self.names, self._counts[: len(self.names)].copy()

    def restore(self, names: list[str], counts: Floats) -> None:
        """Take over what :meth:`state` gave."""
        self.names = list(names)
        self.numbers = {name: i for i, name in enumerate(names)}
        self._empty(max(256, len(names)))
        self._counts[: len(names)] = counts
        self._shares[:-1] = 1 / np.sqrt(1 + self._counts)
