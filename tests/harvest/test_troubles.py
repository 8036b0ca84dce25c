"""Results that cannot be written: the lines that a user sees, and where the results go."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from pipelines.servers import fake_store

from tests.waiting import until

from .runs import harvest, semcrawl, start_harvest
from .test_revisit import site as site
from .test_revisit import write

pytestmark = pytest.mark.slow
TEXTS = {"a": "first a", "b": "first b", "c": "first c"}


@pytest.fixture
def fake():
    with fake_store() as server:
        server.url = f"http://127.0.0.1:{server.server_port}/store"
        yield server


def store_lines(err: str) -> list[str]:
    return [line for line in err.splitlines() if "store" in line]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "Connection refused"),  # nobody there
        (401, "user or password is wrong, or may not write (HTTP 401)"),
        (404, "HTTP 404"),  # the URL is wrong
    ],
)
def test_a_store_that_takes_nothing_is_told_once_and_gets_all_later(
    status: int, words: str, fake, site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    fake.sick = status
    url = fake.url if status else "http://127.0.0.1:1/store"
    settings = ["-s", f"SEMCRAWL_STORE_URL={url}", "bound:results.stores.storepipeline:PATIENCE=0"]
    run = harvest(start, "--fast", *settings, folder=tmp_path / "out")
    assert run.status == 0
    assert len(run.quads) == len(TEXTS)
    (line,) = store_lines(run.err)
    assert line == (
        f"semcrawl: 3 documents wait in {run.folder} for the triple store ({url}: {words}); "
        "the next run or `semcrawl load` delivers them"
    )
    fake.sick = 0
    loaded = semcrawl("load", str(run.folder), "--store", fake.url, folder=run.folder)
    assert "3 documents" in loaded.out
    assert len(fake.graphs) == 3


def test_a_store_that_is_sick_for_a_while_gets_all_in_the_same_run(
    fake, site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    fake.sick = 500
    command = [sys.executable, "-m", "semcrawl", "harvest", start, "--fast"]
    command += ["--out", str(tmp_path / "out"), "-s", f"SEMCRAWL_STORE_URL={fake.url}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log = tmp_path / "out" / "crawl.log"
    until(lambda: log.exists() and "HTTP 500; trying again in 1 s" in log.read_text())
    fake.sick = 0
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert store_lines(err.decode()) == []
    assert len(fake.graphs) == 3
    assert "The triple store is back" in log.read_text()


def test_a_document_that_a_store_refuses_is_recorded_and_told(
    fake, site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    write(folder, TEXTS)
    fake.refused = "/b"
    run = harvest(start, "--fast", "-s", f"SEMCRAWL_STORE_URL={fake.url}", folder=tmp_path / "out")
    assert run.status == 0
    (line,) = store_lines(run.err)
    assert "the triple store refuses 1 document; crawl.log says which" in line
    assert len(fake.graphs) == 2
    assert len(run.quads) == 3
    with sqlite3.connect(run.folder / "crawl.db") as database:
        ((url, error),) = database.execute("SELECT url, error FROM refusal")
    assert url.endswith("/b.ttl")
    assert error == "HTTP 400"


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk with room for the beginning of a crawl only, and a file whose end makes room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a disk")
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(2_600_000))
    yield disk, ballast
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_waited_for_and_what_it_cost_is_fetched_again(
    site: tuple[Path, str], tmp_path: Path, small_disk: tuple[Path, Path]
) -> None:
    folder, start = site
    write(folder, {**TEXTS, "large": "x" * 2_000_000})
    disk, ballast = small_disk
    out = disk / "out"
    command = [sys.executable, "-m", "semcrawl", "harvest", start, "--fast", "--out", str(out)]
    command += ["-s", f"LOG_FILE={tmp_path / 'crawl.log'}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log = tmp_path / "crawl.log"
    until(lambda: log.exists() and "quads.nq: No space left on device" in log.read_text())
    ballast.unlink()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert b"Traceback" not in err
    lines = [line for line in err.decode().splitlines() if "could not be written" in line]
    (line,) = lines
    assert f"run semcrawl frontier {out} --requeue" in line
    assert semcrawl("frontier", str(out), "--requeue", folder=out).status == 0
    run = harvest("--fast", folder=out)
    assert run.status == 0, run.err
    assert len(run.quads) == len(TEXTS) + 1


def test_a_crawl_whose_frontier_is_away_ends_when_it_is_told_to(
    site: tuple[Path, str], tmp_path: Path
) -> None:
    """It would wait for five minutes otherwise: for a lock, as here, a full disk or a server."""
    folder, start = site
    write(folder, {f"d{number}": f"text {number}" for number in range(40)})
    out = tmp_path / "out"
    started = start_harvest(start, "-s", "SEMCRAWL_CRAWL_DELAY=0.2", folder=out)
    log, quads = out / "crawl.log", out / "quads.nq"
    until(lambda: quads.exists() and quads.stat().st_size)
    with closing(sqlite3.connect(out / "frontier.db", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        until(lambda: "waiting up to 300 s" in log.read_text() or started.process.poll())
        started.interrupt()
        run = started.wait()
    run.is_calm()
    assert "another process has locked it" in run.err
    assert run.status == 1
    again = harvest(start, "--fast", folder=out)
    assert again.status == 0, again.err
    assert len(again.quads) == len(set(again.quads)) == 40
