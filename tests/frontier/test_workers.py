"""Names of workers, and what becomes of the leases of one that was killed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from semcrawl.frontier import Counts, FrontierOptions, SqliteFrontier, worker_name
from semcrawl.frontier.workers import is_gone, short_name


def test_a_worker_is_shown_by_its_machine_and_process() -> None:
    machine, pid, _ = worker_name().split("/")
    assert short_name(worker_name()) == f"{machine[:8]}/{pid}" == f"{machine[:8]}/{os.getpid()}"
    assert short_name("bench") == "bench"


@pytest.mark.slow
def test_a_worker_is_gone_when_its_process_has_ended() -> None:
    assert not is_gone(worker_name())
    code = "from semcrawl.frontier import worker_name; print(worker_name())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert is_gone(ended.stdout.strip())
    assert not is_gone(ended.stdout.strip().replace("/", "x/", 1))
    assert not is_gone("w1")


@pytest.mark.slow
def test_leases_of_a_killed_process_go_back_when_the_next_one_opens(tmp_path: Path) -> None:
    file = tmp_path / "frontier.db"
    code = f"""
import asyncio, os
from pathlib import Path
from semcrawl.frontier import *
async def main():
    frontier = SqliteFrontier(Path({str(file)!r}), name="c", worker_id=worker_name())
    await frontier.open()
    await frontier.add([Entry("http://h/1", "h", "html", "g")])
    print(len(await frontier.take(1, ["html"])), flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stdout == "1\n"
    options = FrontierOptions(delay=0)

    async def look() -> Counts:
        async with SqliteFrontier(
            file, name="c", worker_id=worker_name(), options=options
        ) as frontier:
            return await frontier.counts(["html"], [])

    counts = asyncio.run(look())
    assert (counts.waiting, counts.leased) == (1, 0)
