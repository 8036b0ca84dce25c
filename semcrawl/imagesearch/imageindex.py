"""The index of a job's images, ``images-index.db``, built from ``images.db`` and the thumbnails.

It holds the full text, the number of images with each word, and arrays. You may delete it at any
time: the next search builds it again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from semcrawl.images.linearclassifier import LinearClassifier
from semcrawl.images.ngramvectors import NgramVectors
from semcrawl.imagesearch.fulltext import make_full_text
from semcrawl.machine.wholefiles import whole_file

Floats = npt.NDArray[np.float32]

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
