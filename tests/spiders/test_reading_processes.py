"""Reading processes: their owners share them, and our failures are no document's."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from harvest.runs import start_harvest
from hostile.measures import wait
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.links import ExtractionOptions
from semcrawl.rdf import ReadOptions
from semcrawl.reading.pool import ReadingLost, ReadingProcesses, Shares
from semcrawl.reading.reader import Reader
from spiders.site import handler, page
from spiders.test_slow_documents import JSON_LD, LD, read, small

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="it has no such signals"),
]


def end_after(marks: Path, times: int, number: int) -> str:
    """End the own process as often as told, then answer."""
    tries = len(list(marks.iterdir()))
    (marks / str(tries)).touch()
    if tries < times:
        os.kill(os.getpid(), number)
    return "read"


@pytest.mark.parametrize("times", [0, 1])
def test_a_task_whose_process_somebody_ends_is_tried_once_more(times: int, tmp_path: Path) -> None:
    processes = ReadingProcesses(2, 60)
    assert asyncio.run(processes.run(end_after, tmp_path, times, signal.SIGKILL)) == "read"
    processes.close()


@pytest.mark.parametrize(("number", "ours"), [(signal.SIGKILL, True), (signal.SIGSEGV, False)])
def test_a_loss_says_whose_fault_it_is(number: int, ours: bool, tmp_path: Path) -> None:
    """Parsers that overflow their stack are the document's; they are not tried again."""
    processes = ReadingProcesses(2, 60)
    with pytest.raises(ReadingLost) as lost:
        asyncio.run(processes.run(end_after, tmp_path, 2, number))
    assert lost.value.ours == ours
    assert len(list(tmp_path.iterdir())) == 1 + ours
    processes.close()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


Task = tuple[str, float]


def order(places: int, tasks: list[Task]) -> list[tuple[float, float, str]]:
    """Start and end of tasks that wait from the beginning, in the order of their starts."""
    clock, done = Clock(), list[tuple[float, float, str]]()

    async def run() -> None:
        shares = Shares(places, clock)
        ends = dict[asyncio.Event, float]()

        async def task(owner: str, seconds: float) -> None:
            async with shares.place(owner):
                began, over = clock.now, asyncio.Event()
                ends[over] = clock.now + seconds
                done.append((began, clock.now + seconds, owner))
                await over.wait()

        running = [asyncio.create_task(task(*each)) for each in tasks]
        while not all(each.done() for each in running):
            for _ in range(3 * len(tasks) + 3):
                await asyncio.sleep(0)
            if ends:
                first = min(ends, key=ends.__getitem__)
                clock.now = ends.pop(first)
                first.set()
                for _ in range(3 * len(tasks) + 3):
                    await asyncio.sleep(0)

    asyncio.run(run())
    return done


def test_slow_documents_of_one_owner_leave_a_place_to_others() -> None:
    slow = [("evil", 100.0)] * 20
    good = [(f"good{n}", 1.0) for n in range(10)]
    ends = {owner: end for _, end, owner in order(2, slow + good) if owner != "evil"}
    assert max(ends.values()) == 10.0


def test_who_has_used_little_comes_first_where_there_is_one_place() -> None:
    begun = [owner for _, _, owner in order(1, [("evil", 9.0)] * 5 + [("good", 1.0)] * 5)]
    assert begun == ["evil"] + ["good"] * 5 + ["evil"] * 4


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([1.0, 2.0, 50.0])), max_size=12),
)
def test_each_task_gets_its_turn_and_no_place_is_given_twice(
    places: int, tasks: list[Task]
) -> None:
    done = order(places, tasks)
    assert sorted(owner for _, _, owner in done) == sorted(owner for owner, _ in tasks)
    for began, _, _ in done:
        at_once = [owner for start, end, owner in done if start <= began < end]
        assert len(at_once) <= places
        assert all(at_once.count(owner) <= max(1, places - 1) for owner in at_once)


def test_a_cancelled_task_leaves_its_place() -> None:
    async def run() -> None:
        shares = Shares(1)

        async def hold() -> None:
            async with shares.place("a"):
                await asyncio.sleep(3600)

        tasks = [asyncio.create_task(hold()) for _ in range(3)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with shares.place("b", alone=True):
            pass

    asyncio.run(run())


def test_small_documents_have_little_time() -> None:
    processes = ReadingProcesses(1, 900)
    reader = Reader(ExtractionOptions(), ReadOptions(), 1000, processes, least_rate=1e6)
    assert (reader.seconds_for(1_000), reader.seconds_for(10**8)) == (3.001, 103.0)
    with pytest.raises(ReadingLost, match=r"not finished after 0\.5 seconds") as lost:
        asyncio.run(processes.run(time.sleep, 30, seconds=0.5))
    assert not lost.value.ours
    assert read(reader, small(50)).quads == 50
    reader.close()


@pytest.mark.slow
def test_a_document_whose_process_is_killed_can_be_had_again(tmp_path: Path) -> None:
    """It is no broken document: it joins the failed links, which ``--requeue`` asks again."""
    site = {"/": page("/slow.jsonld"), "/slow.jsonld": (LD, JSON_LD)}
    with serve(DemoWeb(), handlers={"h.example": handler(site)}) as server:
        folder = tmp_path / "out"
        started = start_harvest("http://h.example/", folder=folder, proxy=server.proxy_url)
        for _ in range(2):
            killed: set[int] = set()

            def kill(killed: set[int] = killed) -> bool:
                for pid in _readers(started.process.pid):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
                return bool(killed)

            assert wait(kill, 60)
        run = started.wait()
    assert run.status == 0, run.err
    (record,) = (r for r in run.records if r["url"].endswith("/slow.jsonld"))
    assert record["outcome"] == "interrupted"
    assert "process" in record["errors"]  # it ended, or ended before it began


def _readers(pid: int) -> list[int]:
    """The reading processes below a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"semcrawl.reading.process" in words and parent == pid:
            found.append(int(folder.name))
    return found
