"""The ledger of graphs: which document made which graph of a triple store."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Connection, Engine, Table, bindparam, delete, insert, select, update

from semcrawl.metadata.models import MadeGraph, url_key
from semcrawl.metadata.rows import in_parts

_MADE_GRAPH = cast("Table", MadeGraph.__table__)
_SETTLED = (
    update(_MADE_GRAPH)
    .where(_MADE_GRAPH.c.target == bindparam("store"), _MADE_GRAPH.c.name_key == bindparam("key"))
    .values(claimed_for=None, witness=None)
)


@dataclass(frozen=True, slots=True)
class Made:
    """A graph that a document has made or is about to make."""

    document_key: str
    #: the graph's name as the document states it
    stated: str
    #: its name in the store
    name: str
    #: the version of the document that is being written; ``None`` once the store has the graph
    claimed_for: str | None = None
    #: statements, one per line; the document's graph has one of them. ``None`` if not known
    witness: str | None = None


class Owners:
    """The graphs of one store, and the documents that made them. Raises SQLAlchemy's errors.

    A graph is *claimed* before it is written, if the store has no graph of that name, and *settled*
    once the store has it. Graphs in the store that this ledger does not list are somebody else's.
    """

    def __init__(self, engine: Engine, target: str) -> None:
        """Use the ledger of a job folder, or one that workers share, for the store ``target``."""
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)
        self._target = target

    def of_documents(self, keys: Collection[str]) -> list[Made]:
        """Return the graphs of documents, by their ``url_key``."""
        found: list[Made] = []
        with self._reading.begin() as connection:
            for part in in_parts(list(keys)):
                query = select(
                    MadeGraph.document_key,
                    MadeGraph.stated,
                    MadeGraph.name,
                    MadeGraph.claimed_for,
                    MadeGraph.witness,
                ).where(MadeGraph.target == self._target, MadeGraph.document_key.in_(part))
                found += [Made(*row) for row in connection.execute(query)]
        return found

    def taken(self, names: Collection[str]) -> set[str]:
        """Return which of the names documents have."""
        found: set[str] = set()
        with self._reading.begin() as connection:
            for part in in_parts([url_key(name) for name in names]):
                query = select(MadeGraph.name).where(
                    MadeGraph.target == self._target, MadeGraph.name_key.in_(part)
                )
                found.update(connection.execute(query).scalars())
        return found

    def claim(self, claims: Iterable[Made], disclaimed: Collection[str] = ()) -> None:
        """Note graphs that are about to be made; delete the rows of ``disclaimed`` names."""
        rows = [self._row(made) for made in claims]
        if not (rows or disclaimed):
            return
        with self._engine.begin() as connection:
            self._forget(connection, disclaimed)
            if rows:
                connection.execute(insert(_MADE_GRAPH), rows)

    def settle(self, made: Iterable[str], dropped: Collection[str]) -> None:
        """Note that the store has the graphs ``made`` and no longer those ``dropped``."""
        rows = [{"store": self._target, "key": url_key(name)} for name in made]
        if not (rows or dropped):
            return
        with self._engine.begin() as connection:
            self._forget(connection, dropped)
            if rows:
                connection.execute(_SETTLED, rows)

    def forget_all(self) -> None:
        """Forget all graphs, as the store is new."""
        with self._engine.begin() as connection:
            connection.execute(delete(MadeGraph).where(MadeGraph.target == self._target))

    def unsettle_all(self) -> None:
        """Mark all graphs as not settled, so that the next delivery checks whether they exist."""
        with self._engine.begin() as connection:
            connection.execute(
                update(MadeGraph)
                .where(MadeGraph.target == self._target, MadeGraph.claimed_for.is_(None))
                .values(claimed_for="")
            )

    def take_over(self, folder: Owners) -> None:
        """Take over the graphs that a job folder's own ledger lists, once the crawl shares another.

        A name that a document has in the shared ledger stays with it.
        """
        with folder._reading.begin() as connection:
            query = select(_MADE_GRAPH).where(_MADE_GRAPH.c.target == self._target)
            rows = [dict(row._mapping) for row in connection.execute(query)]
        known = self.taken([row["name"] for row in rows])
        new = [
            {name: value for name, value in row.items() if name != "id"}
            for row in rows
            if row["name"] not in known
        ]
        if new:
            with self._engine.begin() as connection:
                connection.execute(insert(_MADE_GRAPH), new)

    def close(self) -> None:
        """Close the ledger."""
        self._engine.dispose()

    def _forget(self, connection: Connection, names: Collection[str]) -> None:
        for part in in_parts([url_key(name) for name in names]):
            connection.execute(
                delete(MadeGraph).where(
                    MadeGraph.target == self._target, MadeGraph.name_key.in_(part)
                )
            )

    def _row(self, made: Made) -> dict[str, object]:
        return {
            "target": self._target,
            "name_key": url_key(made.name),
            "name": made.name,
            "document_key": made.document_key,
            "stated": made.stated,
            "claimed_for": made.claimed_for,
            "witness": made.witness,
        }
