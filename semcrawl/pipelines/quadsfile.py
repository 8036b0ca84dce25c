"""``quads.nq`` and its ledger: all lines of every document, once.

The table ``document`` of the job folder's ``crawl.db`` tells which bytes of the file belong to
which document. A document counts once its row is committed. Bytes after the last committed end are
left by a writer that died, and are cut off. A lock file, held for one batch, keeps out other
writers of this process and of others.

Every change of a document gets the next *revision* number, so that one number says how much a
triple store has received. Lines of replaced and gone documents stay until
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

from semcrawl.errors import ResultsGone, StoreError, os_errors_as
from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.machine.filelocks import lock, unlock
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url, one_line
from semcrawl.metadata.history import DocumentHistory, Written
from semcrawl.metadata.models import Contribution, Document, url_key
from semcrawl.pipelines.compaction import compact, finish_compaction
from semcrawl.pipelines.fileidentity import FileIdentities, gone_message
from semcrawl.rdf.quadlines import iri, is_all_in, other_graphs, whole_lines
from semcrawl.rdf.usedterms import TermCounter
from semcrawl.settings import SEMCRAWL_INDEXED_TERMS as INDEXED_TERMS

#: file name in the job folder
QUADS_FILE = "quads.nq"
#: file with the data embedded in pages
EMBEDDED_FILE = "embedded.nq"
#: its ledger: the database that lists which lines belong to which page
EMBEDDED_LEDGER = "embedded.db"

T = TypeVar("T")


def orphaned(folder: Path, name: str, ledger: str) -> str:
    """Say that a file has lines but no ledger; empty if that is not so.

    Opening it would cut off these lines, which may be a whole harvest: a writer that dies leaves a
    ledger.
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
    """Appends the quads of documents to a file of the job folder. Not thread-safe."""

    def __init__(
        self,
        folder: Path,
        name: str = QUADS_FILE,
        ledger: str = CRAWL_DB,
        *,
        terms: int = INDEXED_TERMS,
    ) -> None:
        """Open the file ``name``, whose documents the database ``ledger`` lists.

        ``terms``: most terms to index of each document. Raises ``StoreError`` if the folder cannot
        be written, or if the file has lines but no ledger.
        """
        self.path = folder / name
        self._of_pages = ledger == EMBEDDED_LEDGER
        self._terms = terms
        self._end = 0
        self._next_revision = 1
        #: documents of the ledger whose lines are missing, as somebody cut or deleted the file
        self.missing = 0
        with os_errors_as(StoreError, f"cannot write {self.path}"):
            self._file = self._open()
            # locked by processes that write the file or need it unchanged
            self._lock: IO[bytes] = (folder / f".{name}.lock").open("ab")
        if fault := orphaned(folder, name, ledger):
            raise StoreError(fault)
        self._engine = connect(crawl_db_url(folder, ledger))
        # not quads.nq itself, which a compaction replaces
        self._identities = FileIdentities([folder / f".{name}.lock", folder / ledger])
        self._begun = False
        self._transact(lambda connection: None)
        self._begun = True

    def append(self, items: Sequence[RdfDocument | FetchRecord]) -> list[Written]:
        """Write the documents' lines and commit them together; return what happened to each.

        The items may include records of re-visits: 304 counts as a visit, and a document that no
        longer exists is marked as gone. Raises ``StoreError`` if nothing of the batch could be
        written, and ``ResultsGone`` if the earlier results are gone.
        """
        return self._transact(lambda connection: self._append_all(connection, items))

    def compact(self) -> int:
        """Remove the lines of replaced and gone documents; return the number of bytes saved."""
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
                self._identities.check()
                self._recover(connection)
                result = work(connection)
            self._identities.check()
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from None
        except SQLAlchemyError as error:
            database = self._engine.url.database
            self._identities.check()  # for a moved file, SQLite has a message that says less
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
        """Append the lines and count their terms; return the graphs besides the document's own."""
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
        """Make file and ledger agree: cut off lines without a row, finish a compaction.

        :attr:`missing` counts documents whose lines were deleted. Raises ``ResultsGone`` if that
        happened since the file was opened.
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
                raise ResultsGone(gone_message(self.path))
            end, self.missing = _forget_lines_after(connection, size)
        if size != end:
            self._file.truncate(end)
        self._end = end
        self._next_revision = (
            connection.execute(select(func.max(Document.revision))).scalar() or 0
        ) + 1

    def _open(self) -> Any:
        # unbuffered: after a full disk, a buffer would write the rest of a failed batch later
        return self.path.open("ab", buffering=0)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Keep out other writers of the folder, including those of this process."""
        lock(self._lock)
        try:
            yield
        finally:
            unlock(self._lock)


def _note_graphs(connection: Connection, key: str, graphs: set[str]) -> None:
    """Replace the noted graphs of a document with those of its current version."""
    connection.execute(delete(Contribution).where(Contribution.document_key == key))
    rows = [
        {"document_key": key, "graph_key": url_key(graph), "graph": graph}
        for graph in sorted(graphs)
    ]
    if rows:
        connection.execute(insert(Contribution), rows)


def _forget_lines_after(connection: Connection, size: int) -> tuple[int, int]:
    """Forget the lines of documents that end after ``size``; a re-visit fetches these again.

    Return where the remaining lines end, and how many documents lost theirs.
    """
    line_end = Document.offset + Document.length
    end = int(connection.execute(select(func.max(line_end)).where(line_end <= size)).scalar() or 0)
    lost = connection.execute(
        update(Document)
        .where(line_end > size)
        .values(offset=end, length=0, etag="", last_modified="", content_hash="")
    )
    return end, lost.rowcount
