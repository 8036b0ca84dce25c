"""Removes the lines of replaced and gone documents from ``quads.nq``.

It copies the live lines to a file beside it, changes the ledger's offsets in one transaction, and
then replaces the file with the copy. After a crash in between, the next opening repairs this: the
copy has the length that the ledger says only if the offsets were committed.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from sqlalchemy import Connection, Table, bindparam, func, select, update

from semcrawl.machine.wholefiles import sync, sync_folder
from semcrawl.metadata.models import Document

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
