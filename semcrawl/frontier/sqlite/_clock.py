"""The crawl's clock: leases and delays go by it, whatever is done to the machine's."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class CrawlClock:
    """Counts from the start of the machine on, so that setting its clock moves nothing.

    All processes of a machine agree on it by the table ``clock``. Where the start of the machine is
    not known (systems other than Linux), the machine's clock counts.
    """

    def __init__(self) -> None:
        #: time on the machine's clock when it started (µs), as the first process saw it
        self._began: int | None = None

    def agree(self, db: sqlite3.Connection) -> None:
        """Take over the clock of a file, or set it if the machine was started since."""
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
        """The time (µs)."""
        if self._began is None:
            return time.time_ns() // 1000
        return self._began + _since_boot()


def _since_boot() -> int:
    """Time since the machine was started, sleep included (µs)."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
