"""Remembers queries, puts them into classes and suggests them again (sources.md I)."""

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
