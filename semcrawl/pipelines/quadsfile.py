"""``quads.nq`` and its ledger: every document's lines whole, once, whatever happens.

The table ``document`` of the job folder's ``crawl.db`` tells which bytes of the file belong to
which document. A document counts from the moment its row is committed; bytes behind the largest
committed end are the remains of a writer that died, and are cut off. Writers in one process or
in several exclude each other by a lock file, held for one batch.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, desc, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError
from semcrawl.items import RdfDocument
from semcrawl.metadata.database import connect, crawl_db_url, one_line
from semcrawl.metadata.models import Document, url_key
from semcrawl.metadata.rows import document_row

#: file name in the job folder
QUADS_FILE = "quads.nq"


class Written(StrEnum):
    """What became of a document handed to :meth:`QuadsFile.append`."""

    NEW = "new"  #: written
    DUPLICATE = "duplicate"  #: its final URL was there already
    REPLACED = "replaced"  #: a re-visit found other content; the new lines count
    UNCHANGED = "unchanged"  #: a re-visit found the same content


class QuadsFile:
    """The quads of a job folder, appended document by document. Not for several threads."""

    def __init__(self, folder: Path) -> None:
        """Open; raises ``StoreError`` when the folder cannot be written."""
        self.path = folder / QUADS_FILE
        try:
            # unbuffered: after a full disk no half-written rest may come up again
            self._file = self.path.open("ab", buffering=0)
            self._lock: IO[bytes] = (folder / f".{QUADS_FILE}.lock").open("ab")
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        self._engine = connect(crawl_db_url(folder))
        #: bytes that the ledger promises and the file lacks (someone else cut it)
        self.missing = 0
        with self._exclusive(), self._engine.begin() as connection:
            self._recover(connection)

    def append(self, documents: Sequence[RdfDocument]) -> list[Written]:
        """Write the documents' lines and commit them together; tell what became of each.

        Raises ``StoreError`` when nothing of the batch could be written.
        """
        try:
            with self._exclusive(), self._engine.begin() as connection:
                self._recover(connection)
                return [self._append(connection, document) for document in documents]
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        except SQLAlchemyError as error:
            raise StoreError(
                f"cannot write {self._engine.url.database}: {one_line(error)}"
            ) from None

    def close(self) -> None:
        """Close file and ledger."""
        self._file.close()
        self._lock.close()
        self._engine.dispose()

    def _append(self, connection: Connection, document: RdfDocument) -> Written:
        key = url_key(document.url)
        known = connection.execute(
            select(Document.content_hash, Document.gone_at).where(Document.url_key == key)
        ).first()
        row = document_row(document)
        if known is not None:
            if not document.revisit:
                return Written.DUPLICATE
            visit = {
                "visits": Document.visits + 1,
                "last_seen_at": document.fetched_at,
                "etag": row["etag"],
                "last_modified": row["last_modified"],
            }
            if known.gone_at is None and known.content_hash == document.content_hash != "":
                connection.execute(update(Document).where(Document.url_key == key).values(**visit))
                return Written.UNCHANGED
        offset = self._end
        self._write_lines(document)
        span = {"offset": offset, "length": self._end - offset}
        if known is None:
            connection.execute(insert(Document).values(**row, **span))
            return Written.NEW
        row.pop("first_seen_at")
        changed = {**row, **span, **visit, "changes": Document.changes + 1, "gone_at": None}
        connection.execute(update(Document).where(Document.url_key == key).values(**changed))
        return Written.REPLACED

    def _write_lines(self, document: RdfDocument) -> None:
        last = b"\n"
        for chunk in document.chunks():
            self._write(chunk)
            last = chunk[-1:]
        if last != b"\n":
            self._write(b"\n")

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            count = self._file.write(rest) or 0
            self._end += count
            rest = rest[count:]

    def _recover(self, connection: Connection) -> None:
        """Cut off what no row vouches for; note what the rows promise in vain."""
        end = _committed_end(connection)
        size = os.fstat(self._file.fileno()).st_size
        self.missing = max(0, end - size)
        if size > end:
            self._file.truncate(end)
        self._end = min(size, end)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Keep every other writer of the folder out, of this process too."""
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)


def _committed_end(connection: Connection) -> int:
    last = connection.execute(
        select(Document.offset + Document.length)
        .order_by(desc(Document.offset), desc(Document.length))
        .limit(1)
    ).scalar()
    return int(last or 0)
