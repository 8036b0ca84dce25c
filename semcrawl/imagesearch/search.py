"""Searches images by words, and images similar to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sqlalchemy import Engine

from semcrawl.errors import UsageError, existing_folder
from semcrawl.images.schema import open_images
from semcrawl.images.textclasses import TextClasses
from semcrawl.imagesearch._askedqueries import AskedQueries
from semcrawl.imagesearch._clicks import Clicks
from semcrawl.imagesearch._imageindexing import IndexOptions, current_index
from semcrawl.imagesearch._scoring import Scoring, Weights
from semcrawl.imagesearch.fulltext import QueryWord, query_words
from semcrawl.imagesearch.misspellings import Spelling
from semcrawl.imagesearch.shownimages import ShownImage
from semcrawl.settings.reader import setting

Floats = npt.NDArray[np.float32]

#: most characters of a query
MAX_QUERY = 300


@dataclass(frozen=True)
class SearchOptions:
    """How images are searched, as in the settings ``SEMCRAWL_IMAGE_…``."""

    index: IndexOptions = field(default_factory=IndexOptions)
    weights: Weights = field(default_factory=Weights)
    #: whether queries and clicks are remembered
    remember: bool = setting("SEMCRAWL_IMAGE_QUERIES_KEPT")


@dataclass(frozen=True, slots=True)
class Hit:
    """An image found, by its id."""

    image: int
    #: 0 to 1
    score: float


@dataclass
class Answer:
    """The results of a query."""

    asked: str
    #: the words searched for, with misspellings corrected
    searched: str
    #: what may have been meant, although words of the query are in the crawl
    did_you_mean: str = ""
    #: the best ones first
    hits: list[Hit] = field(default_factory=list)
    #: number of images found in all
    total: int = 0
    similar: list[str] = field(default_factory=list)
    popular: list[str] = field(default_factory=list)

    @property
    def is_corrected(self) -> bool:
        """Whether the query was corrected."""
        return self.searched != self.asked


class ImageSearch:
    """Searches the images of a job folder. Threads may share it; close it after use."""

    #: similar queries, and popular ones, per answer
    OFFERED = 6

    def __init__(
        self,
        folder: Path,
        options: SearchOptions | None = None,
        starting: Callable[[int], None] = lambda images: None,
    ) -> None:
        """Open the folder.

        If images must be indexed first, ``starting`` is called with their number. Raises
        ``UsageError`` for a folder without images, and ``StoreError``.
        """
        self.folder = existing_folder(folder)
        self.options = options or SearchOptions()
        self.engine: Engine = open_images(folder)
        self._index = current_index(folder, self.engine, self.options.index, starting)
        if not len(self._index.arrays.ids):
            self.close()
            raise UsageError(f"{folder} keeps no images yet")
        arrays = self._index.arrays
        self._rows = {number: row for row, number in enumerate(arrays.ids.tolist())}
        self._scoring = Scoring(self._index, self.options.weights)
        self._spelling = Spelling(self._index.words)
        classes = TextClasses(
            self.options.index.nearness, self.options.index.classes,
            list(self._index.class_names), arrays.centres,
        )  # fmt: skip
        self.queries = AskedQueries(
            self.engine, self._index.vectors, classes, arrays.class_ids.tolist()
        )
        self._clicks = Clicks(self.engine)
        self._lock = Lock()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the search."""
        self.close()

    def close(self) -> None:
        """Close the index and the database."""
        self._index.close()
        self.engine.dispose()

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self._rows)

    def search(
        self,
        text: str,
        limit: int = 20,
        offset: int = 0,
        *,
        exact: bool = False,
        remember: bool = True,
    ) -> Answer:
        """Return the images for a query, ``limit`` of them after the first ``offset``.

        ``exact`` corrects no misspellings. Without ``remember`` the query is not recorded. Raises
        ``UsageError`` for a query without a word, or of more than :data:`MAX_QUERY` characters.
        """
        asked = " ".join(text.split())
        if len(asked) > MAX_QUERY:
            raise UsageError(f"a query has at most {MAX_QUERY} characters, this one {len(asked):,}")
        with self._lock:
            words = query_words(asked, self._index.languages)
            if not words:
                raise UsageError("give a word to search for")
            answer = Answer(asked, asked)
            if not exact:
                words = self._corrected(answer, words)
            vector = self._index.vectors.vector(answer.searched)
            scores = self._scoring.scores(words, vector, self._clicks.of(answer.searched))
            order = np.flatnonzero(scores > 0)
            order = order[np.argsort(-scores[order], kind="stable")]
            answer.total = len(order)
            ids = self._index.arrays.ids
            answer.hits = [
                Hit(int(ids[row]), round(float(scores[row]), 4))
                for row in order[offset : offset + limit]
            ]
            answer.similar = self.queries.similar(answer.searched, vector, self.OFFERED)
            answer.popular = self.queries.popular(self.OFFERED)
            if remember and self.options.remember and answer.total and not offset:
                self.queries.remember(answer.searched, vector)
        return answer

    def clicked(self, query: str, image: int) -> None:
        """Note that a user chose an image that a query found: later answers prefer its like."""
        if self.options.remember and self.has(image) and 0 < len(query) <= MAX_QUERY:
            self._clicks.note(query, image)

    def like(self, image: int, limit: int = 12) -> list[Hit]:
        """Return the images most similar to one: two thirds by look, one third by texts.

        The list is empty for an unknown image.
        """
        row = self._rows.get(image)
        if row is None:
            return []
        arrays = self._index.arrays
        apart = ((arrays.pictures - arrays.pictures[row]) ** 2).sum(axis=1)
        look = np.exp(-apart / 2) * arrays.pictures.any(axis=1)
        alike = (2 * look + arrays.texts @ arrays.texts[row]) / 3
        alike[row] = -1
        best = np.argsort(-alike, kind="stable")[:limit]
        return [
            Hit(int(arrays.ids[one]), round(float(alike[one]), 4))
            for one in best.tolist()
            if alike[one] > 0
        ]

    def has(self, image: int) -> bool:
        """Whether the image is in the index."""
        return image in self._rows

    def newest(self, count: int) -> list[int]:
        """Return the ids of the images found last."""
        return [int(number) for number in self._index.arrays.ids[::-1][:count]]

    def largest_classes(self, count: int) -> list[str]:
        """Return the names of the classes with the most images."""
        sizes = self._index.arrays.classes.sum(axis=0)
        return [self._index.class_names[n] for n in np.argsort(-sizes, kind="stable")[:count]]

    def _corrected(self, answer: Answer, words: list[QueryWord]) -> list[QueryWord]:
        """Replace words that no image has; suggest commoner words for rare ones."""
        known = self._spelling
        searched, meant = answer.asked.casefold(), answer.asked.casefold()
        for word in words:
            near, is_sure = "", True
            if word.word in known:
                near, is_sure = known.doubted(word.word)
            elif not any(token in known for token in word.tokens):
                near = known.corrected(word.word)
            if near:
                meant = meant.replace(word.word, near)
                searched = searched.replace(word.word, near) if is_sure else searched
        if searched != answer.asked.casefold():
            answer.searched = searched
        if meant != searched:
            answer.did_you_mean = meant
        return query_words(answer.searched, self._index.languages)


def found_as_dict(answer: Answer, shown: Sequence[ShownImage]) -> dict[str, Any]:
    """Return an answer with its images, for JSON."""
    scores = {hit.image: hit.score for hit in answer.hits}
    return {
        "asked": answer.asked,
        "searched": answer.searched,
        "did_you_mean": answer.did_you_mean,
        "total": answer.total,
        "images": [{"score": scores[image.id], **image.as_dict()} for image in shown],
        "similar": answer.similar,
        "popular": answer.popular,
    }
