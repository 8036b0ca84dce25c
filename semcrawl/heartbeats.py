"""Heartbeats: small files that show health checks whether crawls make progress.

    python -m semcrawl.heartbeats [FOLDER]

reports whether every process with a heartbeat in the folder (default: the environment variable
``SEMCRAWL_HEARTBEATS``) makes progress, and exits with status 0 if so. It imports little, so a
health check of a container takes a few hundredths of a second.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from semcrawl.processes import is_alive
from semcrawl.wholefiles import whole_file

__all__ = ["Heartbeat", "main", "read_heartbeats", "report"]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The progress of one process.

    ``progressed`` is the time of its last progress (``time.time()``), ``patience`` the seconds
    after which it counts as stuck, and ``doing`` a description of its activity.
    """

    pid: int
    progressed: float
    patience: float
    doing: str

    def write(self, file: Path) -> None:
        """Write the heartbeat to a file atomically. Raises ``OSError``."""
        with whole_file(file) as out:
            out.write(json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a heartbeat. Raises ``OSError``, and ``ValueError`` for other content."""
        match json.loads(file.read_bytes()):
            case {
                "pid": int(pid),
                "progressed": int() | float() as progressed,
                "patience": int() | float() as patience,
                "doing": str(doing),
            }:
                return cls(pid, progressed, patience, doing)
        raise ValueError("it holds no heartbeat")

    def silence(self, now: float) -> float:
        """Return the seconds since the last progress."""
        return max(0.0, now - self.progressed)


def read_heartbeats(folder: Path) -> Iterator[Heartbeat]:
    """Yield the heartbeats of running processes.

    Raises ``OSError`` and ``ValueError`` for an unreadable file.
    """
    for file in sorted(folder.glob("*.json")):
        with suppress(FileNotFoundError):  # its process has just ended
            heartbeat = Heartbeat.read(file)
            if is_alive(heartbeat.pid):
                yield heartbeat


def report(folder: Path, now: float) -> tuple[bool, str]:
    """Return whether crawls run here and all make progress, and a line about it."""
    try:
        found = list(read_heartbeats(folder))
    except (OSError, ValueError) as error:
        return False, f"a heartbeat in {folder} cannot be read: {error}"
    if not found:
        return False, f"no crawl keeps a heartbeat in {folder}"
    stuck = [each for each in found if each.silence(now) > each.patience]
    if stuck:
        worst = max(stuck, key=lambda each: each.silence(now))
        seconds = worst.silence(now)
        return False, f"process {worst.pid}: no progress for {seconds:,.0f} s; {worst.doing}"
    return True, "; ".join(f"process {each.pid}: {each.doing}" for each in found)


def main() -> int:
    """Report on the folder of the command line; return the exit status."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SEMCRAWL_HEARTBEATS", "")
    if not folder:
        print("give a folder, or set SEMCRAWL_HEARTBEATS", file=sys.stderr)
        return 2
    well, line = report(Path(folder), time.time())
    print(line)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
