"""Opens a frontier's file and checks its first pages."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt, FrontierGone, FrontierUnavailable
from semcrawl.frontier.sqlite.layout import APPLICATION_ID, FORMAT_VERSION, TABLES

#: KiB of pages that a process keeps in memory
_CACHE = 16 * 1024
#: pages of the write-ahead log after which it goes into the file
_CHECKPOINT = 4000
#: prepared statements that a connection keeps
_STATEMENTS = 512


def replaced(path: Path) -> FrontierGone:
    """Make the error for a file that is not the one that was opened."""
    return FrontierGone(f"the frontier {path} was deleted or replaced while a crawl was using it")


def identity(path: Path) -> tuple[int, int]:
    """Which file this is: it changes when the file is replaced. Raises ``FrontierCorrupt``."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise replaced(path) from None
    return found.st_dev, found.st_ino


def connect(
    path: Path, crawl: str, options: bytes, *, make: bool, busy: float
) -> sqlite3.Connection:
    """Connect to the file, which is made if it is not there and ``make`` says so.

    ``busy``: seconds to wait for another process's transaction.
    Raises ``FrontierUnavailable``, ``FrontierCorrupt`` and errors of SQLite and the system.
    """
    if not path.exists():
        if not make:
            raise FrontierUnavailable(f"there is no frontier {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=busy, isolation_level=None, cached_statements=_STATEMENTS)
    try:
        _check(db, path, crawl, options)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{_CACHE}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
        db.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.close()
        raise
    return db


def _check(db: sqlite3.Connection, path: Path, crawl: str, options: bytes) -> None:
    """See that the file is a frontier of this format; make its tables if it is empty."""
    kind, version = _stamp(db)
    if (kind, version) == (0, 0):
        _check_empty(db, path)
        # (another process may do the same at this moment)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        try:
            kind, version = _stamp(db)
            if (kind, version) == (0, 0):
                _check_empty(db, path)
                for statement in TABLES:
                    db.execute(statement)
                db.execute(
                    "INSERT INTO crawl (one, name, uid, created, options) VALUES (1, ?, ?, ?, ?)",
                    (crawl, uuid4().hex, time.time(), options),
                )
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
                kind, version = APPLICATION_ID, FORMAT_VERSION
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    if kind != APPLICATION_ID:
        raise FrontierCorrupt(f"{path} is no frontier but another SQLite file")
    if version != FORMAT_VERSION:
        raise FrontierCorrupt(
            f"the frontier {path} has format {version}; this version of semcrawl reads format"
            f" {FORMAT_VERSION}"
        )


def _check_empty(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise FrontierCorrupt(f"{path} is no frontier but another SQLite file")


def _stamp(db: sqlite3.Connection) -> tuple[int, int]:
    kind = db.execute("PRAGMA application_id").fetchone()[0]
    return int(kind), int(db.execute("PRAGMA user_version").fetchone()[0])
