"""``quads.nq`` and its ledger: every document's lines whole and once.

The table ``document`` of the job folder's ``crawl.db`` tells which bytes of the file belong to
which document. A document counts from the moment its row is committed; bytes behind the largest
committed end are the remains of a writer that died, and are cut off. Writers in one process or
in several exclude each other by a lock file, held for one batch.

Every change of a document gets the next *revision* number, so that a triple store knows by one
number how far it has been told. Lines of replaced and gone documents stay until
:meth:`QuadsFile.compact`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from sqlalchemy import Connection, delete, desc, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import ResultsGone, StoreError
from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.machine.filelocks import lock, unlock
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url, one_line
from semcrawl.metadata.history import DocumentHistory, Written
from semcrawl.metadata.models import Contribution, Document, url_key
from semcrawl.pipelines.compaction import compact, finish_compaction
from semcrawl.pipelines.standing import Standing, gone
from semcrawl.rdf.quadlines import iri, is_all_in, other_graphs, whole_lines
from semcrawl.rdf.usedterms import TermCounter
from semcrawl.settings import SEMCRAWL_INDEXED_TERMS as INDEXED_TERMS

#: file name in the job folder
QUADS_FILE = "quads.nq"
#: the data embedded in pages, and the database that lists which document they are from
EMBEDDED_FILE = "embedded.nq"
EMBEDDED_LEDGER = "embedded.db"

T = TypeVar("T")


def orphaned(folder: Path, name: str, ledger: str) -> str:
    """Say that a file has lines and no ledger, so that they would be cut off; else nothing.

    They may be a whole harvest. (A writer that dies leaves a ledger behind.)
    """
    if _size(folder / ledger) or not _size(folder / name):
        return ""
    return (
        f"{folder / name} holds lines, but {ledger}, which lists whose they are, is missing: "
        f"bring {ledger} back, or move {name} away"
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


class QuadsFile:
    """The quads of a job folder, appended document by document. Not for several threads."""

    def __init__(
        self,
        folder: Path,
        name: str = QUADS_FILE,
        ledger: str = CRAWL_DB,
        *,
        terms: int = INDEXED_TERMS,
    ) -> None:
        """Open the file ``name``, whose documents the database ``ledger`` lists.

        So many ``terms`` of each document are indexed there at most. Raises ``StoreError``
        when the folder cannot be written, or when there are lines without a ledger: they might be
        a whole harvest.
        """
        self.path = folder / name
        self._of_pages = ledger == EMBEDDED_LEDGER
        self._terms = terms
        self._end = 0
        self._next_revision = 1
        #: documents that the ledger promises and the file lacks (somebody cut or deleted it)
        self.missing = 0
        try:
            self._file = self._open()
            # locked by a process that writes the file or needs it to stay
            self._lock: IO[bytes] = (folder / f".{name}.lock").open("ab")
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        if fault := orphaned(folder, name, ledger):
            raise StoreError(fault)
        self._engine = connect(crawl_db_url(folder, ledger))
        # (quads.nq itself is replaced where somebody compacts it)
        self._standing = Standing([folder / f".{name}.lock", folder / ledger])
        self._begun = False
        self._transact(lambda connection: None)
        self._begun = True

    def append(self, items: Sequence[RdfDocument | FetchRecord]) -> list[Written]:
        """Write the documents' lines and commit them together; return the fate of each.

        Records of re-visits may be among them: a 304 counts as a visit, and a document that
        is no longer there is marked gone. Raises ``StoreError`` when nothing of the batch could
        be written, ``ResultsGone`` when what was written is not there any more.
        """
        return self._transact(lambda connection: self._append_all(connection, items))

    def compact(self) -> int:
        """Leave out the lines of replaced and gone documents; return the bytes saved."""
        saved = self._transact(lambda connection: compact(connection, self.path, self._end))
        if saved:
            self._transact(lambda connection: None)  # the recovery finishes the compaction
        return saved

    def close(self) -> None:
        """Close file and ledger."""
        self._file.close()
        self._lock.close()
        self._engine.dispose()

    def _transact(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._exclusive(), self._engine.begin() as connection:
                self._standing.check()
                self._recover(connection)
                result = work(connection)
            self._standing.check()
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        except SQLAlchemyError as error:
            database = self._engine.url.database
            self._standing.check()  # (SQLite has words of its own for a file that was moved)
            raise StoreError(f"cannot write {database}: {one_line(error)}") from None
        return result

    def _append_all(
        self, connection: Connection, items: Sequence[RdfDocument | FetchRecord]
    ) -> list[Written]:
        history = DocumentHistory(connection, items, pages=self._of_pages, terms=self._terms)
        written = [
            self._append(connection, history, item)
            if isinstance(item, RdfDocument)
            else history.note_record(item, self._take_revision)
            for item in items
        ]
        history.flush()
        return written

    def _append(
        self, connection: Connection, history: DocumentHistory, document: RdfDocument
    ) -> Written:
        graphs: set[str] = set()

        def place(counter: TermCounter) -> dict[str, int]:
            offset = self._end
            graphs.update(self._write_lines(document, counter))
            return {
                "offset": offset,
                "length": self._end - offset,
                "revision": self._take_revision(),
            }

        written = history.note_document(document, place)
        if graphs or written is Written.REPLACED:
            _note_graphs(connection, url_key(document.url), graphs)
        return written

    def _take_revision(self) -> int:
        revision = self._next_revision
        self._next_revision += 1
        return revision

    def _write_lines(self, document: RdfDocument, counter: TermCounter) -> set[str]:
        """Append the lines and count their terms; return the graphs that are not the document's."""
        own = iri(document.url)
        graphs: set[str] = set()
        for lines in whole_lines(document.chunks()):
            rest = memoryview(lines)
            while rest:
                count = self._file.write(rest) or 0
                self._end += count
                rest = rest[count:]
            counter.add(lines)
            if not is_all_in(lines, own):
                graphs |= other_graphs(lines.splitlines(keepends=True), own)
        return graphs

    def _recover(self, connection: Connection) -> None:
        """Make file and ledger agree: cut off what no row vouches for, finish a compaction.

        The documents whose lines somebody else took away are counted in :attr:`missing`. Raises
        ``ResultsGone`` when that happened since the file was opened.
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
        if size < end:
            if self._begun:
                raise ResultsGone(gone(self.path))
            end, self.missing = _forget_lines_behind(connection, size)
        if size != end:
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
        lock(self._lock)
        try:
            yield
        finally:
            unlock(self._lock)


def _note_graphs(connection: Connection, key: str, graphs: set[str]) -> None:
    """Note the graphs of a document in place of those of an older version."""
    connection.execute(delete(Contribution).where(Contribution.document_key == key))
    rows = [
        {"document_key": key, "graph_key": url_key(graph), "graph": graph}
        for graph in sorted(graphs)
    ]
    if rows:
        connection.execute(insert(Contribution), rows)


def _forget_lines_behind(connection: Connection, size: int) -> tuple[int, int]:
    """Give up the lines of the documents that end behind ``size``; a re-visit reads them again.

    Return where the lines that are left end, and how many documents lost theirs.
    """
    behind = Document.offset + Document.length
    end = int(connection.execute(select(func.max(behind)).where(behind <= size)).scalar() or 0)
    lost = connection.execute(
        update(Document)
        .where(behind > size)
        .values(offset=end, length=0, etag="", last_modified="", content_hash="")
    )
    return end, lost.rowcount
