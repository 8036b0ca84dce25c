"""The quads of a job folder, document by document, as the ledger has them at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.machine.filelocks import lock
from semcrawl.metadata.database import connect, one_line, readable_db_url
from semcrawl.metadata.models import Document
from semcrawl.pipelines.compaction import current_file
from semcrawl.rdf.quadlines import whole_lines

_PIECE = 1 << 20
#: rows of documents in memory at a time
_ROWS = 1000


@contextmanager
def store_errors(what: object) -> Iterator[None]:
    """Turn what goes wrong with a file or a database into a ``StoreError`` of one line."""
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreError(f"cannot read {what}: {one_line(error)}") from None
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or what}: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class State:
    """Tells by comparison whether documents came, changed or went."""

    documents: int
    revision: int
    changes: int


class Place(NamedTuple):
    """Where the lines of a document are."""

    id: int
    url: str
    offset: int
    length: int
    quads: int
    format: str


class QuadSource:
    """A file of quads in a job folder, and the database that lists whose lines they are.

    A crawl may be writing both. All methods raise ``StoreError`` for what cannot be read.
    """

    def __init__(self, folder: Path, name: str, ledger: str) -> None:
        """Open the ledger; an older version's is brought up to date."""
        self.path = folder / name
        self.ledger = folder / ledger
        self.engine = connect(readable_db_url(folder, ledger))
        self._lock_path = folder / f".{name}.lock"

    @property
    def is_writable(self) -> bool:
        """Whether the ledger may be written."""
        return self.engine.url.query.get("mode") != "ro"

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Give documents and lines that belong together, whatever a crawl does meanwhile."""
        reading = self.engine.execution_options(read_only=True)
        with ExitStack() as stack:
            with store_errors(self.path), self._without_writers():
                # the first look begins the snapshot, while no compaction can be under way
                snapshot = self._look(stack.enter_context(reading.connect()))
                stack.callback(snapshot.close)
            yield snapshot

    @contextmanager
    def change(self) -> Iterator[Snapshot]:
        """Give the same within a transaction that may change the ledger; writers wait."""
        with self._without_writers(), self.engine.begin() as connection:
            snapshot = self._look(connection)
            try:
                yield snapshot
            finally:
                snapshot.close()

    def close(self) -> None:
        """Close the ledger."""
        self.engine.dispose()

    @contextmanager
    def _without_writers(self) -> Iterator[None]:
        if not self.is_writable:  # where nothing can be written nobody writes
            yield
            return
        with self._lock_path.open("ab") as file:
            lock(file, shared=True)
            yield

    def _look(self, connection: Connection) -> Snapshot:
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
        # (a database that was copied without its file has documents all the same)
        file = path.open("rb") if end or path.exists() else None
        return Snapshot(self.path, connection, file, state)


class Snapshot:
    """The documents that are not gone, and their lines."""

    def __init__(
        self, path: Path, connection: Connection, file: IO[bytes] | None, state: State
    ) -> None:
        """Read rows by ``connection`` and lines from ``file``."""
        self._path = path
        self.connection = connection
        self._file = file
        self.state = state

    def places(self, *, unindexed: bool = False, newer_than: int = 0) -> Iterator[Place]:
        """Yield the documents that have lines, in the order of the file.

        ``unindexed``: those alone that were not looked at for terms; ``newer_than``: those with a
        higher revision.
        """
        query = (
            select(
                Document.id,
                Document.url,
                Document.offset,
                Document.length,
                Document.quads,
                Document.format,
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
                yield Place(*row)

    def lines(self, place: Place) -> Iterator[bytes]:
        """Yield the lines of a document in pieces of whole ones."""
        return whole_lines(self._pieces(place.offset, place.length))

    def _pieces(self, offset: int, length: int) -> Iterator[bytes]:
        if self._file is None:
            return
        with store_errors(self._path):
            while length > 0:
                self._file.seek(offset)
                piece = self._file.read(min(_PIECE, length))
                if not piece:
                    raise StoreError(
                        f"{self._path} was cut: lines of documents are missing; `semcrawl harvest` "
                        "on the folder finds out which, and with --revisit fetches them again"
                    )
                yield piece
                offset += len(piece)
                length -= len(piece)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
