"""What the workers of a crawl share, in a SQLite file."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from math import inf, isfinite
from typing import Any
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import CrawlEvent, micros
from semcrawl.frontier.links import UNREADABLE
from semcrawl.frontier.sqlite.file import Store, Transaction, encoded
from semcrawl.frontier.sqlite.taking import unpack_taken

#: statements added per transaction
_AT_ONCE = 2000
#: created on first use, as most crawls do not need it and older files lack it
_TABLE = (
    "CREATE TABLE IF NOT EXISTS said"
    " (id INTEGER PRIMARY KEY, statement INTEGER NOT NULL UNIQUE, document INTEGER NOT NULL)"
)

logger = logging.getLogger(__name__)

#: approximate number of kept events
_EVENTS_KEPT = 100_000
#: number of events between deletions of old ones
_TRIMMED_EACH = 256
#: prefix of the cached entries that hold claims: the claimed name → its holder
_CLAIM = "claim:"
#: expired entries that a new one deletes
_CLEARED = 10


def append_event(
    t: Transaction,
    who: bytes,
    outcome: bytes | None,
    queue: str,
    taken: bytes | None = None,
    *,
    more: bool = False,
) -> int:
    """Append an event; return its number."""
    number = t.execute(
        "INSERT INTO event (who, outcome, queue, taken, more) VALUES (?, ?, ?, ?, ?)",
        (who, outcome, queue, taken, int(more)),
    ).lastrowid
    if number is None:
        raise t.corrupt("an event has no number")
    if number % _TRIMMED_EACH == 0:
        t.execute("DELETE FROM event WHERE id <= ?", (number - _EVENTS_KEPT,))
    return number


class SqliteShared:
    """What all workers share (:class:`~semcrawl.frontier.contract.Shared`)."""

    def __init__(self, store: Store, worker_id: str, lease_time: float) -> None:
        self.place = str(store.path)
        self._store = store
        self._worker_id = worker_id
        self._lease_time = micros(lease_time)
        #: id under which this worker claims
        self._holder = uuid4().bytes
        #: id of this worker's own events; a restarted worker has another
        self.incarnation = uuid4().bytes
        #: the last event read
        self.position = 0

    # -- kept by name
    async def get(self, name: str) -> bytes | None:
        """Return what is kept under a name, or ``None``."""
        key = encoded(name)
        row = await self._store.run(
            lambda t: t.row(
                "SELECT value FROM state WHERE name = ? UNION ALL"
                " SELECT value FROM cache WHERE name = ? AND till > ?",
                key,
                key,
                t.now,
            )
        )
        return None if row is None else row[0]

    async def put(self, name: str, content: bytes, *, seconds: float = inf) -> None:
        """Keep something under a name."""
        key = encoded(name)

        def put(t: Transaction) -> None:
            if not isfinite(seconds):
                t.execute("DELETE FROM cache WHERE name = ?", (key,))
                t.execute(
                    "INSERT INTO state VALUES (?, ?, NULL)"
                    " ON CONFLICT DO UPDATE SET value = excluded.value",
                    (key, content),
                )
                return
            t.execute("DELETE FROM state WHERE name = ?", (key,))
            values = (key, content, t.now + micros(seconds))
            t.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", values)
            t.execute(
                "DELETE FROM cache WHERE rowid IN"
                " (SELECT rowid FROM cache WHERE till <= ? ORDER BY till LIMIT ?)",
                (t.now, _CLEARED),
            )

        await self._store.run(put)

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it."""
        name = _CLAIM + name

        def claim(t: Transaction) -> bool:
            row = t.row("SELECT value, till FROM cache WHERE name = ?", encoded(name))
            if row is not None and row[0] != self._holder and row[1] > t.now:
                return False
            if seconds == 0:
                t.execute("DELETE FROM cache WHERE name = ?", (encoded(name),))
                return False
            values = (encoded(name), self._holder, t.now + micros(seconds))
            t.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", values)
            return True

        return await self._store.run(claim)

    # -- events
    async def exchange(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[CrawlEvent]:
        """Publish, then read the events since the last call, this worker's own included."""

        def both(t: Transaction) -> tuple[list[CrawlEvent], int]:
            self._publish(t, events, queue)
            return self._read(t, limit)

        found, self.position = await self._store.run(both)
        return found

    async def save_state(self, name: str, state: bytes) -> None:
        """Save the learned state together with this worker's position in the log."""
        sql = "INSERT OR REPLACE INTO state VALUES (?, ?, ?)"
        await self._store.write(sql, encoded(name), state, self.position)

    async def load_state(self, name: str) -> bytes | None:
        """Return the saved state, or ``None``; :meth:`exchange` continues from its position."""
        sql = "SELECT value, event FROM state WHERE name = ?"
        row = await self._store.row(sql, encoded(name))
        if row is None:
            return None
        if row[1] is not None:
            self.position = row[1]
        state: bytes = row[0]
        return state

    def _publish(self, t: Transaction, events: Sequence[bytes], queue: str) -> None:
        for number, event in enumerate(events, 1):
            append_event(t, self.incarnation, event, queue, more=number < len(events))

    def _read(self, t: Transaction, limit: int) -> tuple[list[CrawlEvent], int]:
        rows = t.execute(
            "SELECT id, who, outcome, queue, taken, more FROM event WHERE id > ? ORDER BY id"
            " LIMIT ?",
            (self.position, limit),
        ).fetchall()
        found = [event for _, *row in rows if (event := self._event(t, row)) is not None]
        return found, rows[-1][0] if rows else self.position

    def _event(self, t: Transaction, row: Sequence[Any]) -> CrawlEvent | None:
        """Decode an event; skip an unreadable one, as every worker does."""
        who, outcome, queue, taken, more = row
        try:
            links = unpack_taken(t, taken) if taken is not None else []
            return CrawlEvent(who == self.incarnation, outcome, queue, links, bool(more))
        except (FrontierCorrupt, *UNREADABLE) as error:
            logger.warning("an event of the crawl is passed over: %s", error)
            return None

    # -- seeds
    async def push_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds to the list ``key``."""
        rows = [(key, _bytes(seed)) for seed in seeds]
        if rows:
            sql = "INSERT INTO seed (list, seed) VALUES (?, ?)"
            await self._store.run(lambda t: t.executemany(sql, rows).rowcount)

    async def take_seeds(self, key: str, limit: int) -> list[str]:
        """Take seeds from the head of the list ``key``; expired pending ones come first."""

        def take(t: Transaction) -> list[bytes]:
            seeds = [
                row[0]
                for row in t.execute(
                    "DELETE FROM pending WHERE (list, worker, seed) IN (SELECT list, worker, seed"
                    " FROM pending WHERE list = ? AND due <= ? ORDER BY due LIMIT ?)"
                    " RETURNING seed",
                    (key, t.now, limit),
                ).fetchall()
            ]
            rows = t.execute(
                "DELETE FROM seed WHERE id IN (SELECT id FROM seed WHERE list = ? ORDER BY id"
                " LIMIT ?) RETURNING id, seed",
                (key, limit - len(seeds)),
            ).fetchall()
            seeds += [seed for _, seed in sorted(rows)]
            due = t.now + self._lease_time
            t.executemany(
                "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?)",
                [(key, self._worker_id, seed, due) for seed in seeds],
            )
            return seeds

        found = await self._store.run(take)
        return [seed.decode("utf-8", "surrogateescape") for seed in found]

    async def done_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are in the frontier now."""
        rows = [(key, self._worker_id, _bytes(seed)) for seed in seeds]
        if rows:
            sql = "DELETE FROM pending WHERE list = ? AND worker = ? AND seed = ?"
            await self._store.run(lambda t: t.executemany(sql, rows).rowcount)

    # -- statements
    async def add_statements(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add a document's statements or look them up; return for each whether no other made it."""
        new: list[bool] = []
        for first in range(0, len(statements), _AT_ONCE):  # in portions, as other workers wait
            said = [_signed(one) for one in statements[first : first + _AT_ONCE]]
            new += await self._store.run(partial(_add, _signed(document), said, limit, remember))
        return new


def _bytes(seed: str) -> bytes:
    return seed.encode("utf-8", "surrogateescape")


def _add(
    document: int, statements: Sequence[int], limit: int, remember: bool, t: Transaction
) -> list[bool]:
    t.execute(_TABLE)
    new = []
    for one in statements:
        row = t.row("SELECT document FROM said WHERE statement = ?", one)
        if row is None and remember:
            t.execute("INSERT INTO said (statement, document) VALUES (?, ?)", (one, document))
        new.append(row is None or row[0] == document)
    t.execute("DELETE FROM said WHERE id <= (SELECT max(id) FROM said) - ?", (limit,))
    return new


def _signed(number: int) -> int:
    """Return an unsigned 64-bit number as the signed one that SQLite stores."""
    return number - (1 << 64) if number >> 63 else number
