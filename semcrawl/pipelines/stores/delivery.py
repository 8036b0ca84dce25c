"""Deliver the documents of a job folder to a triple store: each once, in the order of revisions.

``quads.nq`` and its ledger are the spool: what a store lacks is every document whose revision is
larger than the one that the table ``delivery`` names for it. A document's graphs are replaced,
so that a delivery may be repeated after a crash or a lost answer without doubling anything.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.metadata.database import connect, crawl_db_url, one_line
from semcrawl.metadata.models import Contribution, Delivery, Document, Refusal, storable, url_key
from semcrawl.pipelines.graphs import iri
from semcrawl.pipelines.quadsfile import LOCK_FILE, QUADS_FILE
from semcrawl.pipelines.stores.contract import GraphContent, GraphStore, Span, StoreRefused


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that the store would not take."""

    url: str
    revision: int
    error: str


@dataclass(slots=True)
class Delivered:
    """What one batch brought."""

    documents: int = 0
    quads: int = 0
    refused: list[Refused] = field(default_factory=list)
    #: whether more was waiting than a batch holds
    more: bool = False


@dataclass(slots=True)
class _Batch:
    """Documents with the graphs they touch, read from the ledger at one moment."""

    file: IO[bytes]
    #: (URL, revision, statements) in order of revision
    documents: list[tuple[str, int, int]] = field(default_factory=list)
    #: graphs by document URL
    graphs: dict[str, list[str]] = field(default_factory=dict)
    spans: dict[str, list[Span]] = field(default_factory=dict)
    #: graphs of documents in their first version, which no other document has statements in
    new: set[str] = field(default_factory=set)
    more: bool = False

    def contents(self, urls: Iterable[str]) -> list[GraphContent]:
        """Return the contents of the documents' graphs, each graph once."""
        names = dict.fromkeys(graph for url in urls for graph in self.graphs[url])
        return [
            GraphContent(name, self.file, self.spans.get(name, []), name in self.new)
            for name in names
        ]


class Deliverer:
    """Brings a store up to date with a job folder. Not for several threads."""

    def __init__(
        self,
        folder: Path,
        store: GraphStore,
        *,
        batch_documents: int = 2000,
        batch_bytes: int = 16 << 20,
    ) -> None:
        """Deliver to ``store`` in batches of so many documents and bytes of N-Quads."""
        self._path = folder / QUADS_FILE
        self._lock_path = folder / LOCK_FILE
        self._engine = connect(crawl_db_url(folder))
        self._reading = self._engine.execution_options(read_only=True)
        self._store = store
        self._target = storable(store.target)[:255]
        self._batch_documents = batch_documents
        self._batch_bytes = batch_bytes

    def waiting(self) -> int:
        """Return how many documents the store has not been told of."""
        with self._reading.begin() as connection:
            done = _delivered(connection, self._target)
            return connection.execute(
                select(func.count()).select_from(Document).where(Document.revision > done)
            ).scalar_one()

    def start_again(self) -> None:
        """Forget what was delivered: the store is new or was emptied."""
        with self._engine.begin() as connection:
            connection.execute(delete(Delivery).where(Delivery.target == self._target))

    def step(self) -> Delivered | None:
        """Deliver the next batch; ``None`` when nothing waits.

        Raises ``StoreUnavailable`` when the store is away: nothing is lost, call again later.
        """
        try:
            batch = self._next_batch()
        except OSError as error:
            raise StoreError(f"cannot read {self._path}: {error.strerror}") from None
        except SQLAlchemyError as error:
            raise StoreError(f"cannot read the ledger: {one_line(error)}") from None
        if batch is None:
            return None
        with batch.file:
            result = self._deliver(batch)
        result.more = batch.more
        revision = batch.documents[-1][1]
        try:
            with self._engine.begin() as connection:
                _set_delivered(connection, self._target, revision)
                if result.refused:
                    connection.execute(insert(Refusal), self._rows(result.refused))
        except SQLAlchemyError as error:
            raise StoreError(f"cannot write the ledger: {one_line(error)}") from None
        return result

    def close(self) -> None:
        """Close the ledger and the store."""
        self._engine.dispose()
        self._store.close()

    def _deliver(self, batch: _Batch) -> Delivered:
        """Send all at once; when that is refused, half by half, to find whose fault it is."""
        result = Delivered()
        todo = [batch.documents]
        while todo:
            documents = todo.pop()
            try:
                self._store.replace(batch.contents(url for url, _, _ in documents))
            except StoreRefused as error:
                if len(documents) == 1:
                    url, revision, _ = documents[0]
                    result.refused.append(Refused(url, revision, str(error)))
                else:
                    middle = len(documents) // 2
                    todo += [documents[middle:], documents[:middle]]
            else:
                result.documents += len(documents)
                result.quads += sum(quads for _, _, quads in documents)
        return result

    def _next_batch(self) -> _Batch | None:
        # the lock keeps a compaction out while places and file are looked up together
        with self._locked(), self._reading.begin() as connection:
            rows = connection.execute(
                select(
                    Document.url,
                    Document.revision,
                    Document.quads,
                    Document.offset,
                    Document.length,
                    Document.gone_at,
                    Document.changes,
                )
                .where(Document.revision > _delivered(connection, self._target))
                .order_by(Document.revision)
                .limit(self._batch_documents)
            ).all()
            if not rows:
                return None
            batch = _Batch(self._path.open("rb"), more=len(rows) == self._batch_documents)
            size = 0
            for row in rows:
                if batch.documents and size + row.length > self._batch_bytes:
                    batch.more = True
                    break
                size += row.length
                graph = iri(row.url)
                batch.documents.append((row.url, row.revision, row.quads))
                batch.graphs[row.url] = [graph]
                if not row.changes:
                    batch.new.add(graph)
                if row.gone_at is None:
                    batch.spans[graph] = [Span(row.url, row.offset, row.length, row.quads)]
            self._add_shared_graphs(connection, batch)
            return batch

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock_path.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield

    def _add_shared_graphs(self, connection: Connection, batch: _Batch) -> None:
        """Add the graphs that documents have statements in besides their own."""
        if connection.execute(select(Contribution.id).limit(1)).first() is None:
            return
        shared: set[str] = set()
        keys = {url_key(url): url for url, _, _ in batch.documents}
        for document_key, graph in connection.execute(
            select(Contribution.document_key, Contribution.graph).where(
                Contribution.document_key.in_(keys)
            )
        ):
            batch.graphs[keys[document_key]].append(graph)
            shared.add(graph)
        own = {url_key(iri(url)) for url, _, _ in batch.documents}
        shared |= set(
            connection.execute(
                select(Contribution.graph).where(Contribution.graph_key.in_(own))
            ).scalars()
        )
        batch.new -= shared
        for graph in shared:
            batch.spans[graph] = _spans_of(connection, graph)

    def _rows(self, refused: Sequence[Refused]) -> list[dict[str, object]]:
        return [
            {
                "target": self._target,
                "url": entry.url,
                "revision": entry.revision,
                "error": storable(entry.error),
                "refused_at": time.time(),
            }
            for entry in refused
        ]


def _spans_of(connection: Connection, graph: str) -> list[Span]:
    """Return the places of all documents that have statements in a graph."""
    keys = set(
        connection.execute(
            select(Contribution.document_key).where(Contribution.graph_key == url_key(graph))
        ).scalars()
    )
    if graph.startswith("<"):
        keys.add(url_key(graph[1:-1]))
    rows = connection.execute(
        select(Document.url, Document.offset, Document.length, Document.quads)
        .where(Document.url_key.in_(keys), Document.gone_at.is_(None))
        .order_by(Document.offset)
    )
    return [Span(row.url, row.offset, row.length, row.quads) for row in rows]


def _delivered(connection: Connection, target: str) -> int:
    found = connection.execute(select(Delivery.revision).where(Delivery.target == target)).scalar()
    return int(found or 0)


def _set_delivered(connection: Connection, target: str, revision: int) -> None:
    changed = connection.execute(
        update(Delivery).where(Delivery.target == target).values(revision=revision)
    )
    if not changed.rowcount:
        connection.execute(insert(Delivery).values(target=target, revision=revision))
