"""The index of images by words.

Full-text search of images in SQLite's FTS5, ranked by BM25 with a weight per grade of text.
An image has a row with a column per grade (:data:`GRADES`). The first column holds the texts of
the places that describe images best, and counts most.

Words are stemmed if their text's language has a stemmer. The language of a query is unknown: each
of its words matches itself, and its stems in all languages of the crawl.

The index of a job's images, ``images-index.db``, built from ``images.db`` and the thumbnails.
It holds the full text, the number of images with each word, and arrays. You may delete it at any
time: the next search builds it again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from math import log, sqrt
from operator import attrgetter
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Engine, delete, func, select
from sqlalchemy.exc import OperationalError

from semcrawl.errors import UsageError
from semcrawl.images.classes import DIMENSIONS, LinearClassifier, NgramVectors, TextClasses, unit
from semcrawl.images.imagefeatures import FEATURES, features_of_file, spread
from semcrawl.images.neartexts import place_key
from semcrawl.images.outcomes import TextKind
from semcrawl.images.schema import (
    THUMBNAILS,
    Image,
    ImageClass,
    ImagePlace,
    NearText,
    Page,
    PlaceScore,
    QueryClass,
)
from semcrawl.metadata.records import insert_rows
from semcrawl.topics.texts import stop_words, words_of
from semcrawl.wholefiles import whole_file

#: texts of an image that are kept, the weightiest
_MOST_TEXTS = 40
#: weight of a kind of text before its domain's score is learned
_BY_KIND = {
    TextKind.CAPTION: 0.9, TextKind.DATA: 0.9, TextKind.ALT: 0.8, TextKind.TITLE: 0.7,
    TextKind.LINK: 0.55, TextKind.FILE_NAME: 0.5, TextKind.HEADING: 0.4, TextKind.AFTER: 0.4,
    TextKind.BEFORE: 0.35, TextKind.PAGE_TITLE: 0.25,
}  # fmt: skip
#: share of the domain's learned score in the weight, if there is one
_LEARNED = 0.5
#: least characters of a page's texts that show its language; most that are examined
_FEW, _MANY = 40, 1000


@dataclass(frozen=True, slots=True)
class WeightedText:
    """A text near an image."""

    text: str
    #: how likely it tells what the image shows, 0 to 1
    weight: float
    #: ISO 639-1 code; empty if unknown
    language: str = ""


@dataclass(frozen=True, slots=True)
class ImageDocument:
    """An image with its texts."""

    id: int
    #: file name in the folder of thumbnails
    thumbnail: str
    #: distinct texts, the weightiest first
    texts: list[WeightedText] = field(default_factory=list)


def stamp_of(connection: Connection) -> str:
    """Return a stamp that changes with the images, places, texts and scores."""
    counts = [
        select(func.count(), func.max(Image.id)).where(Image.dropped.is_(False)),
        select(func.count(), func.max(ImagePlace.image_id)).where(ImagePlace.image_id.is_not(None)),
        select(func.count(), func.max(NearText.id)),
        select(func.count(), func.sum(PlaceScore.score)),
    ]
    return " ".join(str(value) for one in counts for value in connection.execute(one).one())


def image_documents(connection: Connection) -> list[ImageDocument]:
    """Return all kept images, ordered by id."""
    scores = _place_scores(connection)
    languages = _languages_of_images(connection)
    texts: dict[int, list[WeightedText]] = {}
    for number, rows in groupby(_rows(connection, _TEXTS), key=attrgetter("image_id")):
        best: dict[str, WeightedText] = {}
        for row in rows:
            weight = _weight(row, scores)
            key = " ".join(row.text.casefold().split())
            if key and (key not in best or best[key].weight < weight):
                best[key] = WeightedText(row.text, weight, languages.get(row.page_id, ""))
        ordered = sorted(best.values(), key=lambda text: -text.weight)
        texts[number] = ordered[:_MOST_TEXTS]
    return [
        ImageDocument(row.id, row.colour_thumbnail, texts.get(row.id, []))
        for row in _rows(connection, _IMAGES)
    ]


_SCORES = select(PlaceScore.domain_id, PlaceScore.place, PlaceScore.score, PlaceScore.images)
_IMAGES = (
    select(Image.id, Image.colour_thumbnail).where(Image.dropped.is_(False)).order_by(Image.id)
)
_TEXTS = (
    select(
        ImagePlace.image_id, ImagePlace.page_id, Page.domain_id,
        NearText.text, NearText.kind, NearText.tag, NearText.level,
    )
    .join(ImagePlace, ImagePlace.id == NearText.place_id)
    .join(Page, Page.id == ImagePlace.page_id)
    .where(ImagePlace.image_id.is_not(None))
    .order_by(ImagePlace.image_id, NearText.id)
)  # fmt: skip
_PAGES = (
    select(ImagePlace.page_id, Page.domain_id, Page.title, NearText.text)
    .join(ImagePlace, ImagePlace.id == NearText.place_id)
    .join(Page, Page.id == ImagePlace.page_id)
    .where(NearText.kind != TextKind.FILE_NAME.value)
    .order_by(ImagePlace.page_id, NearText.id)
)


def _rows(connection: Connection, query: Any) -> Iterator[Any]:
    return iter(connection.execution_options(yield_per=2000).execute(query))


def _place_scores(connection: Connection) -> dict[tuple[int, str], float]:
    """Return how good a text in each kind of place is, relative to the domain's best.

    The stored score also counts how many images have a text there; this is divided out.
    """
    rows = list(_rows(connection, _SCORES))
    good = {(row.domain_id, row.place): row.score / max(row.images, 1) for row in rows}
    best: dict[int, float] = defaultdict(float)
    for (domain, _), worth in good.items():
        best[domain] = max(best[domain], worth)
    return {key: worth / best[key[0]] for key, worth in good.items() if best[key[0]] > 0}


def _weight(row: Any, scores: dict[tuple[int, str], float]) -> float:
    prior = _BY_KIND.get(row.kind, 0.3)
    learned = scores.get((row.domain_id, place_key(row.kind, row.tag, row.level)))
    return prior if learned is None else _LEARNED * learned + (1 - _LEARNED) * prior


def _languages_of_images(connection: Connection) -> dict[int, str]:
    """Detect the language of each page from the texts near its images.

    A page with little text gets the commonest language of its domain.
    """
    from py3langid.langid import classify  # its model takes half a second to load

    found: dict[int, str] = {}
    short: list[tuple[int, int]] = []
    of_domain: dict[int, Counter[str]] = defaultdict(Counter)
    for page, rows in groupby(_rows(connection, _PAGES), key=attrgetter("page_id")):
        pieces, domain = {}, 0
        for row in rows:
            domain = row.domain_id
            pieces.update(dict.fromkeys((row.title, row.text)))
        text = " ".join(pieces)[:_MANY]
        if len(text) < _FEW:
            short.append((page, domain))
        else:
            found[page] = classify(text)[0]
            of_domain[domain][found[page]] += 1
    for page, domain in short:
        if common := of_domain[domain].most_common(1):
            found[page] = common[0][0]
    return found


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


#: words of a query that are used
MAX_QUERY_WORDS = 32

#: columns: least weight of a text, and weight of its words in BM25
GRADES = ((0.7, 10.0), (0.5, 6.0), (0.3, 3.0), (0.0, 1.0))
#: images that match one word at most
_MOST = 2000
_COLUMNS = [f"grade{number}" for number in range(len(GRADES))]
_COUNTS = ", ".join(str(count) for _, count in GRADES)


def make_full_text(database: sqlite3.Connection) -> None:
    """Create the table; raise ``UsageError`` if this Python's SQLite has no FTS5."""
    # words arrive split and folded; marks are parts of words in Indic scripts
    tokenizer = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'".replace("'", "''")
    try:
        database.execute(
            f"CREATE VIRTUAL TABLE full_text USING fts5({', '.join(_COLUMNS)}, content='',"
            f" tokenize='{tokenizer}')"
        )
    except sqlite3.OperationalError as error:
        raise UsageError(f"the SQLite of this Python cannot search texts: {error}") from None


def add_texts(database: sqlite3.Connection, documents: Iterable[ImageDocument]) -> None:
    """Insert the texts of images."""
    marks = ", ".join("?" * (1 + len(GRADES)))
    database.executemany(
        f"INSERT INTO full_text (rowid, {', '.join(_COLUMNS)}) VALUES ({marks})",  # noqa: S608
        ((document.id, *_columns(document)) for document in documents),
    )


def matching(
    database: sqlite3.Connection, words: Sequence[QueryWord], images: int
) -> dict[int, float]:
    """Return the images with any of the words, and how well each matches, from 0 to 1.

    A word counts by its rarity among the ``images``, times the square root of its BM25 relative to
    the best image: having all words counts more than having one often. The whole query as a phrase
    counts as one more word.
    """
    asked = [" OR ".join(_quoted(token) for token in word.tokens) for word in words]
    if len(words) > 1:
        asked.append(_quoted(" ".join(word.tokens[-1] for word in words)))
    found: dict[int, float] = defaultdict(float)
    whole = 0.0
    for expression in asked:
        rows = database.execute(
            f"SELECT rowid, -bm25(full_text, {_COUNTS}) AS match FROM full_text"  # noqa: S608
            " WHERE full_text MATCH ? ORDER BY match DESC, rowid LIMIT ?",
            (expression, _MOST),
        ).fetchall()
        if not rows:
            continue
        rarity = 1 + log(images / len(rows))
        whole += rarity
        for number, match in rows:
            found[number] += rarity * sqrt(match / rows[0][1])
    return {number: match / whole for number, match in found.items()}


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _columns(document: ImageDocument) -> list[str]:
    columns: list[list[str]] = [[] for _ in GRADES]
    for text in document.texts:
        grade = next(n for n, (least, _) in enumerate(GRADES) if text.weight >= least)
        # a separator ends each text, so that no phrase matches across two texts
        columns[grade] += [*words_of(text.text, text.language), "0x0"]
    return [" ".join(column) for column in columns]


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query."""

    #: as typed, folded
    word: str
    #: the forms that the index may hold
    tokens: tuple[str, ...]


def query_words(text: str, languages: Sequence[str]) -> list[QueryWord]:
    """Return the distinct words of a query; stop words only if it has no others."""
    plain = list(dict.fromkeys(words_of(text)))[:MAX_QUERY_WORDS]
    telling = [word for word in plain if not _is_stop_word(word, languages)]
    stems = {word: [w for each in languages for w in words_of(word, each)] for word in plain}
    return [QueryWord(w, tuple(dict.fromkeys([w, *stems[w]]))) for w in telling or plain]


def _is_stop_word(word: str, languages: Sequence[str]) -> bool:
    return any(set(words_of(word, language)) <= stop_words(language) for language in languages)


#: file name in the job folder
INDEX_FILE = "images-index.db"
#: version of the index; an index of another version is built again
_FORMAT = "1"


@dataclass
class IndexArrays:
    """The arrays of the index. Rows are images, in the order of ``ids``."""

    ids: npt.NDArray[np.int64]
    #: weighted mean of the vectors of an image's texts
    texts: Floats
    #: features of its picture; zeros without one
    pictures: Floats
    #: probabilities of the query classes, by texts and picture
    classes: Floats
    #: inverse document frequency of n-grams
    idf: Floats
    #: ids of the query classes, and their centres
    class_ids: npt.NDArray[np.int64]
    centres: Floats
    #: weights of the text classifier
    weights: Floats


class ImageIndex:
    """An open index."""

    def __init__(self, database: sqlite3.Connection, arrays: IndexArrays) -> None:
        """Wrap a filled database; call :meth:`made` or :meth:`opened` instead."""
        self.database = database
        self.arrays = arrays
        known = {str(key): str(value) for key, value in database.execute("SELECT * FROM fact")}
        self.languages: list[str] = json.loads(known["languages"])
        self.class_names: list[str] = json.loads(known["class names"])
        self.vectors = NgramVectors(arrays.idf)
        self.text_classifier = LinearClassifier(arrays.weights, float(known["sharpness"]))
        self.words: dict[str, int] = dict(database.execute("SELECT word, images FROM word"))
        self.stamp = known["stamp"]

    @classmethod
    def opened(cls, folder: Path) -> Self | None:
        """Open a folder's index; return ``None`` if it is missing, broken or of another version."""
        path = folder.absolute() / INDEX_FILE
        if not path.is_file():
            return None
        database = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        with suppress(sqlite3.DatabaseError, KeyError, ValueError, TypeError):
            (form,) = database.execute("SELECT value FROM fact WHERE name = 'format'").fetchone()
            if form == _FORMAT:
                return cls(database, _arrays(database))
        database.close()
        return None

    @classmethod
    def made(
        cls,
        database: sqlite3.Connection,
        arrays: IndexArrays,
        words: Mapping[str, int],
        **facts: Any,
    ) -> Self:
        """Fill a database of :func:`new_database`."""
        database.executemany("INSERT INTO word VALUES (?, ?)", words.items())
        database.executemany(
            "INSERT INTO fact VALUES (?, ?)",
            [(name.replace("_", " "), str(value)) for name, value in facts.items()]
            + [("format", _FORMAT)],
        )
        for name, array in vars(arrays).items():
            # half precision suffices for cosines and probabilities
            small = array.astype(np.float16) if array.ndim > 1 else array
            database.execute(
                "INSERT INTO array VALUES (?, ?, ?, ?)",
                (name, small.dtype.str, json.dumps(small.shape), small.tobytes()),
            )
        database.commit()
        return cls(database, arrays)

    def save(self, folder: Path) -> bool:
        """Write the index into the folder; return whether that succeeds."""
        with suppress(OSError), whole_file(folder / INDEX_FILE) as file:
            file.write(self.database.serialize())
            return True
        return False

    def close(self) -> None:
        """Close the database."""
        self.database.close()


def new_database() -> sqlite3.Connection:
    """Create an empty index in memory."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT)")
    database.execute("CREATE TABLE word (word TEXT PRIMARY KEY, images INTEGER) WITHOUT ROWID")
    database.execute("CREATE TABLE array (name TEXT PRIMARY KEY, dtype, shape, data BLOB)")
    make_full_text(database)
    return database


def _arrays(database: sqlite3.Connection) -> IndexArrays:
    found: dict[str, npt.NDArray[Any]] = {}
    for name, dtype, shape, data in database.execute("SELECT * FROM array"):
        array = np.frombuffer(data, np.dtype(dtype)).reshape(json.loads(shape))
        found[name] = array.astype(np.float32) if array.dtype == np.float16 else array
    return IndexArrays(**found)


#: classes written per image at most, and their least probability
_CLASSES, _LEAST = 5, 0.05

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
            languages=json.dumps(_languages_of_documents(documents)),
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


def _languages_of_documents(documents: Sequence[ImageDocument]) -> list[str]:
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
