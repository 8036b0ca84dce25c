"""Clicks on the images of an answer: what users chose for a query (sources.md I)."""

from __future__ import annotations

import time
from contextlib import suppress

from sqlalchemy import (
    BigInteger,
    Column,
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

from semcrawl.images.schema import key_of

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
