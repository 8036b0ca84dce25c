"""Counts fetches by place, for the exploration bonus."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.table import Floats

#: unit of dryness: consecutive fruitless fetches that give 1; three times as many give 2 …
_DRY_UNIT = 32
#: links under one name that make a list
_LIST = 8


class FetchCounts:
    """Counts fetches by name; names get numbers, by which arrays are read in bulk."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.names: list[str] = []
        #: updated one by one, which is faster in lists than in arrays
        self._counts: list[float] = []
        self._fruitless: list[int] = []
        self._links: list[int] = []
        #: number of lists without a fetch
        self.untried_lists = 0
        self._make_room(256)

    def _make_room(self, size: int) -> None:
        """Allocate arrays for ``size`` names.

        They are read in bulk. The last element, never used, is for unknown names (number -1).
        """
        self._shares: Floats = np.ones(size + 1, np.float32)
        self._dryness: Floats = np.zeros(size + 1, np.float32)
        self._untried: Floats = np.zeros(size + 1, np.float32)
        #: fetches that gave nothing, and that gave a document
        self._given: Floats = np.zeros((2, size + 1), np.float32)

    def number(self, name: str) -> int:
        """Return the number of a name; a new one if it has none."""
        number = self.numbers.get(name)
        if number is not None:
            return number
        number = self.numbers[name] = len(self.names)
        self.names.append(name)
        self._counts.append(0)
        self._fruitless.append(0)
        self._links.append(0)
        if number + 1 == len(self._shares):
            self._shares = np.concatenate((self._shares, np.ones(number, np.float32)))
            self._dryness = np.concatenate((self._dryness, np.zeros(number, np.float32)))
            self._untried = np.concatenate((self._untried, np.zeros(number, np.float32)))
            more = np.zeros((2, number), np.float32)
            self._given = np.concatenate((self._given, more), axis=1)
        return number

    def found(self, numbers: Iterable[int]) -> None:
        """Count found links."""
        for number in numbers:
            links = self._links[number] = self._links[number] + 1
            if links == _LIST and not self._counts[number]:
                self._untried[number] = 1
                self.untried_lists += 1

    def add(self, number: int) -> None:
        """Count a fetch."""
        if not self._counts[number] and self._links[number] >= _LIST:
            self._untried[number] = 0
            self.untried_lists -= 1
        self._counts[number] += 1
        self._shares[number] = 1 / math.sqrt(1 + self._counts[number])

    def note_yield(self, number: int, good: bool, *, grew: bool = False) -> None:
        """Note whether a fetch paid off.

        ``grew`` says that more links wait here after the fetch than before. A place that keeps
        growing may be endless, so such a fruitless fetch counts twice.
        """
        fruitless = 0 if good else self._fruitless[number] + 1 + grew
        self._fruitless[number] = fruitless
        self._dryness[number] = math.log2(1 + fruitless / _DRY_UNIT)

    def gave(self, number: int, document: bool) -> None:
        """Count a fetch by whether it gave a document."""
        self._given[int(document), number] += 1

    def trust(self, numbers: NDArray[np.integer], believed: float) -> Floats:
        """Return the share of fetches that gave a document, as if ``believed`` more had.

        -1 is an unknown name, of which nothing was fetched.
        """
        nothing, documents = self._given[:, numbers]
        result: Floats = (documents + believed) / (nothing + documents + believed)
        return result

    def untried(self, numbers: NDArray[np.integer]) -> Floats:
        """Return 1 for names with a list of links of which none was fetched, else 0."""
        result: Floats = self._untried[numbers]
        return result

    def dryness(self, numbers: NDArray[np.integer]) -> Floats:
        """Return log2(1 + n/32) for each number, after n consecutive fruitless fetches.

        -1 is an unknown name.
        """
        result: Floats = self._dryness[numbers]
        return result

    def shares(self, numbers: NDArray[np.integer]) -> Floats:
        """Return 1/√(1+n) for each number, where n is its count; -1 is an unknown name."""
        result: Floats = self._shares[numbers]
        return result

    def keep(self, numbers: NDArray[np.integer]) -> None:
        """Forget all names but those with these numbers; they get new ones in this order."""
        kept = numbers.tolist()
        self.names = [self.names[number] for number in kept]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._counts = [self._counts[number] for number in kept]
        self._fruitless = [self._fruitless[number] for number in kept]
        self._links = [self._links[number] for number in kept]
        before = self._shares, self._dryness, self._untried, self._given
        self._make_room(max(256, len(kept)))
        now = self._shares, self._dryness, self._untried, self._given
        for old, new in zip(before, now, strict=True):
            new[..., : len(kept)] = old[..., numbers]
        self.untried_lists = int(self._untried.sum())

    def state(self) -> dict[str, list[str] | NDArray[np.generic]]:
        """Return everything that is saved, for :meth:`restore`."""
        return {
            "names": self.names,
            "counts": np.array(self._counts, np.float32),
            "fruitless": np.array(self._fruitless, np.int64),
            "given": self._given[:, : len(self.names)],
        }

    def restore(
        self,
        names: list[str],
        counts: Floats,
        fruitless: NDArray[np.int64] | None = None,
        given: Floats | None = None,
    ) -> None:
        """Restore the result of :meth:`state`; raise ``ValueError`` if it does not fit.

        States of earlier versions lack ``fruitless`` and ``given``.
        """
        self.numbers = {name: i for i, name in enumerate(names)}
        self.names, self._counts = list(names), counts.tolist()
        self._fruitless = [0] * len(names) if fruitless is None else fruitless.tolist()
        self._links, self.untried_lists = [0] * len(names), 0
        lengths = {len(known) for known in (self.numbers, names, self._counts, self._fruitless)}
        if len(lengths) > 1:
            raise ValueError("names and counts are not of the same number")
        self._make_room(max(256, len(names)))
        if given is not None:
            self._given[:, : len(names)] = given
        self._shares[: len(names)] = 1 / np.sqrt(1 + counts)
        self._dryness[: len(names)] = np.log2(1 + np.array(self._fruitless) / _DRY_UNIT)
