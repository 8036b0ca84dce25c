"""Heartbeats: who makes progress, and who does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from semcrawl.heartbeats import Heartbeat, read_heartbeats, report


def beat(folder: Path, name: str = "a", *, at: float = 1000.0, pid: int | None = None) -> Heartbeat:
    folder.mkdir(exist_ok=True)
    heartbeat = Heartbeat(os.getpid() if pid is None else pid, at, 60.0, "3 links in flight")
    heartbeat.write(folder / f"{name}.json")
    return heartbeat


def ended() -> int:
    """The number of a process that is over."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_heartbeat_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = beat(tmp_path)
    assert list(read_heartbeats(tmp_path)) == [written]


def test_progress_within_the_patience_is_well_and_later_is_not(tmp_path: Path) -> None:
    beat(tmp_path)
    assert report(tmp_path, 1060.0) == (True, f"process {os.getpid()}: 3 links in flight")
    well, line = report(tmp_path, 1061.0)
    assert not well
    assert line == f"process {os.getpid()}: no progress for 61 s; 3 links in flight"


def test_one_stuck_process_among_others_is_not_well(tmp_path: Path) -> None:
    beat(tmp_path, "a", at=1000.0)
    beat(tmp_path, "b", at=1100.0)
    well, line = report(tmp_path, 1100.0)
    assert not well
    assert "no progress for 100 s" in line


def test_a_process_that_has_ended_says_nothing(tmp_path: Path) -> None:
    beat(tmp_path, "a", pid=ended())
    assert report(tmp_path, 1000.0) == (False, f"no crawl keeps a heartbeat in {tmp_path}")
    beat(tmp_path, "b")
    assert report(tmp_path, 1000.0)[0]


def test_a_clock_that_was_set_back_makes_nobody_stuck(tmp_path: Path) -> None:
    beat(tmp_path, at=5000.0)
    assert report(tmp_path, 1000.0)[0]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"pid": "x"}', b"\xff", b"{"])
def test_other_contents_are_told_in_a_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content)
    well, line = report(tmp_path, 0.0)
    assert not well
    assert line.startswith(f"a heartbeat in {tmp_path} cannot be read: ")
    assert "\n" not in line


def ask(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "semcrawl.heartbeats", *arguments],
        capture_output=True, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip


def test_the_exit_status_says_it(tmp_path: Path) -> None:
    """The folder is an argument, or a variable of the environment."""
    Heartbeat(os.getpid(), 1e12, 60.0, "2 links in flight").write(tmp_path / "a.json")
    assert ask(str(tmp_path)).returncode == 0
    assert "2 links in flight" in ask(SEMCRAWL_HEARTBEATS=str(tmp_path)).stdout
    assert ask(str(tmp_path / "other")).returncode == 1
    assert ask(SEMCRAWL_HEARTBEATS="").returncode == 2


def test_asking_loads_little() -> None:
    """A check every minute must not cost a second."""
    code = "import sys, json, semcrawl.heartbeats; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {"scrapy", "twisted", "redis", "lxml", "numpy", "rich"}
