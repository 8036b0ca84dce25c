"""``semcrawl harvest --workers N``: several processes, one display, one summary, one folder."""

from __future__ import annotations

import gzip
import os
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from harvest.runs import Started, duplicates, harvest, semcrawl, start_harvest
from semcrawl.commands._run import RunResult
from semcrawl.commands._workers import Workers, check_workers, summed
from semcrawl.crawl.progress import Display, Figures
from semcrawl.errors import UsageError
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, serve

WEB = DemoWeb()
MANIFEST = WEB.manifest()
#: quick, and still so slow that something can happen meanwhile
PACED = (
    *("-s", "SEMCRAWL_CRAWL_DELAY=0.1", "-s", "SEMCRAWL_PACE_BY=host"),
    *("-s", "SEMCRAWL_MAX_CRAWL_DELAY=0"),
    *("-s", "SEMCRAWL_ENDPOINTS=found"),
)
#: workers that show nothing
QUIET: dict[str, Any] = {
    "display": Display(live=False),
    "interval": None,
    "quiet": True,
}


def children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for_records(run: Started, number: int) -> None:
    """Wait until the run has written so many records."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if (run.folder / "crawl.db").is_file():
            with sqlite3.connect(run.folder / "crawl.db") as database:
                try:
                    if database.execute("SELECT count(*) FROM fetch").fetchone()[0] >= number:
                        return
                except sqlite3.OperationalError:
                    pass  # (its tables are being made)
        if run.process.poll() is not None:
            break
        time.sleep(0.02)
    raise AssertionError(f"no {number} records:\n{run.wait().err}")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"SEMCRAWL_WORKERS": "0"}, ("auto or a number", "'0'")),
        ({"SEMCRAWL_WORKERS": "many"}, ("auto or a number",)),
        ({"SEMCRAWL_WORKERS": 2, "FEEDS": {"stdout:": {}}}, ("standard output",)),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refusal:
        check_workers(Settings(settings))
    for word in words:
        assert word in str(refusal.value)


def test_any_number_of_workers_needs_no_server() -> None:
    assert check_workers(Settings({"SEMCRAWL_WORKERS": 5})) == 5


def test_there_are_no_more_workers_than_requests() -> None:
    assert check_workers(Settings({"SEMCRAWL_WORKERS": 4, "SEMCRAWL_PAGES": 3})) == 3
    assert check_workers(Settings({"SEMCRAWL_WORKERS": "auto"})) >= 1
    assert check_workers(Settings()) == 1


@pytest.mark.slow
def test_a_worker_without_its_command_says_so_in_one_line(tmp_path: Path) -> None:
    harvest("--worker", folder=tmp_path / "out").says_in_one_line("--workers")


def test_figures_of_several_processes_are_added_up() -> None:
    parts = [
        Figures(3, 5, 1, 2, 10, 0, {"R": 4}, ["a.example"], "http://a.example/"),
        Figures(4, 5, 0, 1, 20, 2, {"R": 2}, ["b.example"], "", images=3),
    ]
    total = Figures.added(parts, 10)
    assert (total.requests, total.budget, total.errors, total.quads) == (7, 10, 1, 30)
    assert total.waiting == {"R": 2}
    facts = total.facts(7.0)
    assert facts["requests"] == "7 of 10"
    assert facts["hosts"] == "a.example, b.example"
    assert facts["now"] == "http://a.example/"
    assert facts["time left"] == "0:00:02"
    assert facts["images"] == "3"
    assert "images" not in parts[0].facts(7.0)
    assert Figures.of(total.as_dict()) == total


def test_a_run_has_sent_all_its_requests_when_all_workers_have() -> None:
    """One that had no more to do, or was stopped, left some of its share."""
    workers = Workers([], 2, lambda *_: None, **QUIET, budget=10)
    workers.ended = list(workers.workers)
    for worker, sent in zip(workers.workers, (5, 3), strict=True):
        worker.result = RunResult(requests=sent, limit="pages" if sent == 5 else "").as_dict()
    assert summed(workers, 10).limit == ""
    assert summed(workers, 8).limit == "pages"
    workers.workers[0].former = [Figures(requests=2, budget=5)]
    workers.workers[0].figures = Figures(requests=1, budget=3)
    facts = workers.figures().facts(1.0)
    assert (facts["requests"], facts["now"]) == ("3 of 10", "the workers are starting")


@pytest.mark.slow
def test_two_workers_find_what_one_finds(tmp_path: Path) -> None:
    """Each document once, by both, in one folder with one summary, on Redis."""
    redis = RedisServer(tmp_path / "redis")
    with serve(WEB) as server, redis:
        run = harvest(
            WEB.start, *PACED, "--workers", "2", "-o", str(tmp_path / "more.nq.gz"),
            folder=tmp_path / "out", proxy=server.proxy_url, guesses=True, REDIS_URL=f"unix://{redis.socket}",
        )  # fmt: skip
    assert run.status == 0, run.err
    run.is_calm()
    assert run.documents() == MANIFEST.documents
    assert not duplicates(run.quads)
    assert len({record["worker"] for record in run.records}) == 2
    assert run.summary["workers"] == {"started": 2, "restarted": 0, "lost": 0}
    assert run.summary["waiting"] == 0
    assert run.out.count("Found in") == 1
    # a file of the folder is no other than the feed that both wrote
    feed = gzip.decompress((tmp_path / "more.nq.gz").read_bytes()).decode().splitlines(True)
    assert Counter(feed) == Counter(run.quads)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_started_again_and_nothing_is_lost(tmp_path: Path) -> None:
    with serve(WEB) as server:
        started = start_harvest(
            WEB.start, *PACED, "--workers", "2",
            folder=tmp_path / "out", proxy=server.proxy_url, guesses=True,
        )  # fmt: skip
        wait_for_records(started, 100)
        os.kill(children(started.process.pid)[-1], signal.SIGKILL)
        run = started.wait()
    assert run.status == 0, run.err
    run.is_calm()
    assert "was killed (SIGKILL) and is started again" in run.err
    assert "Workers that died and were started again: 1" in run.out
    assert run.summary["workers"]["restarted"] == 1
    assert "This run" not in run.out
    assert run.documents() == MANIFEST.documents
    assert not duplicates(run.quads)


@pytest.mark.slow
def test_a_worker_that_dies_too_often_is_told_of(tmp_path: Path) -> None:
    """The other one brings the crawl to its end; the exit status is 1."""
    with serve(WEB) as server:
        started = start_harvest(
            WEB.start, *PACED, "--workers", "2", "bound:commands._workers:RESTARTS=0",
            "-s", "SEMCRAWL_LEASE_TIME=3",
            folder=tmp_path / "out", proxy=server.proxy_url, guesses=True,
        )  # fmt: skip
        wait_for_records(started, 100)
        os.kill(children(started.process.pid)[-1], signal.SIGKILL)
        run = started.wait()
    assert run.status == 1, run.err
    assert "is not started again" in run.err
    assert "not started again: 1" in run.out
    assert run.summary["workers"] == {"started": 2, "restarted": 0, "lost": 1}
    assert run.documents() == MANIFEST.documents


@pytest.mark.slow
def test_ctrl_c_stops_all_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with serve(WEB) as server:
        place = {"folder": tmp_path / "out", "proxy": server.proxy_url, "guesses": True}
        started = start_harvest(WEB.start, *PACED, "--workers", "2", **place)
        wait_for_records(started, 60)
        workers = children(started.process.pid)
        started.interrupt()
        stopped = started.wait()
        assert stopped.status == 0, stopped.err
        assert len(workers) == 2
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
        assert stopped.summary["waiting"] > 0
        run = harvest(*PACED, "--workers", "2", **place)
    assert run.status == 0, run.err
    assert run.documents() == MANIFEST.documents
    assert not duplicates(run.quads)


@pytest.mark.slow
def test_five_workers_share_the_file_of_one(tmp_path: Path) -> None:
    with serve(WEB) as server:
        place = {"folder": tmp_path / "out", "proxy": server.proxy_url, "guesses": True}
        before = harvest(WEB.start, *PACED, "--pages", "40", **place)
        assert before.summary["waiting"] > 0
        some = harvest(*PACED, "--workers", "5", "--pages", "60", **place)
        assert some.status == 0, some.err
        assert some.summary["requests"] == 100
        assert some.summary["waiting"] > 0
        assert (tmp_path / "out" / "frontier.db").is_file()
        assert not (tmp_path / "out" / "frontier").exists()
        run = harvest(*PACED, **place)
    assert run.status == 0, run.err
    assert run.documents() == MANIFEST.documents
    assert not duplicates(run.quads)


@pytest.mark.slow
def test_the_budget_is_that_of_all_workers(tmp_path: Path) -> None:
    with serve(WEB) as server:
        run = harvest(
            WEB.start, *PACED, "--workers", "2", "--pages", "41", "-q",
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert run.status == 0, run.err
    assert run.summary["requests"] == 41
    assert not run.err
    assert not run.out


@pytest.mark.slow
def test_the_demonstration_takes_workers_too(tmp_path: Path) -> None:
    run = semcrawl(
        *("demo", "--harvest", "--out", str(tmp_path / "out"), "--fast", "--workers", "2"),
        *("--pages", "80"),
        folder=tmp_path / "out",
    )
    assert run.status == 0, run.err
    assert run.summary["requests"] == 80
    assert run.documents().items() <= MANIFEST.documents.items()
    assert run.summary["workers"]["started"] == 2
