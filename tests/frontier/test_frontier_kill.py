"""Killing workers and the server loses no link and repeats at most what was in flight."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from backends import backend_at
from served_redis import ServedRedis

from semcrawl.frontier import Counts

WORKER = Path(__file__).with_name("kill_worker.py")
PAGES = 5000
#: runs, each with kills at other moments; ``make many`` has twenty
RUNS = int(os.environ.get("SEMCRAWL_TEST_KILL_RUNS", "4"))
#: links that a worker of the test takes at a time
IN_FLIGHT = 4


def start_worker(server: ServedRedis, log: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(WORKER), server.url, str(log), str(PAGES)])


def fetched(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def crawl_with_kills(server: ServedRedis, log: Path, seed: int) -> None:
    """Crawl with two workers; kill one of them three times, and the server once."""
    rng = random.Random(seed)
    moments = sorted(rng.sample(range(PAGES // 20, PAGES * 9 // 10), 4))
    victims = rng.sample(["worker", "worker", "worker", "server"], 4)
    workers = [start_worker(server, log) for _ in range(2)]
    try:
        for moment, victim in zip(moments, victims, strict=True):
            while fetched(log) < moment:
                assert all(worker.poll() in (None, 0) for worker in workers)
                time.sleep(0.001)
            if victim == "server":
                server.kill()
                server.start()
            else:
                one = rng.randrange(2)
                workers[one].kill()
                workers[one].wait()
                workers[one] = start_worker(server, log)
        assert [worker.wait(120) for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


async def look(server: ServedRedis) -> tuple[Counts, list[str]]:
    async with backend_at(server.url).frontier("kill", "test") as frontier:
        return await frontier.counts(["html"], []), await frontier.inspector.audit()


def check(server: ServedRedis, log: Path) -> None:
    times = Counter(int(line) for line in log.read_text().split())
    assert times.keys() == set(range(PAGES))
    assert times.total() - PAGES <= 3 * IN_FLIGHT
    counts, differences = asyncio.run(look(server))
    assert (counts.finished, counts.seen, differences) == (True, PAGES, [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_kills_in_a_crawl_of_5000_pages(
    start_served: Callable[..., ServedRedis], tmp_path: Path, seed: int
) -> None:
    server = start_served()
    crawl_with_kills(server, tmp_path / "log", seed)
    check(server, tmp_path / "log")
