"""Search for images by words and looks.

Scores images for a query by words, nearness of texts, class, and look.
Clicks move the query towards the images that users chose for it: its vector towards their texts,
and its classes towards theirs. All images like them gain by that.

The score is the weighted mean of four parts, each from 0 to 1:

- how well the image's texts match the words (:func:`~semcrawl.imagesearch.imageindex.matching`);
- the cosine of the query with its texts;
- the probability of the query's classes, relative to the most probable image;
- how much it looks like the best images by the other three parts (Rocchio's feedback, 1971). This
  counts only as far as those look like each other. It shows wrong captions, and ranks images
  without a caption.

The list ends where scores are a small share of the best one. Pictures that look the same as one of
the best are found with it, whatever their texts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import OSA
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    Integer,
    MetaData,
    Table,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import OperationalError

from semcrawl.errors import UsageError, existing_folder
from semcrawl.images.classes import NgramVectors, TextClasses
from semcrawl.images.imagefeatures import spread
from semcrawl.images.neartexts import place_key
from semcrawl.images.outcomes import ImageOutcome, TextKind
from semcrawl.images.schema import (
    THUMBNAILS,
    Domain,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    Query,
    QueryClass,
    key_of,
    open_images,
)
from semcrawl.imagesearch.imageindex import (
    ImageIndex,
    IndexOptions,
    QueryWord,
    current_index,
    matching,
    query_words,
)
from semcrawl.settings.reader import setting
from semcrawl.topics.texts import words_of

Floats = npt.NDArray[np.float32]

#: best images whose mean look is the look of the query
_MODELS = 30
#: an image without the words is found if the probability of the query's classes, relative to the
#: most probable image, is at least this
_SAME_CLASS = 0.5
#: images below this share of the best score are not found
_FALLS_OFF = 0.25
#: most squared distance of pictures that look the same: above that of a picture from itself in half
#: its size or as a poor JPEG (0.04 in nine of ten), below those of unlike screenshots of dialogs
_SAME_LOOK = 0.1
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
        pictures = index.arrays.pictures
        seen: npt.NDArray[np.bool_] = np.asarray(pictures.any(axis=1))
        self._seen = seen
        self._squares = (pictures**2).sum(axis=1)
        #: differences from the mean picture; zeros without a picture
        self._looks = spread(pictures)
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
        scores /= whole
        scores[scores < _FALLS_OFF * scores.max(initial=0.0)] = 0
        return self._with_same_looks(scores.astype(np.float32))

    def _with_same_looks(self, scores: Floats) -> Floats:
        """Return the scores, where pictures like one of the best have nearly its score."""
        best = np.argsort(-scores, kind="stable")[:_MODELS]
        best = best[(scores[best] > 0) & self._seen[best]]
        pictures = self._index.arrays.pictures
        apart = self._squares[:, None] + self._squares[best] - 2 * (pictures @ pictures[best].T)
        same = (apart <= _SAME_LOOK) & self._seen[:, None]
        nearly = np.where(same, np.exp(-np.maximum(apart, 0) / 2), 0) * scores[best]
        with_them: Floats = np.maximum(scores, nearly.max(axis=1, initial=0.0))
        return with_them.astype(np.float32)

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


#: most places shown per image, and texts per place
_MOST_PLACES, _MOST_TEXTS = 100, 12
#: images read in one query: their places must stay below SQLite's limit of about 32,000 values
_AT_ONCE = 100
#: kinds of text, the best first, for images without a text in the domain's best place
_BEST = [
    TextKind.CAPTION, TextKind.DATA, TextKind.ALT, TextKind.TITLE, TextKind.LINK,
    TextKind.HEADING, TextKind.FILE_NAME, TextKind.AFTER, TextKind.BEFORE, TextKind.PAGE_TITLE,
]  # fmt: skip


@dataclass
class ShownPlace:
    """A page that shows the image."""

    page: str
    title: str
    #: the image's address in the page
    image_url: str
    #: pairs of kind and text
    texts: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class ShownImage:
    """An image with its places."""

    id: int
    width: int
    height: int
    bytes: int
    media_type: str
    sha256: str
    #: file name in the folder of thumbnails
    thumbnail: str
    #: address it was fetched from
    url: str = ""
    #: the text of its domain's best place, or else the best other text
    text: str = ""
    #: number of distinct pages that show it
    pages: int = 0
    places: list[ShownPlace] = field(default_factory=list)

    @property
    def page(self) -> str:
        """The first page that shows it; empty if none is known."""
        return self.places[0].page if self.places else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the image for JSON."""
        return asdict(self)


def shown_images(engine: Engine, numbers: Sequence[int]) -> list[ShownImage]:
    """Return images by id, in the given order, without those that are missing."""
    images: dict[int, ShownImage] = {}
    with engine.connect() as connection:
        connection = connection.execution_options(read_only=True)
        for start in range(0, len(numbers), _AT_ONCE):
            images |= _read(connection, numbers[start : start + _AT_ONCE])
    return [images[number] for number in numbers if number in images]


def _read(connection: Connection, numbers: Sequence[int]) -> dict[int, ShownImage]:
    images: dict[int, ShownImage] = {}
    places: dict[int, tuple[ShownImage, ShownPlace, str]] = {}
    told: dict[int, int] = {}
    for row in connection.execute(select(Image).where(Image.id.in_(numbers))):
        images[row.id] = ShownImage(
            row.id, row.width, row.height, row.bytes, row.media_type, row.sha256,
            row.colour_thumbnail, pages=row.pages,
        )  # fmt: skip
    found = (
        select(ImagePlace, Page.url, Page.title, Domain.best_place)
        .join(Page, Page.id == ImagePlace.page_id)
        .outerjoin(Domain, Domain.id == Page.domain_id)
        .where(ImagePlace.image_id.in_(numbers))
        .order_by(ImagePlace.image_id, ImagePlace.has_caption.desc(), ImagePlace.id)
    )
    for place in connection.execute(found):
        image = images.get(place.image_id)
        if image is None or len(image.places) >= _MOST_PLACES:
            continue
        shown = ShownPlace(place.url, place.title, place.image_url)
        image.places.append(shown)
        places[place.id] = (image, shown, place.best_place or "")
    texts = select(NearText).where(NearText.place_id.in_(places)).order_by(NearText.id)
    for near in connection.execute(texts):
        image, shown, best = places[near.place_id]
        rank = _rank(near.kind, place_key(near.kind, near.tag, near.level) == best)
        if rank < told.get(image.id, len(_BEST) + 1):
            told[image.id], image.text = rank, near.text
        if len(shown.texts) < _MOST_TEXTS:
            shown.texts.append((near.kind, near.text))
    address = (
        select(ImageAddress.image_id, ImageAddress.url)
        .where(ImageAddress.image_id.in_(numbers))
        .order_by(ImageAddress.outcome != ImageOutcome.KEPT.value, ImageAddress.id)
    )
    for number, url in connection.execute(address):
        if number is not None:
            images[number].url = images[number].url or url
    for one in images.values():
        one.url = one.url or (one.places[0].image_url if one.places else "")
    return images


def thumbnail_of(engine: Engine, number: int) -> str:
    """Return the file name of an image's thumbnail; empty for an unknown image."""
    query = select(Image.colour_thumbnail).where(Image.id == number)
    with engine.connect() as connection:
        return connection.execution_options(read_only=True).scalar(query) or ""


def thumbnail_path(folder: Path, name: str) -> Path | None:
    """Return a thumbnail's path; ``None`` if the folder of thumbnails has no such file."""
    place = (folder / THUMBNAILS).resolve()
    path = (place / name).resolve()
    return path if path.is_relative_to(place) and path.is_file() else None


def _rank(kind: str, is_best: bool) -> int:
    if is_best:
        return -1
    return next((n for n, one in enumerate(_BEST) if one.value == kind), len(_BEST))


#: least lengths of words that may differ by one, two, three letters
_LENGTHS = (2, 6, 11)
#: A word of the crawl is misspelled (or may be) if a word that differs by one letter is this many
#: times commoner. Words of at most so many letters, which resemble many others, need twice that.
_RARER, _PERHAPS, _SHORT = 20, 5, 3


class Spelling:
    """Corrects words by the words of a crawl and the number of images with each."""

    def __init__(self, words: Mapping[str, int]) -> None:
        """Take folded, unstemmed words with their numbers of images."""
        self._words = words
        self._list = list(words)

    def __contains__(self, word: str) -> bool:
        """Whether the crawl has a word."""
        return word in self._words

    def corrected(self, word: str) -> str:
        """Return the word, or two words, probably meant; ``""`` for none.

        The nearest word wins, by letters omitted, added, changed or swapped (optimal string
        alignment). Among equals, the same first letter wins, then the commonest word.
        """
        if any(letter.isdigit() for letter in word):
            return ""
        allowed = sum(len(word) >= length for length in _LENGTHS)
        if not allowed:
            return ""
        found = process.extract(
            word, self._list, scorer=OSA.distance, score_cutoff=allowed, limit=20
        )
        best = min(
            ((n, near[:1] != word[:1], -self._words[near], near) for near, n, _ in found if n),
            default=(sys.maxsize, False, 0, ""),
        )
        parted = self._parted(word)
        return parted if parted and best[0] > 1 else best[3]

    def doubted(self, word: str) -> tuple[str, bool]:
        """Return a much commoner word one letter away from this word of the crawl, or ``""``.

        The second value tells whether this word is surely misspelled: pages misspell as users do.
        """
        count = self._words.get(word, 0)
        near = self.corrected(word) if count else ""
        times = self._words.get(near, 0) / max(count, 1) / (1 + (len(word) <= _SHORT))
        if times < _PERHAPS or OSA.distance(word, near) > 1:
            return "", False
        return near, times >= _RARER

    def _parted(self, word: str) -> str:
        """Split a word into two words of the crawl, ``""`` if there are none."""
        parts = ((word[:n], word[n:]) for n in range(3, len(word) - 2))
        known = [pair for pair in parts if all(part in self._words for part in pair)]
        best = max(known, key=lambda pair: min(map(self._words.__getitem__, pair)), default=())
        return " ".join(best)


#: most recent queries that are compared with a new one
_LOOKED_AT = 2000
#: least and most cosine of a similar query; above the most it says the same
_SIMILAR, _SAME = 0.3, 0.97


class AskedQueries:
    """The past queries in one ``images.db``."""

    def __init__(
        self,
        engine: Engine,
        vectors: NgramVectors,
        classes: TextClasses,
        class_ids: Sequence[int],
    ) -> None:
        """Take the query classes of the index, and their ids in the database."""
        self._engine = engine
        self._vectors = vectors
        self._classes = classes
        self._class_ids = list(class_ids)
        self._known: dict[str, Floats] = {}

    def remember(self, text: str, vector: Floats) -> None:
        """Count a query. A new one joins the nearest class, or founds one if none is near enough.

        Nothing is remembered if the database cannot be written.
        """
        if not vector.any():
            return
        with suppress(OperationalError), self._engine.begin() as connection:
            number = key_of(text)
            asked = update(Query).where(Query.id == number)
            values = {"count": Query.count + 1, "last_asked_at": time.time()}
            if connection.execute(asked.values(values)).rowcount:
                return
            place, is_new = self._classes.joined(text, vector)
            if is_new:
                made = insert(QueryClass).values(name=text, made_at=time.time())
                self._class_ids.append(
                    connection.execute(made.returning(QueryClass.id)).scalar_one()
                )
            connection.execute(
                insert(Query).values(
                    id=number, text=text, class_id=self._class_ids[place], count=1,
                    last_asked_at=time.time(),
                )
            )  # fmt: skip

    def similar(self, text: str, vector: Floats, count: int) -> list[str]:
        """Return past queries and class names that are similar, the most similar first."""
        query = select(Query.text).order_by(Query.last_asked_at.desc()).limit(_LOOKED_AT)
        with self._engine.connect() as connection:
            texts = list(connection.execution_options(read_only=True).scalars(query))
        missing = [text for text in texts if text not in self._known]
        self._known.update(zip(missing, self._vectors.vectors(missing), strict=True))
        names = texts + self._classes.names
        if not names or not vector.any():
            return []
        asked = np.stack([self._known[text] for text in texts]) if texts else self._classes.centres
        rows = np.concatenate([asked, self._classes.centres]) if texts else asked
        cosines = rows @ vector
        best = {frozenset(words_of(text)): ""}
        for place in np.argsort(-cosines, kind="stable").tolist():
            if cosines[place] < _SIMILAR or len(best) > count:
                break
            if cosines[place] < _SAME:
                best.setdefault(frozenset(words_of(names[place])), names[place])
        return [name for name in best.values() if name]

    def popular(self, count: int) -> list[str]:
        """Return the most frequent queries; of equally frequent ones, the most recent first."""
        query = select(Query.text).order_by(Query.count.desc(), Query.last_asked_at.desc())
        with self._engine.connect() as connection:
            reading = connection.execution_options(read_only=True)
            return list(reading.scalars(query.limit(count)))


#: made with the first click, so that folders of older versions open unchanged
CLICKS = Table(
    "click",
    MetaData(),
    # :func:`key_of` the query
    Column("query_id", BigInteger, primary_key=True, autoincrement=False),
    Column("image_id", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
    Column("last_clicked_at", Double, nullable=False),
)


class Clicks:
    """The clicks in one ``images.db``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, query: str, image: int) -> None:
        """Count a click on an image found by a query, if the database can be written."""
        key = {"query_id": key_of(query.casefold()), "image_id": image}
        with suppress(OperationalError), self._engine.begin() as connection:
            CLICKS.create(connection, checkfirst=True)
            again = update(CLICKS).filter_by(**key)
            now = time.time()
            values = {"count": CLICKS.c.count + 1, "last_clicked_at": now}
            if not connection.execute(again.values(values)).rowcount:
                connection.execute(insert(CLICKS).values(**key, count=1, last_clicked_at=now))

    def of(self, query: str) -> dict[int, int]:
        """Return the clicked images of a query, with the number of clicks on each."""
        with self._engine.execution_options(read_only=True).connect() as connection:
            if not inspect(connection).has_table(CLICKS.name):
                return {}
            found = select(CLICKS.c.image_id, CLICKS.c.count)
            rows = connection.execute(found.filter_by(query_id=key_of(query.casefold())))
            return {int(image): int(count) for image, count in rows}


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
