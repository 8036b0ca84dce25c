"""``quads.nq`` and its ledger: all lines of every document, once.

The table ``document`` of the job folder's ``crawl.db`` tells which bytes of the file belong to
which document. A document counts once its row is committed. Bytes after the last committed end are
left by a writer that died, and are cut off. A lock file, held for one batch, keeps out other
writers of this process and of others.

Every change of a document gets the next *revision* number, so that one number says how much a
triple store has received. Lines of replaced and gone documents stay until
:meth:`QuadsFile.compact`.

Removes the lines of replaced and gone documents from ``quads.nq``.
It copies the live lines to a file beside it, changes the ledger's offsets in one transaction, and
then replaces the file with the copy. After a crash in between, the next opening repairs this: the
copy has the length that the ledger says only if the offsets were committed.

Checks that the result files are still those that the crawl began with.
A process can go on writing to a file that was deleted. Without this check, a crawl would write
results that nobody can read.

Tells whether the lines of a document in a file of quads are those that were written.
The ledger has a checksum of each document's lines. A document whose lines are damaged is *lost*:
its row keeps the address, but no lines and no validators, so that the next run reads it again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    desc,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import ResultsGone, StoreError, os_errors_as
from semcrawl.filelocks import lock, unlock
from semcrawl.items import FetchRecord, RdfDocument
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url, one_line
from semcrawl.metadata.history import LOST, DocumentHistory, Written
from semcrawl.metadata.records import Contribution, Document, MadeGraph, in_parts, url_key
from semcrawl.metadata.termindex import forget_terms
from semcrawl.rdf.shortnames import INDEXED_TERMS, TermCounter
from semcrawl.rdf.sink import iri, is_all_in, other_graphs, whole_lines
from semcrawl.wholefiles import sync, sync_folder

if TYPE_CHECKING:
    from semcrawl.metadata.pastversions import PastBatch, PastVersions

COPY_SIZE = 1 << 20


def compact(connection: Connection, path: Path, committed_end: int) -> int:
    """Copy the live lines and change the offsets; return the number of bytes removed.

    The caller holds the lock, commits, and then calls :func:`finish_compaction`.
    """
    live = connection.execute(
        select(func.coalesce(func.sum(Document.length), 0)).where(Document.gone_at.is_(None))
    ).scalar_one()
    waste = committed_end - int(live)
    if waste <= 0:
        return 0
    spans = connection.execute(
        select(Document.id, Document.offset, Document.length)
        .where(Document.gone_at.is_(None))
        .order_by(Document.offset, Document.length)
    ).all()
    places = []
    end = 0
    with path.open("rb") as old, _copy_of(path).open("wb") as new:
        for row, offset, length in spans:
            old.seek(offset)
            places.append({"row": row, "place": end})
            end += length
            while length:
                piece = old.read(min(COPY_SIZE, length))
                if not piece:
                    break
                new.write(piece)
                length -= len(piece)
        new.flush()
        sync(new.fileno())
    sync_folder(path.parent)
    table = cast("Table", Document.__table__)
    connection.execute(
        update(Document).where(Document.gone_at.is_not(None)).values(offset=0, length=0)
    )
    if places:
        connection.execute(
            update(table).where(table.c.id == bindparam("row")).values(offset=bindparam("place")),
            places,
        )
    return waste


def finish_compaction(path: Path, committed_end: int) -> None:
    """Replace the file with a committed copy, or delete an uncommitted one."""
    copy = _copy_of(path)
    try:
        size = copy.stat().st_size
    except FileNotFoundError:
        return
    if size == committed_end:
        copy.replace(path)
    else:
        copy.unlink()


def current_file(path: Path, committed_end: int) -> Path:
    """Return the file that the ledger describes: ``path``, or a committed copy of it."""
    copy = _copy_of(path)
    return copy if copy.exists() and copy.stat().st_size == committed_end else path


def _copy_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.compact")


class FileIdentities:
    """The identities of files (device and inode), by path.

    As paths lead through folders, a moved folder is noticed as well.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Remember the files at these paths."""
        self._known: dict[Path, tuple[int, int] | None] = {}
        for path in paths:
            self.remember(path)

    def remember(self, path: Path) -> None:
        """Remember the file that a path leads to now."""
        self._known[path] = _identity(path)

    def check(self) -> None:
        """Raise ``ResultsGone`` if a path leads to another file, or to none."""
        for path, known in self._known.items():
            if known is not None and _identity(path) != known:
                raise ResultsGone(gone_message(path))


def gone_message(path: Path) -> str:
    """Return the message that a result file, or its folder, is gone."""
    what = path if path.parent.is_dir() else path.parent
    return (
        f"{what} was deleted, moved or replaced while the crawl wrote to it: "
        "what it held may be lost, and the crawl ends"
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


#: bytes read at a time
_PIECE = 1 << 20
#: whether a row of ``document`` is of a lost one, which the next run reads again
IS_LOST: ColumnElement[bool] = and_(
    Document.gone_at.is_(None),
    Document.length == 0,
    Document.quads > 0,
    Document.checksum.is_(None),
)


def is_lost(row: Mapping[str, Any]) -> bool:
    """Whether a row of ``document`` is of a lost one, as :data:`IS_LOST` says."""
    is_empty = row["length"] == 0 and row["checksum"] is None
    return row["gone_at"] is None and is_empty and row["quads"] > 0


def new_checksum() -> Any:
    """Return an object like those of ``hashlib`` for the lines of a document (128 bits)."""
    return hashlib.blake2b(digest_size=16)


def is_sound(file: IO[bytes] | None, offset: int, length: int, checksum: str | None) -> bool:
    """Whether a document's lines are in the file, unchanged.

    Without a checksum (in ledgers of older versions) they are sound if they are whole lines without
    zeros. A file that cannot be read is not sound.
    """
    if not length:
        return True
    if file is None:
        return False
    found = new_checksum()
    last, has_zeros = b"", False
    try:
        file.seek(offset)
        while length:
            piece = file.read(min(_PIECE, length))
            if not piece:
                return False
            length -= len(piece)
            found.update(piece)
            last, has_zeros = piece[-1:], has_zeros or b"\0" in piece
    except OSError:
        return False
    if checksum is None:
        return last == b"\n" and not has_zeros
    return bool(found.hexdigest() == checksum)


def pieces_of(file: IO[bytes], offset: int, length: int, size: int = _PIECE) -> Iterator[bytes]:
    """Yield the bytes at a place in pieces; raise ``StoreError`` if the file ends before."""
    while length > 0:
        file.seek(offset)
        piece = file.read(min(size, length))
        if not piece:
            raise StoreError(f"{file.name} was cut while it was read")
        yield piece
        offset += len(piece)
        length -= len(piece)


def damaged_rows(connection: Connection, path: Path) -> list[Any]:
    """Return id and URL of the documents whose lines in the file are damaged."""
    query = (
        select(Document.id, Document.url, Document.offset, Document.length, Document.checksum)
        .where(Document.gone_at.is_(None), Document.length > 0)
        .order_by(Document.offset)
    )
    rows = connection.execution_options(yield_per=1000).execute(query)
    if not path.is_file():
        return list(rows)
    with path.open("rb") as file:
        return [row for row in rows if not is_sound(file, row.offset, row.length, row.checksum)]


def note_lost(connection: Connection, ids: Sequence[int]) -> None:
    """Note that documents are lost."""
    for part in in_parts(ids):
        values = {**LOST, "terms_complete": None}
        connection.execute(update(Document).where(Document.id.in_(part)).values(**values))
    forget_terms(connection, ids)


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


def set_damaged_aside(folder: Path, name: str, ledger: str) -> list[str]:
    """Note the documents whose lines are damaged as lost; return their addresses.

    Raises ``StoreError``.
    """
    file = QuadsFile(folder, name, ledger)
    try:
        return file.set_damaged_aside()
    finally:
        file.close()


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
        shared: str = "",
        sync_interval: float = 0.0,
        history: bool = False,
    ) -> None:
        """Open the file ``name``, whose documents the database ``ledger`` lists.

        ``terms``: most terms to index of each document. ``shared``: the URL of the database that
        lists the graphs of all workers of a crawl; empty if only this folder's are in a store.
        ``sync_interval``: seconds after which written lines must be on the disk; 0: before the
        ledger lists them. ``history``: whether to keep what re-visits replace.
        Raises ``StoreError`` if the folder cannot
        be written, or if the file has lines but no ledger.
        """
        self.path = folder / name
        self._of_pages = ledger == EMBEDDED_LEDGER
        self._terms = terms
        self._end = 0
        self._next_revision = 1
        self._sync_interval = sync_interval
        #: since when lines wait to be brought to the disk (``time.monotonic``); ``None``: none do
        self._unsynced: float | None = None
        self._shared = connect(shared) if shared else None
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
        self._past: PastVersions | None = None
        if history:
            from semcrawl.metadata.pastversions import PastVersions  # few crawls need it

            self._past = PastVersions(folder, ledger)
            self._identities.remember(self._past.path)
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

    def set_damaged_aside(self) -> list[str]:
        """Note the documents whose lines are damaged as lost; return their addresses."""

        def note(connection: Connection) -> list[str]:
            rows = damaged_rows(connection, self.path)
            note_lost(connection, [row.id for row in rows])
            return [row.url for row in rows]

        return self._transact(note)

    def close(self) -> None:
        """Close file and ledger."""
        if self._unsynced is not None:
            with suppress(OSError):  # the lines are written; more cannot be done for them here
                sync(self._file.fileno())
        self._file.close()
        self._lock.close()
        self._engine.dispose()
        if self._past is not None:
            self._past.close()
        if self._shared is not None:
            self._shared.dispose()

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
        if self._past is None:
            return self._append_each(connection, items)
        # what is replaced is kept for certain before the ledger forgets it
        with self._past.batch() as batch:
            keep = partial(self._keep, connection, batch)
            return self._append_each(connection, items, keep=keep)

    def _append_each(
        self,
        connection: Connection,
        items: Sequence[RdfDocument | FetchRecord],
        **keeping: Callable[[str, str | None, float], None],
    ) -> list[Written]:
        begin = self._end
        history = DocumentHistory(
            connection,
            items,
            pages=self._of_pages,
            terms=self._terms,
            holds=self._holds,
            elsewhere=self._is_delivered,
            **keeping,
        )
        written = [
            self._append(connection, history, item)
            if isinstance(item, RdfDocument)
            else history.note_record(item, self._take_revision)
            for item in items
        ]
        history.flush()
        if self._end > begin:
            # data before ledger: after a power loss no row may speak of lines that are not there
            self._sync_if_due()
        return written

    def _sync_if_due(self) -> None:
        """Bring lines to the disk, unless those before them were not long ago."""
        now = time.monotonic()
        if self._unsynced is None:
            self._unsynced = now
        if now - self._unsynced >= self._sync_interval:
            sync(self._file.fileno())
            self._unsynced = None

    def _append(
        self, connection: Connection, history: DocumentHistory, document: RdfDocument
    ) -> Written:
        graphs: set[str] = set()

        def place(counter: TermCounter) -> dict[str, Any]:
            offset = self._end
            checksum = new_checksum()
            graphs.update(self._write_lines(document, counter, checksum))
            return {
                "offset": offset,
                "length": self._end - offset,
                "checksum": checksum.hexdigest(),
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

    def _is_delivered(self, key: str) -> bool:
        """Whether a worker of the crawl has made graphs of a document in a store."""
        if self._shared is None:
            return False
        query = select(MadeGraph.id).where(MadeGraph.document_key == key).limit(1)
        with self._shared.execution_options(read_only=True).connect() as connection:
            return connection.scalar(query) is not None

    def _holds(self, offset: int, length: int, checksum: str | None) -> bool:
        with self.path.open("rb") as file:
            return is_sound(file, offset, length, checksum)

    def _keep(
        self,
        connection: Connection,
        batch: PastBatch,
        key: str,
        checksum: str | None,
        until: float,
    ) -> None:
        """Keep a document as it is before a change, unless its lines are lost or damaged."""
        from semcrawl.metadata.pastversions import PIECE, Kept

        row = connection.execute(
            select(cast("Table", Document.__table__)).where(Document.url_key == key)
        ).one()
        if row.gone_at is not None:
            batch.keep(row, Kept.GONE, until)
        elif is_lost(row._asdict()) or not self._holds(row.offset, row.length, row.checksum):
            return
        elif row.checksum is not None and row.checksum == checksum:
            batch.keep(row, Kept.SAME, until)
        else:
            with self.path.open("rb") as file:
                batch.keep(row, Kept.HAD, until, pieces_of(file, row.offset, row.length, PIECE))

    def _write_lines(self, document: RdfDocument, counter: TermCounter, checksum: Any) -> set[str]:
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
            checksum.update(lines)
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
        is_new = not self.path.exists()
        # unbuffered: after a full disk, a buffer would write the rest of a failed batch later
        file = self.path.open("ab", buffering=0)
        if is_new:
            sync_folder(self.path.parent)
        return file

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
    """Forget the lines of documents that end after ``size``; the next run fetches these again.

    Return where the remaining lines end, and how many documents lost theirs.
    """
    line_end = Document.offset + Document.length
    end = int(connection.execute(select(func.max(line_end)).where(line_end <= size)).scalar() or 0)
    lost = connection.scalars(select(Document.id).where(line_end > size)).all()
    note_lost(connection, lost)
    return end, len(lost)
