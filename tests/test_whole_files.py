"""Files are written whole or not at all, and an error names the file."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from semcrawl.frontier.contract import Entry, FrontierOptions
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.wholefiles import whole_file


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_blamed_on_the_file() -> None:
    """The system names no file in the error of a write."""
    with (
        pytest.raises(OSError, match="No space left") as caught,
        whole_file(Path("/dev/full")) as f,
    ):
        f.write(b"x" * 100_000)
    assert caught.value.filename == "/dev/full"


def test_an_error_of_something_else_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, whole_file(tmp_path / "a"):
        (tmp_path / "other").read_bytes()
    assert caught.value.filename == str(tmp_path / "other")
    with pytest.raises(OSError, match="No space") as plain, whole_file(tmp_path / "a"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert plain.value.filename == str(tmp_path / "a")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
async def test_the_log_of_a_small_frontier_is_small(tmp_path: Path) -> None:
    """A disk with room for the crawl's results must not be filled by the frontier's log."""
    file = tmp_path / "frontier.db"
    options = FrontierOptions(delay=0)
    async with SqliteFrontier(file, name="a", worker_id="w", options=options) as frontier:
        for n in range(1200):
            await frontier.add([Entry(f"http://a.example/{n}", "a.example", "html", "g", n)])
        log = (tmp_path / "frontier.db-wal").stat().st_size
    assert log < 4_000_000
    assert sqlite3.connect(file).execute("SELECT count(*) FROM link").fetchone()[0] == 1200
