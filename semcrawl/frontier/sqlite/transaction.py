"""A transaction: its time, the crawl's counters, and the rows that it changes."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.sqlite.layout import COUNTERS

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
