"""Groups texts of the same meaning into query classes (sources.md I).

A text joins the class with the nearest centre if the cosine reaches a threshold; else it founds a
new class (the leader algorithm, Hartigan 1975). The commonest texts come first. Afterwards each
text goes to its nearest centre, and centres become the means of their texts. A later query joins or
founds a class by the same rule; existing classes keep their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from semcrawl.images.ngramvectors import DIMENSIONS, unit

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: steps that move centres to the means of their texts
_STEPS = 3
#: texts compared with all centres at a time
_BATCH = 1024


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
        for start in range(0, len(vectors), _BATCH):
            part = slice(start, start + _BATCH)
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
        for start in range(0, len(texts), _BATCH):
            self._lead(texts, vectors, range(start, min(start + _BATCH, len(texts))))
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
