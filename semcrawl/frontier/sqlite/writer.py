"""Runs the transactions on a frontier's file, in one thread per process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from semcrawl.errors import FrontierCorrupt, FrontierError, FrontierUnavailable
from semcrawl.frontier.optionblob import pack_options
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.sqlite._clock import CrawlClock
from semcrawl.frontier.sqlite.layout import connect, identity, replaced
from semcrawl.frontier.sqlite.transaction import Ids, Transaction

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
