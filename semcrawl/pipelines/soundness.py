"""Tells whether the lines of a document in a file of quads are those that were written.

The ledger has a checksum of each document's lines. A document whose lines are damaged is *lost*:
its row keeps the address, but no lines and no validators, so that the next run reads it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sqlalchemy import ColumnElement, Connection, and_, select, update

from semcrawl.metadata.history import LOST
from semcrawl.metadata.models import Document
from semcrawl.metadata.rows import in_parts
from semcrawl.metadata.termindex import forget_terms

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


def checksum_of(pieces: Iterable[bytes]) -> str:
    """Return the checksum of lines."""
    found = new_checksum()
    for piece in pieces:
        found.update(piece)
    return str(found.hexdigest())


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
