"""The exploration bonus: how often something like a link was fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.model import Floats


class FetchCounts:
    """Counts fetches by name; names get numbers, so that counts can be read in bulk."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.names: list[str] = []
        self._counts: Floats = np.zeros(256, np.float32)
        self._dry: Floats = np.zeros(256, np.float32)

    def number(self, name: str) -> int:
        """The number of a name; a new one if it has none."""
        number = self.numbers.get(name)
        if number is not None:
            return number
        number = self.numbers[name] = len(self.names)
        self.names.append(name)
        if number >= len(self._counts):
            self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)))
            self._dry = np.concatenate((self._dry, np.zeros_like(self._dry)))
        return number

    def add(self, number: int, fetches: float = 1.0) -> None:
        """Count a fetch."""
        self._counts[number] += fetches

    def note_yield(self, number: int, good: bool) -> None:
        """Note whether a fetch paid."""
        self._dry[number] = 0 if good else self._dry[number] + 1

    def dry(self, numbers: NDArray[np.integer]) -> Floats:
        """Fetches in a row, of each number, that did not pay."""
        result: Floats = self._dry[numbers]
        return result

    def shares(self, numbers: NDArray[np.integer]) -> Floats:
        """1/√(1+n) for the counts n of each number; -1 stands for a name never counted."""
        counts = np.where(numbers < 0, np.float32(0), self._counts[numbers])
        result: Floats = 1 / np.sqrt(1 + counts)
        return result

    def state(self) -> tuple[list[str], Floats]:
        """Names and counts, for :meth:`restore`."""
        return self.names, self._counts[: len(self.names)].copy()

    def restore(self, names: list[str], counts: Floats) -> None:
        """Take over what :meth:`state` gave."""
        self.names = list(names)
        self.numbers = {name: i for i, name in enumerate(names)}
        self._counts = np.zeros(max(256, len(names)), np.float32)
        self._counts[: len(names)] = counts
        self._dry = np.zeros_like(self._counts)
