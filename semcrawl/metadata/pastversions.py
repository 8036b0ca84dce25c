"""Keeps what re-visits replace: the former statements of documents (``SEMCRAWL_HISTORY``).

They are in a database of their own beside the ledger, so that nothing takes them for present ones.
It is committed before the ledger is: after a crash in between, it has a version that the ledger
still calls present, which readers pass over (its ``revision`` is not below the document's) and the
next re-visit keeps again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Double,
    Integer,
    LargeBinary,
    String,
    Text,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semcrawl.errors import StoreError
from semcrawl.metadata.database import CRAWL_DB, Tables, connect, crawl_db_url, readable_db_url

#: databases of former versions, by the ledger of the present ones
HISTORIES = {CRAWL_DB: "history.db", "embedded.db": "embedded-history.db"}
#: most bytes of a piece before compression
PIECE = 1 << 20


class Base(DeclarativeBase):
    """Base of the tables."""


class Kept(StrEnum):
    """What a document was before a change."""

    HAD = "had"  #: it had the statements that are kept
    GONE = "gone"  #: it did not exist
    SAME = "same"  #: it had the same statements as after the change, in a body of other bytes


class Version(Base):
    """A document before a change."""

    __tablename__ = "version"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    #: :func:`semcrawl.metadata.records.url_key` of ``url``
    url_key: Mapped[str] = mapped_column(String(64), index=True)
    url: Mapped[str] = mapped_column(Text)
    #: number in the ledger of the change that made this version
    revision: Mapped[int] = mapped_column(BigInteger)
    #: when it was fetched or found gone, and when the next version was
    since: Mapped[float] = mapped_column(Double)
    until: Mapped[float] = mapped_column(Double)
    kind: Mapped[str] = mapped_column(String(8))
    #: bytes of its lines
    length: Mapped[int] = mapped_column(BigInteger)


class VersionLines(Base):
    """A piece of the lines of a version, compressed."""

    __tablename__ = "version_lines"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    version_id: Mapped[int] = mapped_column(Integer, index=True)
    lines: Mapped[bytes] = mapped_column(LargeBinary)


#: the tables of such a database
HISTORY = Tables(Base.metadata, "semcrawl.metadata", ("0001",))


class PastVersions:
    """Writes the former versions of the documents of a ledger."""

    def __init__(self, folder: Path, ledger: str) -> None:
        """Open or make the database; raise ``StoreError`` if that fails."""
        self.path = folder / HISTORIES[ledger]
        self._engine = connect(crawl_db_url(folder, self.path.name), HISTORY)

    @contextmanager
    def batch(self) -> Iterator[PastBatch]:
        """Keep versions in one transaction, which ends with the block."""
        with self._engine.begin() as connection:
            yield PastBatch(connection)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()


class PastBatch:
    """Versions that are kept together."""

    def __init__(self, connection: Connection) -> None:
        """Write by ``connection``."""
        self._connection = connection

    def keep(self, row: Any, kind: Kept, until: float, pieces: Iterable[bytes] = ()) -> None:
        """Keep a row of ``document``, and its lines if there are any, before it changes.

        ``until``: time of the change. Keeping the same version again replaces the first.
        """
        since = row.fetched_at if row.gone_at is None else row.gone_at
        of_document = Version.url_key == row.url_key
        connection = self._connection
        # left by a process that died before the ledger knew of it
        newer = select(Version.id).where(of_document, Version.revision >= row.revision)
        if left := connection.scalars(newer).all():
            connection.execute(delete(VersionLines).where(VersionLines.version_id.in_(left)))
            connection.execute(delete(Version).where(Version.id.in_(left)))
        if kind is Kept.SAME:
            longer = update(Version).where(
                of_document, Version.kind == Kept.SAME, Version.until >= since
            )
            if connection.execute(longer.values(until=until)).rowcount:
                return
        version = {
            "url_key": row.url_key, "url": row.url, "revision": row.revision, "since": since,
            "until": until, "kind": kind, "length": row.length if kind is Kept.HAD else 0,
        }  # fmt: skip
        new = insert(Version).values(version).returning(Version.id)
        number = connection.execute(new).scalar_one()
        for piece in pieces:
            values = {"version_id": number, "lines": zlib.compress(piece)}
            connection.execute(insert(VersionLines).values(values))


@dataclass(frozen=True, slots=True)
class Former:
    """A former version as it was kept."""

    id: int
    since: float
    until: float
    kind: Kept
    length: int


class PastReader:
    """Reads the former versions of the documents of a ledger."""

    def __init__(self, folder: Path, ledger: str) -> None:
        """Open the database; raise ``StoreError`` if that fails."""
        self.path = folder / HISTORIES[ledger]
        self._engine = connect(readable_db_url(folder, self.path.name), HISTORY)

    def of(self, key: str, revision: int) -> list[Former]:
        """Return the versions before a change of a document, by its ``url_key``, oldest first."""
        columns = (Version.id, Version.since, Version.until, Version.kind, Version.length)
        query = (
            select(*columns)
            .where(Version.url_key == key, Version.revision < revision)
            .order_by(Version.revision)
        )
        with self._reading() as connection:
            found = connection.execute(query).all()
        return [Former(one.id, one.since, one.until, Kept(one.kind), one.length) for one in found]

    def pieces(self, version: Former) -> Iterator[bytes]:
        """Yield the lines of a version in pieces; raise ``StoreError`` if they are damaged."""
        query = (
            select(VersionLines.lines)
            .where(VersionLines.version_id == version.id)
            .order_by(VersionLines.id)
        )
        length = 0
        with self._reading() as connection:
            for packed in connection.execution_options(yield_per=1).execute(query).scalars():
                unpacking = zlib.decompressobj()
                try:
                    piece = unpacking.decompress(packed, PIECE)
                except zlib.error:
                    break
                length += len(piece)
                if not unpacking.eof:
                    break
                yield piece
        if length != version.length:
            raise StoreError(f"{self.path} is damaged: lines of a former version are missing")

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def _reading(self) -> Connection:
        return self._engine.execution_options(read_only=True).connect()
