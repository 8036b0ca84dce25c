"""Builds the index of a job's images when it is missing or out of date."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.exc import OperationalError

from semcrawl.images.imagefeatures import FEATURES, features_of_file
from semcrawl.images.ngramvectors import DIMENSIONS, NgramVectors, unit
from semcrawl.images.schema import THUMBNAILS, ImageClass, QueryClass
from semcrawl.images.textclasses import TextClasses
from semcrawl.imagesearch._classlearning import LearnedClasses, learn_classes
from semcrawl.imagesearch.fulltext import add_texts
from semcrawl.imagesearch.imagedocuments import ImageDocument, image_documents, stamp_of
from semcrawl.imagesearch.imageindex import ImageIndex, IndexArrays, new_database
from semcrawl.metadata.rows import insert_rows
from semcrawl.topics.segmentation import words_of

#: classes written per image at most, and their least probability
_CLASSES, _LEAST = 5, 0.05

Floats = npt.NDArray[np.float32]

#: languages in which queries are stemmed at most, and their least share of the texts
_LANGUAGES, _SPOKEN = 4, 0.03


@dataclass(frozen=True)
class IndexOptions:
    """How images are indexed, as in the settings ``SEMCRAWL_IMAGE_…``."""

    #: most query classes that grouping makes
    classes: int = 800
    #: least cosine between a text and the centre of its class
    nearness: float = 0.6
    #: weight of the picture in the class probability; the texts have the rest
    picture_share: float = 0.4


def current_index(
    folder: Path, engine: Engine, options: IndexOptions, starting: Callable[[int], None]
) -> ImageIndex:
    """Return the up-to-date index of a folder.

    If it must be built, ``starting`` is called with the number of images. If it cannot be written,
    it serves this process only.
    """
    kept = ImageIndex.opened(folder)
    with engine.connect() as connection:
        connection = connection.execution_options(read_only=True)
        stamp = stamp_of(connection)
        if kept is not None and kept.stamp == stamp:
            return kept
        documents = image_documents(connection)
        names = class_names(connection)
    starting(len(documents))
    making = _Making(folder, documents, kept)
    index, learned = making.index(names, options, stamp)
    if kept is not None:
        kept.close()
    if index.save(folder):
        classes = dict(zip(index.arrays.class_ids.tolist(), index.class_names, strict=True))
        with suppress(OperationalError):  # the database is read-only
            write_classes(engine, classes, index.arrays.ids.tolist(), learned)
    return index


class _Making:
    """Builds one index."""

    def __init__(
        self, folder: Path, documents: Sequence[ImageDocument], kept: ImageIndex | None
    ) -> None:
        self._folder = folder
        self._documents = documents
        self._kept = kept
        texts = list(dict.fromkeys(text.text for document in documents for text in document.texts))
        self._vectors = NgramVectors.fit(texts)
        self._by_text = dict(zip(texts, self._vectors.vectors(texts), strict=True))

    def index(
        self, names: Mapping[int, str], options: IndexOptions, stamp: str
    ) -> tuple[ImageIndex, LearnedClasses]:
        documents = self._documents
        whole, pictures = self._whole(), self._pictures()
        classes = TextClasses(options.nearness, options.classes, list(names.values()))
        classes.centres = self._centres(names)
        learned = learn_classes(
            documents, self._by_text, whole, pictures, classes, options.picture_share
        )
        self._by_text.clear()  # frees memory for the next steps
        free = max(names, default=0) + 1
        numbers = [*names, *range(free, free + len(classes.names) - len(names))]
        arrays = IndexArrays(
            ids=np.array([document.id for document in documents], np.int64),
            texts=whole,
            pictures=pictures,
            classes=learned.joined,
            idf=self._vectors.idf,
            class_ids=np.array(numbers, np.int64),
            centres=classes.centres,
            weights=learned.classifier.weights,
        )
        database = new_database()
        add_texts(database, documents)
        index = ImageIndex.made(
            database,
            arrays,
            _words(documents),
            stamp=stamp,
            languages=json.dumps(_languages(documents)),
            class_names=json.dumps(classes.names),
            sharpness=learned.classifier.sharpness,
        )
        return index, learned

    def _whole(self) -> Floats:
        """Return the mean vector of each image's texts, weighted by their squared weights."""
        rows = np.zeros((len(self._documents), DIMENSIONS), np.float32)
        for row, document in zip(rows, self._documents, strict=True):
            for text in document.texts:
                row += text.weight**2 * self._by_text[text.text]
        return unit(rows)

    def _pictures(self) -> Floats:
        """Return the features of all pictures; reuse those of the old index."""
        known: dict[int, Floats] = {}
        if self._kept is not None and self._kept.arrays.pictures.shape[1:] == (FEATURES,):
            arrays = self._kept.arrays
            known = dict(zip(arrays.ids.tolist(), arrays.pictures, strict=True))
        rows = np.zeros((len(self._documents), FEATURES), np.float32)
        for row, document in zip(rows, self._documents, strict=True):
            features = known.get(document.id)
            if features is None or not features.any():
                features = features_of_file(self._folder / THUMBNAILS / document.thumbnail)
            if features is not None:
                row[:] = features
        return rows

    def _centres(self, names: Mapping[int, str]) -> Floats:
        """Return the classes' centres from the old index, or else the vectors of their names."""
        centres = self._vectors.vectors(list(names.values()))
        if self._kept is not None:
            arrays = self._kept.arrays
            known = dict(zip(arrays.class_ids.tolist(), arrays.centres, strict=True))
            for row, number in zip(centres, names, strict=True):
                row[:] = known.get(number, row)
        return centres


def _words(documents: Sequence[ImageDocument]) -> Counter[str]:
    """Count the images with each unstemmed word."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update({word for text in document.texts for word in words_of(text.text)})
    return counts


def _languages(documents: Sequence[ImageDocument]) -> list[str]:
    counts = Counter(text.language for document in documents for text in document.texts)
    least = _SPOKEN * counts.total()
    return [name for name, count in counts.most_common(_LANGUAGES) if name and count >= least]


def class_names(connection: Connection) -> dict[int, str]:
    """Return the names of the query classes by id."""
    rows = connection.execute(select(QueryClass.id, QueryClass.name).order_by(QueryClass.id))
    return {row.id: row.name for row in rows}


def write_classes(
    engine: Engine,
    classes: Mapping[int, str],
    image_ids: Sequence[int],
    learned: LearnedClasses,
) -> None:
    """Insert new classes, and replace the classes of all images."""
    with engine.begin() as connection:
        known = class_names(connection)
        new: list[dict[str, Any]] = [
            {"id": number, "name": name, "made_at": time.time()}
            for number, name in classes.items()
            if number not in known
        ]
        insert_rows(connection, QueryClass, new)
        connection.execute(delete(ImageClass))
        insert_rows(connection, ImageClass, _members(list(classes), image_ids, learned))


def _members(
    class_ids: list[int], image_ids: Sequence[int], learned: LearnedClasses
) -> list[dict[str, Any]]:
    """Return the most probable classes of each image."""
    rows: list[dict[str, Any]] = []
    top = np.argsort(-learned.joined, axis=1)[:, :_CLASSES]
    for row, image in enumerate(image_ids):
        rows += (
            {
                "image_id": int(image),
                "class_id": class_ids[column],
                "by_text": float(learned.by_text[row, column]),
                "by_picture": float(learned.by_picture[row, column]),
            }
            for column in top[row].tolist()
            if learned.joined[row, column] >= _LEAST
        )
    return rows
