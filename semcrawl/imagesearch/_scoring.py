"""Scores images for a query by words, nearness of texts, class, and look.

Clicks move the query towards the images that users chose for it: its vector towards their texts,
and its classes towards theirs. All images like them gain by that.

The score is the weighted mean of four parts, each from 0 to 1:

- how well the image's texts match the words (:func:`~semcrawl.imagesearch.fulltext.matching`);
- the cosine of the query with its texts;
- the probability of the query's classes, relative to the most probable image;
- how much it looks like the best images by the other three parts (Rocchio's feedback, 1971). This
  counts only as far as those look like each other. It shows wrong captions, and ranks images
  without a caption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semcrawl.images.imagefeatures import spread
from semcrawl.imagesearch.fulltext import QueryWord, matching
from semcrawl.imagesearch.imageindex import ImageIndex

Floats = npt.NDArray[np.float32]

#: best images whose mean look is the look of the query
_MODELS = 30
#: an image without the words is found if the probability of the query's classes, relative to the
#: most probable image, is at least this
_SAME_CLASS = 0.5
#: clicks that weigh as much as the query itself
_CLICKS = 3.0


@dataclass(frozen=True)
class Weights:
    """The weight of each part, and the least nearness."""

    words: float = 0.6
    nearness: float = 0.25
    classes: float = 0.15
    look: float = 0.3
    #: least cosine with the query of an image that has none of its words
    least: float = 0.35


class Scoring:
    """Scores the images of an index."""

    def __init__(self, index: ImageIndex, weights: Weights) -> None:
        """Prepare the pictures of the index."""
        self._index = index
        self._weights = weights
        self._rows = {number: row for row, number in enumerate(index.arrays.ids.tolist())}
        seen = index.arrays.pictures.any(axis=1)
        #: differences from the mean picture; zeros without a picture
        self._looks = spread(index.arrays.pictures)
        if seen.any():
            self._looks -= self._looks[seen].mean(axis=0)
        self._looks[~seen] = 0

    def scores(
        self, words: Sequence[QueryWord], vector: Floats, clicks: Mapping[int, int]
    ) -> Floats:
        """Return the score of every image, from 0 (not found) to 1.

        ``clicks``: how often users chose which images for the query.
        """
        arrays, weights = self._index.arrays, self._weights
        chosen, trust = self._chosen(clicks)
        of_words = vector
        vector = _unit((1 - trust) * vector + trust * (chosen @ arrays.texts))
        by_words = np.zeros(len(arrays.ids), np.float32)
        found_words = matching(self._index.database, words, len(arrays.ids))
        for number, match in found_words.items():
            by_words[self._rows[number]] = match
        nearness = np.maximum(arrays.texts @ vector, 0)
        found = (by_words > 0) | (nearness >= weights.least)
        scores = weights.words * by_words + weights.nearness * nearness
        if arrays.classes.shape[1] and vector.any():
            of_query = self._index.text_classifier.probabilities(of_words[None])[0]
            of_query = (1 - trust) * of_query + trust * (chosen @ arrays.classes)
            same = _shares(arrays.classes @ of_query)
            scores += weights.classes * same
            # an image may be of the query's class without having its words
            found |= (same >= _SAME_CLASS) & bool(found.any())
        scores = np.where(found, scores, 0)
        scores += weights.look * self._alike(scores) * found
        whole = weights.words + weights.nearness + weights.classes + weights.look
        return (scores / whole).astype(np.float32)

    def _chosen(self, clicks: Mapping[int, int]) -> tuple[Floats, float]:
        """Return each image's share of the clicks, and how much they count, 0 to 1."""
        shares = np.zeros(len(self._rows), np.float32)
        for image, count in clicks.items():
            if (row := self._rows.get(image)) is not None:
                shares[row] = np.log1p(count)
        number = float(shares.sum())
        return shares / max(number, 1e-9), number / (number + _CLICKS)

    def _alike(self, scores: Floats) -> Floats:
        """Return how much each picture looks like the best-scored ones."""
        best = np.argsort(-scores, kind="stable")[:_MODELS]
        shares = scores[best] ** 2
        if not shares.any():
            return np.zeros_like(scores)
        shares /= shares.sum()
        looks = self._looks[best]
        model = shares @ looks
        length = float(model @ model)
        # the squared length that pictures with nothing in common would add up to
        alone = float(shares**2 @ (looks**2).sum(axis=1))
        common = max(0.0, 1 - alone / max(length, 1e-9))
        return common * _shares(np.maximum(self._looks @ model, 0))


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def _shares(values: Floats) -> Floats:
    """Return values divided by the largest one."""
    largest = float(values.max(initial=0.0))
    return values / largest if largest > 0 else values
