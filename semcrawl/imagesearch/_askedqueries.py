"""Queries that were asked: remembered, put into classes, and offered again (sources.md I)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt
from sqlalchemy import Engine, insert, select, update
from sqlalchemy.exc import OperationalError

from semcrawl.images.ngramvectors import NgramVectors
from semcrawl.images.schema import Query, QueryClass, key_of
from semcrawl.images.textclasses import TextClasses
from semcrawl.topics.segmentation import words_of

Floats = npt.NDArray[np.float32]

#: queries that are looked through for similar ones, the last asked
_LOOKED_AT = 2000
#: least and most cosine with a similar query: beyond it says the same
_SIMILAR, _SAME = 0.3, 0.97


class AskedQueries:
    """The queries of one ``images.db``."""

    def __init__(
        self,
        engine: Engine,
        vectors: NgramVectors,
        classes: TextClasses,
        class_ids: Sequence[int],
    ) -> None:
        """Take the classes of the index with their numbers in the database."""
        self._engine = engine
        self._vectors = vectors
        self._classes = classes
        self._class_ids = list(class_ids)
        self._known: dict[str, Floats] = {}

    def remember(self, text: str, vector: Floats) -> None:
        """Count a query. It joins the class that is near enough, or makes a new one.

        Where the database cannot be written nothing is remembered.
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
        """Return queries and names of classes that are like a query, the most alike first."""
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
        """Return the queries that were asked most; of equal ones the last asked."""
        query = select(Query.text).order_by(Query.count.desc(), Query.last_asked_at.desc())
        with self._engine.connect() as connection:
            reading = connection.execution_options(read_only=True)
            return list(reading.scalars(query.limit(count)))
