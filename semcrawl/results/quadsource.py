"""Reads the quads of a job folder, document by document, from a consistent snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.filelocks import lock
from semcrawl.metadata.database import connect, one_line, readable_db_url
from semcrawl.metadata.records import Document
from semcrawl.pipelines.quadsfile import IS_LOST, current_file, is_sound, orphaned, pieces_of
from semcrawl.rdf.sink import whole_lines

#: rows of documents in memory at a time
_ROWS = 1000


@contextmanager
def store_errors(what: object) -> Iterator[None]:
    """Turn errors of files and databases into a ``StoreError`` of one line."""
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreError(f"cannot read {what}: {one_line(error)}") from None
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or what}: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class State:
    """Figures that differ when documents were added, changed or removed."""

    documents: int
    revision: int
    changes: int


class Span(NamedTuple):
    """The lines of a document in the file of quads."""

    id: int
    url: str
    offset: int
    length: int
    quads: int
    format: str
    checksum: str | None = None


class QuadSource:
    """A file of quads in a job folder, and its ledger, which assigns the lines to documents.

    A crawl may be writing both. Documents whose lines are damaged or lost are left out, and named
    in :attr:`damaged`. Methods raise ``StoreError`` for what cannot be read at all.
    """

    def __init__(self, folder: Path, name: str, ledger: str) -> None:
        """Open the ledger, and upgrade an older version's."""
        if fault := orphaned(folder, name, ledger):
            raise StoreError(f"{fault}; `semcrawl check` mends what can be")
        self.path = folder / name
        self.ledger = folder / ledger
        self.engine = connect(readable_db_url(folder, ledger))
        self._lock_path = folder / f".{name}.lock"
        #: addresses of the documents that readers left out, as their lines are damaged or lost
        self.damaged: dict[str, None] = {}

    @property
    def is_writable(self) -> bool:
        """Whether the ledger can be written."""
        return self.engine.url.query.get("mode") != "ro"

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a snapshot that stays consistent while a crawl writes."""
        reading = self.engine.execution_options(read_only=True)
        with ExitStack() as stack:
            with store_errors(self.path), self._without_writers():
                # the first query begins the snapshot; the lock keeps compactions out
                snapshot = self._open_snapshot(stack.enter_context(reading.connect()))
                stack.callback(snapshot.close)
            yield snapshot

    @contextmanager
    def change(self) -> Iterator[Snapshot]:
        """Open a snapshot in a transaction that may change the ledger; writers wait."""
        with self._without_writers(), self.engine.begin() as connection:
            snapshot = self._open_snapshot(connection)
            try:
                yield snapshot
            finally:
                snapshot.close()

    def close(self) -> None:
        """Close the ledger."""
        self.engine.dispose()

    @contextmanager
    def _without_writers(self) -> Iterator[None]:
        if not self.is_writable:  # then nobody writes
            yield
            return
        with self._lock_path.open("ab") as file:
            lock(file, shared=True)
            yield

    def _open_snapshot(self, connection: Connection) -> Snapshot:
        live = Document.gone_at.is_(None)
        end, documents, revision, changes = connection.execute(
            select(
                func.max(Document.offset + Document.length),
                func.count().filter(live),
                func.max(Document.revision),
                func.sum(Document.changes),
            )
        ).one()
        state = State(int(documents), int(revision or 0), int(changes or 0))
        path = current_file(self.path, int(end or 0))
        # without documents the file may be missing
        file = path.open("rb") if end or path.exists() else None
        self.damaged |= dict.fromkeys(connection.scalars(select(Document.url).where(IS_LOST)))
        return Snapshot(self.path, connection, file, state, self.damaged)


class Snapshot:
    """The live documents and their lines at one moment."""

    def __init__(
        self,
        path: Path,
        connection: Connection,
        file: IO[bytes] | None,
        state: State,
        damaged: dict[str, None],
    ) -> None:
        """Read rows by ``connection`` and lines from ``file``; note ``damaged`` documents."""
        self._damaged = damaged
        self._path = path
        self.connection = connection
        self._file = file
        self.state = state

    def spans(
        self, *, unindexed: bool = False, newer_than: int = 0, into: set[int] | None = None
    ) -> Iterator[Span]:
        """Yield the documents with sound lines, in the order of the file.

        ``unindexed`` restricts them to those without indexed terms, ``newer_than`` to those of a
        higher revision. The ids of damaged documents go ``into`` a set.
        """
        query = (
            select(
                Document.id,
                Document.url,
                Document.offset,
                Document.length,
                Document.quads,
                Document.format,
                Document.checksum,
            )
            .where(Document.gone_at.is_(None), Document.length > 0)
            .order_by(Document.offset)
        )
        if unindexed:
            query = query.where(Document.terms_complete.is_(None))
        if newer_than:
            query = query.where(Document.revision > newer_than)
        with store_errors(self._path):
            rows = self.connection.execution_options(yield_per=_ROWS).execute(query)
            for row in rows:
                span = Span(*row)
                if self.is_sound(span):
                    yield span
                elif into is not None:
                    into.add(span.id)

    def unsound(self) -> set[int]:
        """Return the ids of the documents whose lines are damaged or lost."""
        ids = set(self.connection.scalars(select(Document.id).where(IS_LOST)))
        for _ in self.spans(into=ids):
            pass
        return ids

    def is_sound(self, span: Span) -> bool:
        """Whether a document's lines are as they were written; note it if not."""
        if is_sound(self._file, span.offset, span.length, span.checksum):
            return True
        self._damaged[span.url] = None
        return False

    def lines(self, span: Span) -> Iterator[bytes]:
        """Yield the lines of a document in pieces of whole lines."""
        return whole_lines(self._pieces(span.offset, span.length))

    def _pieces(self, offset: int, length: int) -> Iterator[bytes]:
        if self._file is None:
            return
        with store_errors(self._path):
            yield from pieces_of(self._file, offset, length)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
