"""Job folders of earlier versions, whose frontier an embedded Redis kept."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from frontier_calls import link
from redis import Redis

from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier import formerredis
from semcrawl.frontier.formerredis import has_former, take_over
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.localserver import RedisServer, wheel_server
from semcrawl.frontier.sqlite.frontier import SqliteFrontier


def former_job(folder: Path, links: int, name: str = "semcrawl") -> Path:
    """Make a job folder as an earlier version left it: an append-only file and a lock."""
    data = folder / "frontier"
    data.mkdir(parents=True)
    with RedisServer(data, wheel_server()) as redis:
        socket = redis.socket

        async def fill() -> None:
            async with RedisFrontier(socket, prefix=name, worker_id="w") as frontier:
                await frontier.add([link(str(n)) for n in range(links)])
                await frontier.set_values({"g": 2.5})

        asyncio.run(fill())
        with Redis(unix_socket_path=str(socket)) as redis:
            redis.rpush("html:start_urls", "http://seed.example/")
    (data / "redis.lock").touch()
    return folder


def contents(file: Path) -> tuple[int, dict[str, float], list[str]]:
    """Return how many links wait, the values, and the seeds on the list."""

    async def read() -> tuple[int, dict[str, float], list[str]]:
        async with SqliteFrontier(file, name="semcrawl", worker_id="w", guest=True) as frontier:
            counts = await frontier.counts(["html"], [])
            values = dict(await frontier.inspector.values())
            return counts.waiting, values, await frontier.seeds.take("html:start_urls", 9)

    return asyncio.run(read())


def state(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", ["semcrawl", "other"])
def test_all_of_a_former_frontier_goes_on(tmp_path: Path, name: str) -> None:
    job = former_job(tmp_path / "job", 1200, name)
    before = state(job / "frontier")
    take_over(job, job / "frontier.db", "semcrawl")
    assert contents(job / "frontier.db") == (1200, {"g": 2.5}, ["http://seed.example/"])
    assert state(job / "frontier.former") == before
    assert sorted(p.name for p in job.iterdir()) == ["frontier.db", "frontier.former"]
    take_over(job, job / "frontier.db", "semcrawl")  # once


def test_two_processes_take_it_over_once(tmp_path: Path) -> None:
    job = former_job(tmp_path / "job", 300)
    code = (
        "import sys; from pathlib import Path\n"
        "from semcrawl.frontier.formerredis import take_over\n"
        "job = Path(sys.argv[1]); take_over(job, job / 'frontier.db', 'semcrawl')"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(job)]) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    assert contents(job / "frontier.db")[0] == 300


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["data", "lines.jsonl", "frontier.db"])
def test_killed_in_the_middle_it_begins_again(tmp_path: Path, stage: str) -> None:
    job = former_job(tmp_path / "job", 3000)
    before = state(job / "frontier")
    code = (
        "import sys; from pathlib import Path\n"
        "from semcrawl.frontier.formerredis import take_over\n"
        "job = Path(sys.argv[1]); take_over(job, job / 'frontier.db', 'semcrawl')"
    )
    run = subprocess.Popen([sys.executable, "-c", code, str(job)])
    while not (job / "frontier.takeover" / stage).exists() and run.poll() is None:
        time.sleep(0.001)
    run.send_signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    assert not (job / "frontier.db").exists()
    assert state(job / "frontier") == before
    take_over(job, job / "frontier.db", "semcrawl")
    assert contents(job / "frontier.db")[0] == 3000


def test_a_whole_file_beside_the_old_folder_counts(tmp_path: Path) -> None:
    """Killed between the last two steps."""
    job = former_job(tmp_path / "job", 5)
    take_over(job, job / "frontier.db", "semcrawl")
    shutil.copytree(job / "frontier.former", job / "frontier")
    take_over(job, job / "frontier.db", "semcrawl")
    assert not has_former(job)
    assert contents(job / "frontier.db")[0] == 5


def test_without_a_binary_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "frontier").mkdir()
    (tmp_path / "frontier" / "redis.lock").touch()
    (tmp_path / "frontier" / "frontier.aof").write_bytes(b"data")
    before = state(tmp_path)
    monkeypatch.setattr(formerredis, "find_server", lambda: None)
    with pytest.raises(UsageError, match="install redis-server or valkey-server"):
        take_over(tmp_path, tmp_path / "frontier.db", "semcrawl")
    assert state(tmp_path) == before


@pytest.mark.slow
def test_data_that_no_server_reads_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "frontier").mkdir()
    (tmp_path / "frontier" / "redis.lock").touch()
    (tmp_path / "frontier" / "frontier.aof").write_bytes(b"no append-only file" * 9)
    before = state(tmp_path / "frontier")
    with pytest.raises(FrontierUnavailable, match="does not start"):
        take_over(tmp_path, tmp_path / "frontier.db", "semcrawl")
    assert state(tmp_path / "frontier") == before
    assert os.listdir(tmp_path / "frontier.takeover")
    assert not (tmp_path / "frontier.db").exists()
