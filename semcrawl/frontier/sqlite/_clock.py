"""The crawl's clock for leases and delays, which setting the machine's clock does not change."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

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
