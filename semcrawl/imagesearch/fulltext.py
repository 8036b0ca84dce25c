"""Full-text search of images in SQLite's FTS5, ranked by BM25 with a weight per grade of text.

An image has a row with a column per grade (:data:`GRADES`). The first column holds the texts of
the places that describe images best, and counts most.

Words are stemmed if their text's language has a stemmer. The language of a query is unknown: each
of its words matches itself, and its stems in all languages of the crawl.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt

from semcrawl.errors import UsageError
from semcrawl.imagesearch.imagedocuments import ImageDocument
from semcrawl.topics.segmentation import stop_words, words_of

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
