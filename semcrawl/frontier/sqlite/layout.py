"""The tables of a frontier's file, and its opening.

Queues, hosts, groups and parts (the links of one group on one host in one queue) have small numbers
that never change and are never reused. Times are microseconds since the epoch.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt, FrontierGone, FrontierUnavailable

#: size of the page cache of a process in KiB
_CACHE = 16 * 1024
#: pages of the write-ahead log at which it is written into the file
_CHECKPOINT = 500
#: prepared statements that a connection caches
_STATEMENTS = 512

#: type of the file (``PRAGMA application_id``): "semf"
APPLICATION_ID = 0x73656D66
#: format of the tables (``PRAGMA user_version``); files of another format are refused
FORMAT_VERSION = 1

#: values of ``link.state``
WAITING, LEASED, DELAYED, FAILED, WITHHELD = range(5)
#: values of ``part.state``: no link waits; the group has links on this host alone; on several; on
#: several, and this host is parked as it may not be asked
EMPTY, LOCAL, SPREAD, PARKED = range(4)

#: counters of the table ``crawl``, and totals for displays
COUNTERS = (
    "seq",  # numbers of links given out
    "takes",  # numbers of takes given out
    "seen",
    "done",
    "failed",
    "expired",
    "dropped",
    "dead",  # hosts found dead
    "left_out",
    "left_full",
    "mirrors",
    "imported",  # whether seen_before has any
    "bodies",
    "pairs",
    "turn",  # virtual time of the fair queueing
)

TABLES = (
    """CREATE TABLE crawl (
      one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, uid TEXT NOT NULL,
      created REAL NOT NULL, options BLOB NOT NULL, """
    + ", ".join(f"{name} NOT NULL DEFAULT 0" for name in COUNTERS)
    + ")",
    "CREATE TABLE queue (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " hosts INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE label (queue INTEGER, label BLOB, n INTEGER NOT NULL,"
    " PRIMARY KEY (queue, label)) WITHOUT ROWID",
    # own pace, if any; times until which it cools and rests; requests in flight (busy), among them
    # queued errands (lined) and those that hold the host until they start (held); outage; counts
    """CREATE TABLE host (
      id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, delay INTEGER, concurrency INTEGER,
      cooling INTEGER, rest INTEGER, busy INTEGER NOT NULL DEFAULT 0,
      lined INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0, since INTEGER,
      till INTEGER, pause INTEGER, why TEXT, rests INTEGER, good BLOB, turn REAL,
      fetches INTEGER NOT NULL DEFAULT 0, targets INTEGER NOT NULL DEFAULT 0,
      barren INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX host_cooling ON host (cooling) WHERE cooling IS NOT NULL",
    "CREATE TABLE grp (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, value REAL)",
    # the first link of each part; for groups on one host the score (minus the value), for those on
    # several the turn of the host
    """CREATE TABLE part (
      id INTEGER PRIMARY KEY, queue INTEGER NOT NULL, host INTEGER NOT NULL, grp INTEGER NOT NULL,
      state INTEGER NOT NULL DEFAULT 0, score REAL, turn REAL, key REAL, seq INTEGER)""",
    "CREATE UNIQUE INDEX part_name ON part (host, grp, queue)",
    "CREATE INDEX part_local ON part (host, queue, score, key, seq) WHERE state = 1",
    "CREATE INDEX part_spread ON part (grp, queue, turn, key, seq) WHERE state = 2",
    "CREATE INDEX part_parked ON part (host) WHERE state = 3",
    "CREATE INDEX part_away ON part (grp, queue) WHERE state = 3",
    # groups with waiting links; owner: the part of a group on one host; else its first link
    """CREATE TABLE standing (
      queue INTEGER, grp INTEGER, parts INTEGER NOT NULL, owner INTEGER, score REAL NOT NULL,
      turn REAL, key REAL, seq INTEGER, PRIMARY KEY (queue, grp)) WITHOUT ROWID""",
    "CREATE INDEX standing_first ON standing (queue, score, turn, key, seq) WHERE seq IS NOT NULL",
    "CREATE INDEX standing_score ON standing (queue, score)",
    # hosts with waiting links; those that may be asked have their best local part
    """CREATE TABLE front (
      queue INTEGER, host INTEGER, waiting INTEGER NOT NULL, score REAL, turn REAL, key REAL,
      seq INTEGER, part INTEGER, PRIMARY KEY (queue, host)) WITHOUT ROWID""",
    "CREATE INDEX front_first ON front (queue, score, turn, key, seq) WHERE part IS NOT NULL",
    """CREATE TABLE link (
      seq INTEGER PRIMARY KEY, part INTEGER NOT NULL, key REAL NOT NULL, state INTEGER NOT NULL,
      tries INTEGER NOT NULL, lost INTEGER, label BLOB NOT NULL, blob BLOB NOT NULL)""",
    "CREATE INDEX link_order ON link (part, key) WHERE state = 0",
    # the site comes first, so that the links of one page are close together
    "CREATE TABLE seen (site INTEGER, digest BLOB, seq INTEGER, PRIMARY KEY (site, digest))"
    " WITHOUT ROWID",
    # imported digests, whose sites are unknown
    "CREATE TABLE seen_before (digest BLOB PRIMARY KEY) WITHOUT ROWID",
    # mark: NULL = its download is over, 0 = it holds the host, 1 = no delay, else its start
    """CREATE TABLE lease (
      id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, queue INTEGER NOT NULL, host INTEGER NOT NULL,
      worker TEXT NOT NULL, due INTEGER NOT NULL, mark INTEGER)""",
    "CREATE INDEX lease_due ON lease (due)",
    "CREATE TABLE delayed (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, queue INTEGER NOT NULL,"
    " host INTEGER NOT NULL, due INTEGER NOT NULL)",
    "CREATE INDEX delayed_due ON delayed (queue, due)",
    "CREATE INDEX delayed_host ON delayed (host)",
    "CREATE TABLE aside (queue INTEGER, seq INTEGER, PRIMARY KEY (queue, seq)) WITHOUT ROWID",
    # line: its number in the queue while it waits (mark is NULL then)
    """CREATE TABLE errand (
      host INTEGER, name TEXT, worker TEXT NOT NULL, void INTEGER NOT NULL, mark INTEGER,
      line INTEGER, PRIMARY KEY (host, name)) WITHOUT ROWID""",
    "CREATE INDEX errand_void ON errand (void)",
    "CREATE TABLE member (worker TEXT PRIMARY KEY, till INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE address (name TEXT PRIMARY KEY, free INTEGER, last INTEGER, till INTEGER)"
    " WITHOUT ROWID",
    "CREATE TABLE under_way (address TEXT, name TEXT, void INTEGER, PRIMARY KEY (address, name))"
    " WITHOUT ROWID",
    "CREATE TABLE reserved (host BLOB PRIMARY KEY, time INTEGER, address TEXT, till INTEGER)"
    " WITHOUT ROWID",
    "CREATE TABLE event (id INTEGER PRIMARY KEY AUTOINCREMENT, who BLOB NOT NULL, outcome BLOB,"
    " queue TEXT NOT NULL DEFAULT '', taken BLOB, more INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE state (name BLOB PRIMARY KEY, value BLOB, event INTEGER)",
    "CREATE TABLE cache (name BLOB PRIMARY KEY, value BLOB, till INTEGER NOT NULL)",
    "CREATE INDEX cache_till ON cache (till)",
    "CREATE TABLE seed (id INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL, seed BLOB)",
    "CREATE INDEX seed_list ON seed (list)",
    "CREATE TABLE pending (list TEXT, worker TEXT, seed BLOB, due INTEGER NOT NULL,"
    " PRIMARY KEY (list, worker, seed)) WITHOUT ROWID",
    "CREATE TABLE left_link (site INTEGER, digest BLOB, name BLOB NOT NULL,"
    " PRIMARY KEY (site, digest)) WITHOUT ROWID",
    "CREATE TABLE left_host (name BLOB PRIMARY KEY, n INTEGER NOT NULL, first BLOB NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE family (name TEXT, field TEXT, value, PRIMARY KEY (name, field)) WITHOUT ROWID",
    "CREATE TABLE withheld (family TEXT, seq INTEGER, PRIMARY KEY (family, seq)) WITHOUT ROWID",
    # mirrors: bodies of paths (body), equal bodies of two origins (pair), URLs of origins (origin),
    # pairs that are mirrors (mirrored), links that wait for a mirror's copy (copy)
    "CREATE TABLE mirror (kind TEXT, name TEXT, value, PRIMARY KEY (kind, name)) WITHOUT ROWID",
)


def replaced(path: Path) -> FrontierGone:
    """Return the error for a file that was deleted or replaced."""
    return FrontierGone(f"the frontier {path} was deleted or replaced while a crawl was using it")


def identity(path: Path) -> tuple[int, int]:
    """Return the identity of a file, which changes when it is replaced; raise ``FrontierGone``."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise replaced(path) from None
    return found.st_dev, found.st_ino


def connect(
    path: Path, crawl: str, options: bytes, *, make: bool, busy: float
) -> sqlite3.Connection:
    """Connect to the file; with ``make``, create a missing one.

    ``busy`` is the time to wait for another process's transaction, in seconds.
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
        # after a transaction that was larger, the log's file shrinks again
        db.execute(f"PRAGMA journal_size_limit = {_CHECKPOINT * 4096}")
        db.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.close()
        raise
    return db


def _check(db: sqlite3.Connection, path: Path, crawl: str, options: bytes) -> None:
    """Check that the file is a frontier of this format; create the tables in an empty one."""
    kind, version = _stamp(db)
    if (kind, version) == (0, 0):
        _check_empty(db, path)
        # another process may do the same at this moment
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
