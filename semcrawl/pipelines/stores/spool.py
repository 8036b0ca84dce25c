"""What deliveries read: a file of quads and the ledger that tells what of it is whose."""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, delete, func, insert, select, update

from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.models import Contribution, Delivery, Document, Refusal, url_key
from semcrawl.pipelines.stores.spans import Span

#: keys in one question; SQLite takes some thousands at most
_KEYS_AT_ONCE = 500


class Spool:
    """A file of quads in the job folder. Not for several threads.

    Raises SQLAlchemy's errors and ``OSError``.
    """

    def __init__(self, folder: Path, name: str, ledger: str, target: str) -> None:
        """Read the file ``name``, whose documents ``ledger`` tells of, for the store ``target``."""
        self._path = folder / name
        self._lock_path = folder / f".{name}.lock"
        self._engine = connect(crawl_db_url(folder, ledger))
        self._reading = self._engine.execution_options(read_only=True)
        self._target = target

    @contextmanager
    def opened(self) -> Iterator[OpenSpool]:
        """Look into it; file and ledger agree meanwhile. The file stays open behind."""
        # the lock keeps a compaction out while places and file are looked up together
        with self._lock_path.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            with self._reading.begin() as connection:
                yield OpenSpool(connection, self._path.open("rb"), self._target)

    def waiting(self) -> int:
        """Return how many documents the store has not been told of."""
        with self._reading.begin() as connection:
            return connection.execute(
                select(func.count())
                .select_from(Document)
                .where(Document.revision > _delivered(connection, self._target))
            ).scalar_one()

    def start_again(self) -> None:
        """Forget what was delivered."""
        with self._engine.begin() as connection:
            connection.execute(delete(Delivery).where(Delivery.target == self._target))

    def note_delivered(self, revision: int, refused: Sequence[dict[str, object]]) -> None:
        """Remember that the store has, or has refused, all up to a revision."""
        with self._engine.begin() as connection:
            changed = connection.execute(
                update(Delivery).where(Delivery.target == self._target).values(revision=revision)
            )
            if not changed.rowcount:
                connection.execute(insert(Delivery).values(target=self._target, revision=revision))
            if refused:
                connection.execute(
                    insert(Refusal), [{"target": self._target, **row} for row in refused]
                )

    def close(self) -> None:
        """Close the ledger."""
        self._engine.dispose()


class OpenSpool:
    """A spool at one moment."""

    def __init__(self, connection: Connection, file: IO[bytes], target: str) -> None:
        """Look things up by ``connection``."""
        self._connection = connection
        self._target = target
        #: the quads; whoever takes spans closes it
        self.file = file
        self._spans: dict[str, Span] = {}

    def undelivered(self, limit: int) -> Sequence[Any]:
        """Return rows of ``document`` that the store has not been told of, oldest change first."""
        return self._connection.execute(
            select(
                Document.url,
                Document.revision,
                Document.quads,
                Document.offset,
                Document.length,
                Document.gone_at,
                Document.changes,
            )
            .where(Document.revision > _delivered(self._connection, self._target))
            .order_by(Document.revision)
            .limit(limit)
        ).all()

    def span(self, row: Any) -> Span:
        """Return the place of a document's lines, the same one for all graphs."""
        span = self._spans.get(row.url)
        if span is None:
            span = Span(self.file, row.url, row.offset, row.length, row.quads)
            self._spans[row.url] = span
        return span

    def has_contributions(self) -> bool:
        """Say whether any document has statements in graphs other than its own."""
        found = self._connection.execute(select(Contribution.id).limit(1)).first()
        return found is not None

    def contributions_of(self, urls: Collection[str]) -> list[tuple[str, str]]:
        """Return the graphs besides their own that documents have statements in: (URL, graph)."""
        keys = {url_key(url): url for url in urls}
        rows = self._connection.execute(
            select(Contribution.document_key, Contribution.graph).where(
                Contribution.document_key.in_(keys)
            )
        )
        return [(keys[key], graph) for key, graph in rows]

    def contributed(self, graphs: Collection[str]) -> set[str]:
        """Return those of the graphs that documents other than their own have statements in."""
        found: set[str] = set()
        for keys in _in_parts([url_key(graph) for graph in graphs]):
            query = select(Contribution.graph).where(Contribution.graph_key.in_(keys))
            found.update(self._connection.execute(query).scalars())
        return found

    def documents(self, graphs: Collection[str]) -> set[str]:
        """Return those of the graphs that are documents here."""
        rows = self._rows([url_key(graph[1:-1]) for graph in graphs if graph.startswith("<")])
        return {f"<{row.url}>" for row in rows}

    def spans_of(self, graphs: Collection[str]) -> dict[str, list[Span]]:
        """Return the places of all documents that have statements in each graph, as they lie."""
        names = {url_key(graph): graph for graph in graphs}
        documents = {g: {url_key(g[1:-1])} if g.startswith("<") else set() for g in graphs}
        for keys in _in_parts(list(names)):
            for graph_key, document_key in self._connection.execute(
                select(Contribution.graph_key, Contribution.document_key).where(
                    Contribution.graph_key.in_(keys)
                )
            ):
                documents[names[graph_key]].add(document_key)
        rows = {row.url_key: row for row in self._rows(list(set().union(*documents.values())))}
        return {
            graph: [
                self.span(row)
                for row in sorted(
                    (rows[key] for key in keys & rows.keys()), key=lambda row: row.offset
                )
            ]
            for graph, keys in documents.items()
        }

    def _rows(self, keys: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of ``document`` with these keys that are not gone."""
        for part in _in_parts(keys):
            yield from self._connection.execute(
                select(
                    Document.url_key,
                    Document.url,
                    Document.offset,
                    Document.length,
                    Document.quads,
                ).where(Document.url_key.in_(part), Document.gone_at.is_(None))
            )


def _in_parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield keys by as many as any database takes in one question."""
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        yield keys[start : start + _KEYS_AT_ONCE]


def _delivered(connection: Connection, target: str) -> int:
    found = connection.execute(select(Delivery.revision).where(Delivery.target == target)).scalar()
    return int(found or 0)
