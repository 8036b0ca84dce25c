"""The score of each image for a query: by words, by nearness of texts, by class, and by look.

Four parts, each from 0 to 1, are weighed and added:

- how well its texts match the words (:func:`~semcrawl.imagesearch.fulltext.matching`);
- the cosine of the query with its texts;
- how probably it is of the query's classes, as a share of the most probable;
- how much it looks like the images that are best by the other three (Rocchio's feedback, 1971). It
  counts as far as those look like each other: captions that are wrong, and images without one, are
  told by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semcrawl.images.imagefeatures import spread
from semcrawl.imagesearch.fulltext import QueryWord, matching
from semcrawl.imagesearch.imageindex import ImageIndex

Floats = npt.NDArray[np.float32]

#: images whose look is taken for that of the query
_MODELS = 30
#: an image without the words is found that is so probably of the query's class, as a share of the
#: most probable one
_SAME_CLASS = 0.5


@dataclass(frozen=True)
class Weights:
    """The weight of each part, and which images are found."""

    words: float = 0.6
    nearness: float = 0.25
    classes: float = 0.15
    look: float = 0.3
    #: least cosine with a query of an image that has none of its words
    least: float = 0.35


class Scoring:
    """Scores the images of an index."""

    def __init__(self, index: ImageIndex, weights: Weights) -> None:
        """Prepare the pictures of the index."""
        self._index = index
        self._weights = weights
        self._rows = {number: row for row, number in enumerate(index.arrays.ids.tolist())}
        seen = index.arrays.pictures.any(axis=1)
        #: differences from the mean picture; zeros where there is none
        self._looks = spread(index.arrays.pictures)
        if seen.any():
            self._looks -= self._looks[seen].mean(axis=0)
        self._looks[~seen] = 0

    def scores(self, words: Sequence[QueryWord], vector: Floats) -> Floats:
        """Return the score of every image, 0 to 1; 0 for those that are not found."""
        arrays, weights = self._index.arrays, self._weights
        by_words = np.zeros(len(arrays.ids), np.float32)
        found_words = matching(self._index.database, words, len(arrays.ids))
        for number, match in found_words.items():
            by_words[self._rows[number]] = match
        nearness = np.maximum(arrays.texts @ vector, 0)
        found = (by_words > 0) | (nearness >= weights.least)
        scores = weights.words * by_words + weights.nearness * nearness
        if arrays.classes.shape[1] and vector.any():
            of_query = self._index.text_classifier.probabilities(vector[None])[0]
            same = _shares(arrays.classes @ of_query)
            scores += weights.classes * same
            # (texts and pictures are of the query's class, whatever the words)
            found |= (same >= _SAME_CLASS) & bool(found.any())
        scores = np.where(found, scores, 0)
        scores += weights.look * self._alike(scores) * found
        whole = weights.words + weights.nearness + weights.classes + weights.look
        return (scores / whole).astype(np.float32)

    def _alike(self, scores: Floats) -> Floats:
        """Return how much each picture looks like those of the best scores."""
        best = np.argsort(-scores, kind="stable")[:_MODELS]
        shares = scores[best] ** 2
        if not shares.any():
            return np.zeros_like(scores)
        shares /= shares.sum()
        looks = self._looks[best]
        model = shares @ looks
        length = float(model @ model)
        # what pictures that have nothing in common would add up to
        alone = float(shares**2 @ (looks**2).sum(axis=1))
        common = max(0.0, 1 - alone / max(length, 1e-9))
        return common * _shares(np.maximum(self._looks @ model, 0))


def _shares(values: Floats) -> Floats:
    """Return values as shares of the largest one."""
    largest = float(values.max(initial=0.0))
    return values / largest if largest > 0 else values
