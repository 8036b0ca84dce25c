"""The frontier's file: tables, clock, transactions, and the thread that writes them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

import msgpack

from semcrawl.errors import FrontierCorrupt, FrontierError, FrontierGone, FrontierUnavailable
from semcrawl.frontier.contract import FrontierOptions
from semcrawl.frontier.links import pack_options, text

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class CrawlClock:
    """Counts from the start of the machine, so that setting its clock moves nothing.

    All processes of a machine agree on it by the table ``clock``. On systems other than Linux, the
    start of the machine is unknown, and its clock counts.
    """

    def __init__(self) -> None:
        #: time at which the machine started (µs), by its clock when the first process read it
        self._began: int | None = None

    def agree(self, db: sqlite3.Connection) -> None:
        """Adopt the clock of a file, or set it if the machine was restarted since."""
        try:
            boot = _BOOT_ID.read_text("ascii").strip()
        except (OSError, ValueError):
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute(
                "CREATE TABLE IF NOT EXISTS clock (one INTEGER PRIMARY KEY CHECK (one = 1),"
                " boot TEXT NOT NULL, began INTEGER NOT NULL)"
            )
            row = db.execute("SELECT boot, began FROM clock").fetchone()
            if row is None or row[0] != boot:
                row = boot, time.time_ns() // 1000 - _since_boot()
                db.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", row)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        self._began = int(row[1])

    def now(self) -> int:
        """Return the time (µs)."""
        if self._began is None:
            return time.time_ns() // 1000
        return self._began + _since_boot()


def _since_boot() -> int:
    """Return the time since the machine started, including sleep (µs)."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


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
    "imported",  # whether seen_before has any
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


#: most numbers of hosts, groups and parts that a process caches
_REMEMBERED = 10_000
_CRAWL = ("uid", "options", *COUNTERS)
_READ_CRAWL = f"SELECT {', '.join(_CRAWL)} FROM crawl"  # noqa: S608 - our own names


def encoded(name: str) -> bytes:
    """Encode a name of a URL, whatever its characters."""
    return name.encode("utf-8", "surrogatepass")


class Ids:
    """Caches the numbers of queues, hosts, groups and parts, which never change."""

    def __init__(self) -> None:
        self.clear()
        #: the crawl's options when last read
        self.packed = b""
        self.options: dict[str, Any] = {}

    def clear(self) -> None:
        """Forget all, as a transaction that made some was rolled back."""
        self.queues: dict[str, int] = {}
        self.queue_names: dict[int, str] = {}
        self.hosts: dict[str, int] = {}
        self.groups: dict[str, int] = {}
        self.group_names: dict[int, str] = {}
        self.parts: dict[tuple[int, int, int], int] = {}

    def trim(self) -> None:
        """Forget numbers when there are too many."""
        if max(len(self.hosts), len(self.groups), len(self.parts)) > _REMEMBERED:
            self.clear()
        if len(self.group_names) > _REMEMBERED:
            self.group_names.clear()


@dataclass(slots=True)
class Host:
    """A row of the table of hosts."""

    id: int
    name: bytes
    delay: int | None
    concurrency: int | None
    cooling: int | None
    rest: int | None
    busy: int
    lined: int
    held: int
    since: int | None
    till: int | None
    pause: int | None
    why: str | None
    rests: int | None
    good: bytes | None
    turn: float | None
    fetches: int
    targets: int
    barren: int


_HOST = [field.name for field in fields(Host)]
_READ_HOST = f"SELECT {', '.join(_HOST)} FROM host WHERE id = ?"  # noqa: S608 - our own names
#: columns that change with each request
_HOT = ("cooling", "rest", "busy", "lined", "held", "turn")
_COLD = [name for name in _HOST[2:] if name not in _HOT]
_hot_of, _cold_of = attrgetter(*_HOT), attrgetter(*_COLD)


def _update(names: Sequence[str]) -> str:
    sets = ", ".join(f"{name} = ?" for name in names)
    return f"UPDATE host SET {sets} WHERE id = ?"  # noqa: S608 - our own names


_WRITE_HOT, _WRITE_HOST = _update(_HOT), _update([*_HOT, *_COLD])


@dataclass(slots=True)
class Part:
    """A row of the table of parts: the links of one group on one host in one queue."""

    id: int
    queue: int
    host: int
    grp: int
    state: int
    score: float | None
    turn: float | None
    key: float | None
    seq: int | None


_PART = ", ".join(field.name for field in fields(Part))
_READ_PART = f"SELECT {_PART} FROM part WHERE id = ?"  # noqa: S608 - our own names


class Transaction:
    """A transaction on the file.

    :meth:`flush` writes changed hosts and counters, before a statement that depends on them and at
    the end.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, ids: Ids, now: int) -> None:
        self.execute = db.execute
        self.executemany = db.executemany
        self.path = path
        self.ids = ids
        #: time by the crawl's clock (µs)
        self.now = now
        row = db.execute(_READ_CRAWL).fetchone()
        if row is None:
            raise self.corrupt("it has no crawl")
        self.uid: str = row[0]
        if row[1] != ids.packed:
            ids.packed, ids.options = row[1], self._unpacked(row[1])
        self.options = ids.options
        #: counters of the crawl by name; change them by :meth:`count`
        self.totals: dict[str, Any] = dict(zip(COUNTERS, row[2:], strict=True))
        self._changed: set[str] = set()
        self._hosts: dict[int, Host] = {}
        #: the columns of each host that seldom change, as they were read
        self._cold: dict[int, Any] = {}
        self._parts: dict[int, Part] = {}
        self._touched: set[int] = set()
        self._labels: defaultdict[tuple[int, bytes], int] = defaultdict(int)
        self._waiting: defaultdict[tuple[int, int], int] = defaultdict(int)
        ids.trim()

    def corrupt(self, why: str) -> FrontierCorrupt:
        """Return the error for data that no frontier wrote."""
        return FrontierCorrupt(f"the frontier {self.path} is corrupt: {why}")

    def _unpacked(self, options: bytes) -> dict[str, Any]:
        try:
            found = msgpack.unpackb(options)
        except (ValueError, msgpack.UnpackException):
            found = None
        if not isinstance(found, dict):
            raise self.corrupt("the crawl has no options")
        return found

    def row(self, sql: str, *values: Any) -> Any:
        """Return the first row that a query finds, or ``None``."""
        return self.execute(sql, values).fetchone()

    # -- counters
    def count(self, name: str, number: int = 1) -> int:
        """Add to a counter of the crawl; return it."""
        self.totals[name] += number
        self._changed.add(name)
        return int(self.totals[name])

    def set_total(self, name: str, value: float) -> None:
        """Set a counter of the crawl."""
        self.totals[name] = value
        self._changed.add(name)

    def label(self, queue: int, label: bytes, number: int) -> None:
        """Add to the number of waiting links with a label."""
        self._labels[queue, label] += number

    def waiting(self, queue: int, host: int, number: int) -> None:
        """Add to the number of waiting links of a host."""
        self._waiting[queue, host] += number

    # -- numbers of names
    def queue(self, name: str) -> int:
        """Return the number of a queue; insert a missing one."""
        found = self.ids.queues.get(name)
        if found is None:
            self.execute("INSERT OR IGNORE INTO queue (name) VALUES (?)", (name,))
            found = int(self.row("SELECT id FROM queue WHERE name = ?", name)[0])
            self.ids.queues[name] = found
            self.ids.queue_names[found] = name
        return found

    def known_queues(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of those queues that ever held links."""
        found = []
        for name in names:
            number = self.ids.queues.get(name)
            if number is None:
                row = self.row("SELECT id FROM queue WHERE name = ?", name)
                if row is None:
                    continue
                number = self.ids.queues[name] = int(row[0])
                self.ids.queue_names[number] = name
            found.append(number)
        return found

    def queue_name(self, number: int) -> str:
        """Return the name of a queue."""
        if number not in self.ids.queue_names:
            row = self.row("SELECT name FROM queue WHERE id = ?", number)
            if row is None:
                raise self.corrupt(f"no queue {number}")
            self.ids.queue_names[number] = row[0]
        return self.ids.queue_names[number]

    def all_queues(self) -> list[int]:
        """Return the numbers of all queues."""
        return [row[0] for row in self.execute("SELECT id FROM queue ORDER BY id")]

    def host_id(self, name: str) -> int:
        """Return the number of a host; insert a missing one."""
        found = self.ids.hosts.get(name)
        if found is None:
            found = self.ids.hosts[name] = self._named("host", encoded(name))
        return found

    def group_id(self, name: str) -> int:
        """Return the number of a group; insert a missing one."""
        found = self.ids.groups.get(name)
        if found is None:
            found = self.ids.groups[name] = self._named("grp", encoded(name))
        return found

    def _named(self, table: str, name: bytes) -> int:
        row = self.row(f"SELECT id FROM {table} WHERE name = ?", name)  # noqa: S608
        if row is None:
            row = self.row(f"INSERT INTO {table} (name) VALUES (?) RETURNING id", name)  # noqa: S608
        return int(row[0])

    def part_id(self, queue: int, host: int, grp: int) -> int:
        """Return the number of a part; insert a missing one."""
        names = (queue, host, grp)
        found = self.ids.parts.get(names)
        if found is None:
            row = self.row(
                "SELECT id FROM part WHERE host = ? AND grp = ? AND queue = ?", host, grp, queue
            )
            if row is None:
                sql = "INSERT INTO part (queue, host, grp) VALUES (?, ?, ?) RETURNING id"
                row = self.row(sql, queue, host, grp)
            found = self.ids.parts[names] = int(row[0])
        return found

    # -- rows
    def host(self, number: int) -> Host:
        """Return the row of a host; after a change, call :meth:`touch`."""
        host = self._hosts.get(number)
        if host is None:
            row = self.row(_READ_HOST, number)
            if row is None:
                raise self.corrupt(f"no host {number}")
            host = self._hosts[number] = Host(*row)
            self._cold[number] = _cold_of(host)
        return host

    def host_named(self, name: str) -> Host:
        """Return the row of a host by its name; insert a missing one."""
        return self.host(self.host_id(name))

    def host_name(self, number: int) -> str:
        """Return the name of a host."""
        return text(self.host(number).name)

    def touch(self, host: Host) -> None:
        """Note that a host's row was changed."""
        self._touched.add(host.id)

    def part(self, number: int) -> Part:
        """Return the row of a part; write changes at once, and make them in this object too."""
        part = self._parts.get(number)
        if part is None:
            row = self.row(_READ_PART, number)
            if row is None:
                raise self.corrupt(f"no part {number}")
            part = self._parts[number] = Part(*row)
        return part

    def group_name(self, number: int) -> str:
        """Return the name of a group."""
        name = self.ids.group_names.get(number)
        if name is None:
            row = self.row("SELECT name FROM grp WHERE id = ?", number)
            if row is None:
                raise self.corrupt(f"no group {number}")
            name = self.ids.group_names[number] = text(row[0])
        return name

    def flush(self) -> None:
        """Write the changes."""
        if self._touched:
            for number in self._touched:
                host = self._hosts[number]
                cold = _cold_of(host)
                if cold == self._cold[number]:
                    self.execute(_WRITE_HOT, (*_hot_of(host), number))
                else:
                    self._cold[number] = cold
                    self.execute(_WRITE_HOST, (*_hot_of(host), *cold, number))
            self._touched.clear()
        if self._labels:
            self._flush_labels()
        if self._waiting:
            self._flush_waiting()
        if self._changed:
            names = sorted(self._changed)
            sets = ", ".join(f"{name} = ?" for name in names)
            self.execute(f"UPDATE crawl SET {sets}", [self.totals[n] for n in names])  # noqa: S608
            self._changed.clear()

    def _flush_labels(self) -> None:
        for (queue, label), number in self._labels.items():
            if number:
                sql = (
                    "INSERT INTO label VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
                    " SET n = n + excluded.n RETURNING n"
                )
                if self.execute(sql, (queue, label, number)).fetchall()[0][0] <= 0:
                    sql = "DELETE FROM label WHERE queue = ? AND label = ?"
                    self.execute(sql, (queue, label))
        self._labels.clear()

    def _flush_waiting(self) -> None:
        for (queue, host), number in self._waiting.items():
            if not number:
                continue
            sql = (
                "INSERT INTO front (queue, host, waiting) VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting RETURNING waiting"
            )
            waiting = self.execute(sql, (queue, host, number)).fetchall()[0][0]
            change = int(waiting == number) if number > 0 else -int(waiting <= 0)
            if waiting <= 0:
                self.execute("DELETE FROM front WHERE queue = ? AND host = ?", (queue, host))
            if change:
                self.execute("UPDATE queue SET hosts = hosts + ? WHERE id = ?", (change, queue))
        self._waiting.clear()


logger = logging.getLogger(__name__)

T = TypeVar("T")
#: most calls that are committed together
_TOGETHER = 32
#: seconds to wait for an unusable file when a worker opens the frontier
_OPENING_PATIENCE = 2.0
#: seconds that SQLite itself waits for another process's transaction
_BUSY = 5.0
#: errors of SQLite that may be temporary: another process, a full or missing disk
_PASSING = {
    sqlite3.SQLITE_BUSY: "another process has locked it",
    sqlite3.SQLITE_LOCKED: "another process has locked it",
    sqlite3.SQLITE_FULL: "no space left on device",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_READONLY: "it cannot be written",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_NOMEM: "out of memory",
}
_Job = tuple[Callable[[Transaction], Any], "asyncio.Future[Any]"]


class Store:
    """The file of a frontier; a call is one transaction in the store's own thread.

    Calls that wait for the thread are committed together. While the file is unusable, calls wait up
    to ``patience`` seconds. One line in the log says so, and one when it is usable again.
    """

    def __init__(self, path: Path, options: FrontierOptions) -> None:
        self.path = path
        self._options = options
        self._patience = options.patience
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._ids = Ids()
        self._clock = CrawlClock()
        #: unique id of the opened crawl
        self._uid = ""
        self._opened = False

    @property
    def is_open(self) -> bool:
        """Whether it is open."""
        return self._thread is not None

    async def open(self, crawl: str, *, make: bool) -> None:
        """Open or create the file; raise as ``Frontier.open`` does."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="frontier", daemon=True)
            self._thread.start()
        self._opening = (crawl, pack_options(self._options), make)
        await self._ask(lambda _: None)

    async def run(self, call: Callable[[Transaction], T]) -> T:
        """Run a transaction; return its result once it is committed."""
        if self._thread is None:
            raise FrontierUnavailable(f"the frontier {self.path} is not open")
        result: T = await self._ask(call)
        return result

    async def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        return await self.run(lambda t: t.execute(sql, values).fetchall())

    async def row(self, sql: str, *values: Any) -> Any:
        """Return the first row that a query finds, or ``None``."""
        return await self.run(lambda t: t.row(sql, *values))

    async def write(self, sql: str, *values: Any) -> None:
        """Execute a statement that writes."""
        await self.run(lambda t: t.execute(sql, values).rowcount)

    def hurry(self, patience: float) -> None:
        """Wait at most ``patience`` seconds for an unusable file from now on."""
        self._patience = min(self._patience, patience)

    async def close(self) -> None:
        """End the thread after the waiting calls."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            await asyncio.to_thread(thread.join)

    async def _ask(self, call: Callable[[Transaction], Any]) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put((call, future))
        # a transaction that has begun is finished even if its caller is gone
        return await future

    # -- in the thread
    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            jobs: list[_Job] = []
            while job is not None:
                jobs.append(job)
                if len(jobs) >= _TOGETHER or self._jobs.empty() or not self._opened:
                    break
                job = self._jobs.get()
            if jobs:
                self._through(jobs)
            if job is None:
                break
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _through(self, jobs: list[_Job]) -> None:
        """Run transactions repeatedly until they succeed or the patience is over."""
        since: float | None = None
        pause = 0.05
        reported = False
        while True:
            try:
                if not self._opened:
                    self._open()
                    _settle([(jobs[0][1], None, None)])
                    return
                answers = self._committed(jobs)
                break
            except (sqlite3.Error, FrontierError, OSError) as error:
                reason = self._meaning(error)
                self._forget()
                now = time.monotonic()
                since = now if since is None else since
                patience = self._patience
                if not self._opened:
                    patience = min(patience, _OPENING_PATIENCE)
                left = since + patience - now
                if isinstance(reason, FrontierCorrupt) or left <= 0 or _is_final(error):
                    _settle([(future, None, reason) for _, future in jobs])
                    return
                if not reported and self._opened:
                    reported = True
                    logger.warning("%s; waiting up to %.0f s for it", reason, left)
                time.sleep(min(pause, left, 1.0))
                pause = min(pause * 2, 1.0)
            except BaseException as error:
                self._forget()
                _settle([(future, None, error) for _, future in jobs])
                return
        if reported:
            logger.warning("the frontier %s is usable again", self.path)
        _settle([(job[1], *answer) for job, answer in zip(jobs, answers, strict=True)])

    def _open(self) -> None:
        crawl, packed, make = self._opening
        self._connection = connect(self.path, crawl, packed, make=make, busy=self._busy())
        self._clock.agree(self._connection)
        self._file = identity(self.path)
        self._opened = True

    def _busy(self) -> float:
        return min(_BUSY, self._patience)

    def _committed(self, jobs: list[_Job]) -> list[tuple[Any, BaseException | None]]:
        """Run transactions and commit them; one that raises an error of its own is undone alone."""
        if self._connection is None:
            self._connection = connect(self.path, "", b"", make=False, busy=self._busy())
            self._file = self._file or identity(self.path)
        if identity(self.path) != self._file:
            raise replaced(self.path)
        db = self._connection
        answers: list[tuple[Any, BaseException | None]] = []
        db.execute("BEGIN IMMEDIATE")
        try:
            for call, _ in jobs:
                if len(jobs) > 1:
                    db.execute("SAVEPOINT one")
                transaction = Transaction(db, self.path, self._ids, self._clock.now())
                self._uid = self._uid or transaction.uid
                try:
                    if transaction.uid != self._uid:
                        raise replaced(self.path)
                    answer = call(transaction)
                    transaction.flush()
                    answers.append((answer, None))
                except (FrontierError, ValueError) as error:
                    self._ids.clear()
                    if len(jobs) == 1:
                        db.execute("ROLLBACK")
                        return [(None, error)]
                    db.execute("ROLLBACK TO one")
                    answers.append((None, error))
                if len(jobs) > 1:
                    db.execute("RELEASE one")
            db.execute("COMMIT")
        except BaseException:
            self._ids.clear()
            with contextlib.suppress(sqlite3.Error):
                if db.in_transaction:
                    db.execute("ROLLBACK")
            raise
        return answers

    def _forget(self) -> None:
        """Close a failed connection; the next call makes a new one."""
        self._ids.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _meaning(self, error: Exception) -> FrontierError:
        return meaning(error, self.path)


def meaning(error: Exception, path: Path) -> FrontierError:
    """Describe an error of SQLite or of the system in one line."""
    if isinstance(error, FrontierError):
        return error
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if why := _PASSING.get(code):
            return FrontierUnavailable(f"the frontier {path} is not usable: {why}")
        if code == sqlite3.SQLITE_NOTADB:
            return FrontierCorrupt(f"{path} is no frontier: it is no SQLite file, or is damaged")
        return FrontierCorrupt(f"the frontier {path} is corrupt: {error}")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FrontierUnavailable(f"the frontier {path} is not usable: {reason.lower()}")


class SqlitePart:
    """A part of a frontier in a file."""

    def __init__(self, store: Store) -> None:
        self._store = store


def _settle(settled: Sequence[tuple[asyncio.Future[Any], Any, BaseException | None]]) -> None:
    """Give calls their results, in the thread of their event loop."""
    # no caller waits on a closed loop
    with contextlib.suppress(RuntimeError):
        settled[0][0].get_loop().call_soon_threadsafe(_set, settled)


def _set(settled: Sequence[tuple[asyncio.Future[Any], Any, BaseException | None]]) -> None:
    for future, answer, failure in settled:
        if future.done():
            continue
        if failure is None:
            future.set_result(answer)
        else:
            future.set_exception(failure)


def _is_final(error: Exception) -> bool:
    """Whether waiting would not help."""
    return isinstance(error, FrontierError)
