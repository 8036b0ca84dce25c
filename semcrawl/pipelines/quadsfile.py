"""``quads.nq`` and its ledger: every document's lines whole, once, whatever happens.

The table ``document`` of the job folder's ``crawl.db`` tells which bytes of the file belong to
which document. A document counts from the moment its row is committed; bytes behind the largest
committed end are the remains of a writer that died, and are cut off. Writers in one process or
in several exclude each other by a lock file, held for one batch.

Every change of a document gets the next *revision* number, so that a triple store knows by one
number how far it has been told. Lines of replaced and gone documents stay until
:meth:`QuadsFile.compact`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, TypeVar

from sqlalchemy import Connection, desc, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import connect, crawl_db_url, one_line
from semcrawl.metadata.models import Contribution, Document, url_key
from semcrawl.metadata.rows import document_row
from semcrawl.pipelines.compaction import compact, finish_compaction
from semcrawl.pipelines.graphs import iri, is_all_in, other_graphs, whole_lines

#: file name in the job folder
QUADS_FILE = "quads.nq"
#: locked by whoever writes the file or needs it to stay
LOCK_FILE = f".{QUADS_FILE}.lock"

T = TypeVar("T")


class Written(StrEnum):
    """What became of an item handed to :meth:`QuadsFile.append`."""

    NEW = "new"  #: a document, written
    DUPLICATE = "duplicate"  #: its final URL was there already
    REPLACED = "replaced"  #: a re-visit found other content; the new lines count
    UNCHANGED = "unchanged"  #: a re-visit found the same content, or a 304
    GONE = "gone"  #: a re-visit found nothing there any more
    NOTHING = "nothing"  #: a record that says nothing of a document


class QuadsFile:
    """The quads of a job folder, appended document by document. Not for several threads."""

    def __init__(self, folder: Path) -> None:
        """Open; raises ``StoreError`` when the folder cannot be written."""
        self.path = folder / QUADS_FILE
        self._end = 0
        self._next_revision = 1
        #: bytes that the ledger promises and the file lacks (someone else cut it)
        self.missing = 0
        try:
            self._file = self._open()
            self._lock: IO[bytes] = (folder / LOCK_FILE).open("ab")
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        self._engine = connect(crawl_db_url(folder))
        self._transact(lambda connection: None)

    def append(self, items: Sequence[RdfDocument | FetchRecord]) -> list[Written]:
        """Write the documents' lines and commit them together; tell what became of each.

        Records of re-visits may be among them: a 304 counts as a visit, and a document that
        is no longer there is marked gone. Raises ``StoreError`` when nothing of the batch could
        be written.
        """
        return self._transact(
            lambda connection: [
                self._append(connection, item)
                if isinstance(item, RdfDocument)
                else self._note(connection, item)
                for item in items
            ]
        )

    def compact(self) -> int:
        """Leave out the lines of replaced and gone documents; return the bytes saved."""
        saved = self._transact(lambda connection: compact(connection, self.path, self._end))
        if saved:
            self._transact(lambda connection: None)  # recovers, and thereby finishes
        return saved

    def close(self) -> None:
        """Close file and ledger."""
        self._file.close()
        self._lock.close()
        self._engine.dispose()

    def _transact(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._exclusive(), self._engine.begin() as connection:
                self._recover(connection)
                return work(connection)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        except SQLAlchemyError as error:
            database = self._engine.url.database
            raise StoreError(f"cannot write {database}: {one_line(error)}") from None

    def _append(self, connection: Connection, document: RdfDocument) -> Written:
        key = url_key(document.url)
        known = connection.execute(
            select(
                Document.content_hash, Document.gone_at, Document.last_seen_at, Document.visits
            ).where(Document.url_key == key)
        ).first()
        row = document_row(document)
        if known is not None:
            if not document.revisit:
                return Written.DUPLICATE
            visit = {
                "visits": known.visits + (document.fetched_at > known.last_seen_at),
                "last_seen_at": document.fetched_at,
                "etag": row["etag"],
                "last_modified": row["last_modified"],
            }
            if known.gone_at is None and known.content_hash == document.content_hash != "":
                _update(connection, key, visit)
                return Written.UNCHANGED
        offset = self._end
        graphs = self._write_lines(document)
        place = {
            "offset": offset,
            "length": self._end - offset,
            "revision": self._take_revision(),
        }
        if known is None:
            connection.execute(insert(Document).values(**row, **place, visits=1, changes=0))
        else:
            row.pop("first_seen_at")
            _update(
                connection,
                key,
                {**row, **place, **visit, "changes": Document.changes + 1, "gone_at": None},
            )
        _note_graphs(connection, key, graphs)
        return Written.NEW if known is None else Written.REPLACED

    def _note(self, connection: Connection, record: FetchRecord) -> Written:
        """Take in what a record says of a document that had been had before."""
        if not record.revisit:
            return Written.NOTHING
        key = url_key(record.url)
        known = connection.execute(
            select(Document.last_seen_at).where(Document.url_key == key, Document.gone_at.is_(None))
        ).first()
        if known is None or record.started_at <= known.last_seen_at:
            return Written.NOTHING
        seen = {"visits": Document.visits + 1, "last_seen_at": record.started_at}
        if record.outcome is FetchOutcome.NOT_MODIFIED:
            _update(connection, key, seen)
            return Written.UNCHANGED
        if not _says_gone(record):
            return Written.NOTHING
        gone = {
            "gone_at": record.started_at,
            "changes": Document.changes + 1,
            "revision": self._take_revision(),
        }
        _update(connection, key, {**seen, **gone})
        return Written.GONE

    def _take_revision(self) -> int:
        revision = self._next_revision
        self._next_revision += 1
        return revision

    def _write_lines(self, document: RdfDocument) -> set[str]:
        """Append the lines; return the graphs other than the document's own."""
        own = iri(document.url)
        graphs: set[str] = set()
        for lines in whole_lines(document.chunks()):
            rest = memoryview(lines)
            while rest:
                count = self._file.write(rest) or 0
                self._end += count
                rest = rest[count:]
            if not is_all_in(lines, own):
                graphs |= other_graphs(lines.splitlines(keepends=True), own)
        return graphs

    def _recover(self, connection: Connection) -> None:
        """Make file and ledger agree: cut off what no row vouches for, finish a compaction.

        What the rows promise in vain is noted in :attr:`missing`.
        """
        last = connection.execute(
            select(Document.offset + Document.length)
            .order_by(desc(Document.offset), desc(Document.length))
            .limit(1)
        ).scalar()
        end = int(last or 0)
        finish_compaction(self.path, end)
        if not self.path.exists() or not os.path.samestat(
            os.stat(self.path), os.fstat(self._file.fileno())
        ):
            self._file.close()
            self._file = self._open()
        size = os.fstat(self._file.fileno()).st_size
        self.missing = max(0, end - size)
        if size != end:  # also when too short: later offsets must be true
            self._file.truncate(end)
        self._end = end
        self._next_revision = (
            connection.execute(select(func.max(Document.revision))).scalar() or 0
        ) + 1

    def _open(self) -> Any:
        # unbuffered: after a full disk no half-written rest may come up again
        return self.path.open("ab", buffering=0)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Keep every other writer of the folder out, of this process too."""
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)


def _update(connection: Connection, key: str, values: dict[str, Any]) -> None:
    connection.execute(update(Document).where(Document.url_key == key).values(**values))


def _note_graphs(connection: Connection, key: str, graphs: set[str]) -> None:
    """Remember the graphs; those of older versions stay, so that stores look at them again."""
    if not graphs:
        return
    known = set(
        connection.execute(
            select(Contribution.graph).where(Contribution.document_key == key)
        ).scalars()
    )
    rows = [
        {"document_key": key, "graph_key": url_key(graph), "graph": graph}
        for graph in sorted(graphs - known)
    ]
    if rows:
        connection.execute(insert(Contribution), rows)


def _says_gone(record: FetchRecord) -> bool:
    """Say whether the record of a re-visit means that the document is no longer there.

    Not after what may pass: network errors, timeouts, other HTTP errors, robots.txt.
    """
    if record.outcome is FetchOutcome.HTTP_ERROR:
        return record.status in (404, 410)
    if record.outcome is FetchOutcome.REDIRECTED:
        return record.status in (301, 308)
    no_rdf = (FetchOutcome.FETCHED_HTML, FetchOutcome.FETCHED_OTHER, FetchOutcome.FILTERED_TYPE)
    return record.outcome in no_rdf and record.quads == 0
