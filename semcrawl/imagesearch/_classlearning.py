"""Learns the query classes of images from their texts and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semcrawl.images.imagefeatures import spread
from semcrawl.images.linearclassifier import LinearClassifier
from semcrawl.images.ngramvectors import DIMENSIONS
from semcrawl.images.textclasses import TextClasses
from semcrawl.imagesearch.imagedocuments import ImageDocument

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: least weight of a text that tells an image's class; most such texts used per image
_TELLING, _TELLING_TEXTS = 0.55, 4
#: folds of cross-prediction: no picture's class is learned from its own texts
_FOLDS = 5
_RIDGE_TEXTS, _RIDGE_PICTURES = 1.0, 10.0


@dataclass(frozen=True)
class LearnedClasses:
    """Class probabilities, a row per image, and the classifier."""

    by_text: Floats
    by_picture: Floats
    #: weighted mean of both
    joined: Floats
    #: classifies texts, and queries
    classifier: LinearClassifier


def learn_classes(
    documents: Sequence[ImageDocument],
    by_text: Mapping[str, Floats],
    whole: Floats,
    pictures: Floats,
    classes: TextClasses,
    picture_share: float,
) -> LearnedClasses:
    """Group the images' best texts into classes, and train classifiers of texts and pictures.

    ``by_text`` has the vector of each text, ``whole`` a row per image for all its texts, and
    ``pictures`` a row of features, zeros without a picture. New classes are added to ``classes``.
    """
    own = _grouped(documents, by_text, classes)
    count = len(classes.names)
    classifier = _text_classifier(documents, own, by_text, count)
    of_texts = classifier.probabilities(whole) * whole.any(axis=1, keepdims=True)
    of_pictures = _by_pictures(pictures, own, count)
    joined = _joined(of_texts, of_pictures, picture_share)
    return LearnedClasses(of_texts, of_pictures, joined, classifier)


def _grouped(
    documents: Sequence[ImageDocument], by_text: Mapping[str, Floats], classes: TextClasses
) -> Ints:
    """Group the images' best texts, the commonest first; return each image's class, or -1."""
    best = [
        document.texts[0].text if document.texts and document.texts[0].weight >= _TELLING else ""
        for document in documents
    ]
    common = [text for text, _ in Counter(text for text in best if text).most_common()]
    if not common:
        return np.full(len(documents), -1)
    groups = classes.group(common, np.stack([by_text[text] for text in common]))
    of_text = dict(zip(common, groups.tolist(), strict=True))
    return np.array([of_text.get(text, -1) for text in best], np.int64)


def _text_classifier(
    documents: Sequence[ImageDocument], own: Ints, by_text: Mapping[str, Floats], count: int
) -> LinearClassifier:
    """Train on the telling texts of each image, labelled with the class of its best text."""
    rows: list[Floats] = []
    labels: list[int] = []
    for document, label in zip(documents, own.tolist(), strict=True):
        if label >= 0:
            telling = [text for text in document.texts if text.weight >= _TELLING]
            rows += [by_text[text.text] for text in telling[:_TELLING_TEXTS]]
            labels += [label] * len(telling[:_TELLING_TEXTS])
    if not rows:
        return LinearClassifier(np.zeros((DIMENSIONS + 1, count), np.float32), 1.0)
    return LinearClassifier.fit(np.stack(rows), np.array(labels), count, _RIDGE_TEXTS)


def _by_pictures(pictures: Floats, own: Ints, count: int) -> Floats:
    """Return each image's probabilities by its picture; zeros if there is too little to learn."""
    found = np.zeros((len(pictures), count), np.float32)
    seen = pictures.any(axis=1)
    taught = np.flatnonzero(seen & (own >= 0))
    if len(taught) < 2 * _FOLDS or count < 2:
        return found
    waves = spread(pictures)
    fold = np.arange(len(pictures)) % _FOLDS
    sharpness = None
    for part in range(_FOLDS):
        asked = np.flatnonzero(seen & (fold == part))
        others = taught[fold[taught] != part]
        if len(asked) and len(others):
            model = LinearClassifier.fit(
                waves[others], own[others], count, _RIDGE_PICTURES, sharpness
            )
            sharpness = model.sharpness
            found[asked] = model.probabilities(waves[asked])
    return found


def _joined(by_text: Floats, by_picture: Floats, picture_share: float) -> Floats:
    """Return the weighted mean of both; if an image has only one, it counts in full."""
    texts = np.float32(1 - picture_share) * by_text.any(axis=1)
    pictures = np.float32(picture_share) * by_picture.any(axis=1)
    whole = np.maximum(texts + pictures, np.float32(1e-9))
    joined: Floats = by_text * (texts / whole)[:, None]
    joined += by_picture * (pictures / whole)[:, None]
    return joined
