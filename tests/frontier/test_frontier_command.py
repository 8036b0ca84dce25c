"""``semcrawl frontier``: looking, moving, requeueing."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from frontier_calls import OpenFrontier, Q
from scrapy.settings import Settings
from served_redis import ServedRedis

from semcrawl.commands.frontier import Command
from semcrawl.errors import UsageError
from semcrawl.frontier import Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.backends import job_backend
from semcrawl.frontier.contract import Frontier
from semcrawl.frontier.transfer import export_lines, import_lines
from tests.inprocess import exit_status

T = TypeVar("T")


def link(name: str, host: str = "a.example", group: str = "g", key: float = 0.0) -> Entry:
    payload = {"p": f"http://{host}/parent", "blob": b"\xff"}
    return Entry(f"http://{host}/{name}", host, "html", group, key, payload, "R")


async def in_job(folder: Path, work: Callable[[Frontier], Awaitable[T]]) -> T:
    options = FrontierOptions(delay=0)
    async with job_backend(Settings(), folder, options) as frontier:
        return await work(frontier)


@dataclass
class Result:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the command in this process: a second of start-up less."""

    def run(*args: str) -> Result:
        capsys.readouterr()
        status = exit_status(Command(), *args)
        return Result(status, *capsys.readouterr())

    return run


async def fill(frontier: Frontier) -> None:
    await frontier.add([link(str(n), group="good") for n in range(3)])
    await frontier.add([link(str(n), host="b.example") for n in range(4)])
    await frontier.set_values({"good": 1.5})
    await frontier.end(await frontier.take(1, Q), failed=True)


def test_a_frontier_is_shown_moved_and_its_failures_requeued(
    tmp_path: Path, run_command: Callable[..., Result]
) -> None:
    asyncio.run(in_job(tmp_path / "job", fill))
    shown = run_command(str(tmp_path / "job"))
    assert shown.returncode == 0, shown.stderr
    words = shown.stdout.split()
    for word in ("6", "R)", "a.example", "b.example", "good", "1.5", "failed"):
        assert word in words
    file = tmp_path / "frontier.jsonl"
    assert run_command(str(tmp_path / "job"), "--export", str(file)).returncode == 0
    kinds = {json.loads(line)["kind"] for line in file.read_text().splitlines()}
    assert kinds == {"frontier", "value", "link", "seen", "end"}
    imported = run_command(str(tmp_path / "new"), "--import", str(file))
    assert (imported.stdout, imported.returncode) == ("6 links wait\n", 0)
    again = run_command(str(tmp_path / "new"), "--import", str(file))
    assert again.stderr == "semcrawl: the frontier 'semcrawl' is not empty\n"
    assert again.returncode == 2
    assert run_command(str(tmp_path / "new"), "--requeue").stdout == "1 failed link waits again\n"


def test_seeds_that_wait_on_the_lists_are_shown(
    served: ServedRedis, run_command: Callable[..., Result]
) -> None:
    async def push() -> None:
        frontier = RedisFrontier(
            served.url, prefix="seeded", worker_id="w", options=FrontierOptions(delay=0)
        )
        async with frontier:
            await fill(frontier)
            await frontier.shared.push_seeds(
                "html:start_urls", ["http://a.example/", "http://b.example/"]
            )
            await frontier.shared.push_seeds("waiting", ["http://c.example/"])

    asyncio.run(push())
    command = ("-s", f"REDIS_URL={served.url}", "-s", "SEMCRAWL_CRAWL_NAME=seeded")
    assert "seeds    2  (on html:start_urls, rdf:start_urls)\n" in run_command(*command).stdout
    named = run_command(*command, "-s", "REDIS_START_URLS_KEY=waiting")
    assert "seeds    1  (on waiting)\n" in named.stdout
    none = run_command(*command, "-s", "REDIS_START_URLS_KEY=empty")
    assert "seeds" not in none.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a file on a terminal", "a Redis on a pipe"])
def test_a_watched_frontier_is_shown_anew_until_ctrl_c(
    served: ServedRedis, prefix: str, tmp_path: Path, kind: str
) -> None:
    settings = Settings({"SEMCRAWL_CRAWL_NAME": prefix})
    place, terminal = str(tmp_path / "job"), kind.endswith("terminal")
    if not terminal:
        place = served.url
        settings.set("REDIS_URL", served.url)

    async def do(work: Callable[[Frontier], Awaitable[object]]) -> None:
        async with job_backend(settings, tmp_path / "job", FrontierOptions(delay=0)) as frontier:
            await work(frontier)

    asyncio.run(do(fill))
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = ("frontier", "--watch", "0.1", place, "-s", f"SEMCRAWL_CRAWL_NAME={prefix}")
    process = subprocess.Popen(
        [sys.executable, "-m", "semcrawl", *command], stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm", "LINES": "40", "COLUMNS": "100", "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(theirs)
    shown = ""

    def read_until(pattern: str) -> None:
        nonlocal shown
        while not re.search(pattern, shown, re.S):
            shown += re.sub(r"\x1b\[\d*m", "", os.read(ours, 65536).decode())

    read_until(r"waiting  6 .*b\.example.*waiting  6 .*\(0\.0 per s\).*b\.example")
    assert ("\x1b[?25l" in shown) == terminal  # the cursor is hidden while it moves
    shown = ""
    asyncio.run(do(lambda frontier: frontier.requeue(["html"])))
    read_until("waiting  7 .*b\\.example")
    process.send_signal(signal.SIGINT)
    try:
        while more := os.read(ours, 65536):
            shown += more.decode()
    except OSError:  # the other end of the terminal is closed
        pass
    os.close(ours)
    assert process.wait() == 0, shown
    assert ("\x1b[?25h" in shown) == terminal
    assert "Traceback" not in shown


def test_a_wrong_pause_between_looks(tmp_path: Path, run_command: Callable[..., Result]) -> None:
    for words in (("--watch", "0"), ("--watch", "nan"), ("--watch", "--requeue")):
        result = run_command(str(tmp_path), *words)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
        assert "--watch" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 2])
def test_a_crawl_is_dropped_and_no_other(
    served: ServedRedis, prefix: str, run_command: Callable[..., Result], shards: int
) -> None:
    def settings(name: str) -> Settings:
        values = {"REDIS_URL": served.url, "SEMCRAWL_CRAWL_NAME": name}
        return Settings({**values, "SEMCRAWL_FRONTIER_SHARDS": shards})

    async def make(name: str) -> None:
        options = FrontierOptions(delay=0)
        async with job_backend(settings(name), Path("unused"), options) as frontier:
            await fill(frontier)

    names = {name: f"{prefix}{name}" for name in ("one[", "one[2", "busy")}
    for name in names.values():
        asyncio.run(make(name))

    def drop(name: str) -> Result:
        return run_command(
            "-s", f"REDIS_URL={served.url}", "-s", f"SEMCRAWL_CRAWL_NAME={names[name]}", "--drop"
        )

    def keys(name: str) -> int:
        with served.client() as client:
            tags = [f"{{{names[name]}}}:", *(f"{{{names[name]}.{n}}}:" for n in range(shards))]
            return sum(key.decode().startswith(tuple(tags)) for key in client.scan_iter())

    before = {name: keys(name) for name in names}
    assert all(before.values())
    dropped = drop("one[")
    assert (dropped.returncode, dropped.stderr) == (0, "")
    assert dropped.stdout.startswith(f"the crawl {names['one[']} is dropped (")
    assert {name: keys(name) for name in names} == {**before, "one[": 0}
    assert "there is no crawl" in drop("one[").stderr

    async def drop_while_busy() -> Result:
        options = FrontierOptions(delay=0)
        async with job_backend(settings(names["busy"]), Path("unused"), options) as frontier:
            assert await frontier.take(1, Q)
            return await asyncio.to_thread(drop, "busy")

    refused = asyncio.run(drop_while_busy())
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "in flight" in refused.stderr
    assert keys("busy")


def test_a_frontier_in_a_folder_is_not_dropped(
    tmp_path: Path, run_command: Callable[..., Result]
) -> None:
    asyncio.run(in_job(tmp_path / "job", fill))
    refused = run_command(str(tmp_path / "job"), "--drop")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith("semcrawl: --drop needs the Redis of the crawl")


@pytest.mark.parametrize("kept", [0, 100, -1, -100])
def test_nothing_of_a_cut_export_goes_in(
    tmp_path: Path, run_command: Callable[..., Result], kept: int
) -> None:
    """And no folder is made for it, so that the whole export can go there."""
    asyncio.run(in_job(tmp_path / "job", fill))
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    run_command(str(tmp_path / "job"), "--export", str(whole))
    lines = whole.read_bytes()
    cut.write_bytes(lines[:kept] if abs(kept) != 1 else b"".join(lines.splitlines(True)[:kept]))
    refused = run_command(str(tmp_path / "new"), "--import", str(cut))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "new").exists()
    assert run_command(str(tmp_path / "new"), "--import", str(whole)).returncode == 0


@pytest.mark.slow
def test_an_export_comes_through_a_pipe(tmp_path: Path) -> None:
    asyncio.run(in_job(tmp_path / "job", fill))
    command = f"{sys.executable} -m semcrawl frontier"
    done = subprocess.run(
        f"{command} job --export - | {command} new --import -",
        shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("6 links wait\n", "")


def test_an_export_that_fails_leaves_the_last_one(
    tmp_path: Path, run_command: Callable[..., Result]
) -> None:
    file = tmp_path / "frontier.jsonl"
    file.write_text("an earlier export")
    assert run_command(str(tmp_path / "nowhere"), "--export", str(file)).returncode == 2
    assert file.read_text() == "an earlier export"


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(
    tmp_path: Path, run_command: Callable[..., Result]
) -> None:
    asyncio.run(in_job(tmp_path / "job", fill))
    file = tmp_path / "nowhere" / "frontier.jsonl"
    result = run_command(str(tmp_path / "job"), "--export", str(file))
    assert result.returncode == 1
    assert result.stderr == f"semcrawl: cannot write {file}: No such file or directory\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_told_with_the_name_of_the_file(
    tmp_path: Path, run_command: Callable[..., Result]
) -> None:
    asyncio.run(in_job(tmp_path / "job", fill))
    result = run_command(str(tmp_path / "job"), "--export", "/dev/full")
    assert result.returncode == 1
    assert result.stderr == "semcrawl: cannot write /dev/full: No space left on device\n"


def test_what_a_crawl_learned_is_written_as_a_model(
    tmp_path: Path, run_command: Callable[..., Result]
) -> None:
    """That of the only strategy, or of the named one; no file where nothing was learned."""

    async def learn(frontier: Frontier) -> None:
        await frontier.shared.save_state("strategy:learned", b"weights")

    async def learn_more(frontier: Frontier) -> None:
        await frontier.shared.save_state("strategy:mine", b"counts")

    job, model = tmp_path / "job", tmp_path / "model"
    asyncio.run(in_job(job, fill))
    nothing = run_command(str(job), "--export-model", str(model))
    assert nothing.returncode == 1
    assert nothing.stderr.startswith("semcrawl: nothing was learned")
    assert not model.exists()
    asyncio.run(in_job(job, learn))
    assert run_command(str(job), "--export-model", str(model)).returncode == 0
    assert model.read_bytes() == b"weights"
    asyncio.run(in_job(job, learn_more))
    other = ("-s", "SEMCRAWL_RELEVANCE=rules")
    which = run_command(str(job), "--export-model", str(model), *other)
    assert (which.returncode, which.stderr.count("\n")) == (2, 1)
    assert "learned, mine" in which.stderr
    mine = ("-s", "SEMCRAWL_RELEVANCE=mine")
    assert run_command(str(job), "--export-model", str(model), *mine).returncode == 0
    assert model.read_bytes() == b"counts"


@pytest.mark.slow
def test_a_folder_without_a_frontier(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "semcrawl", "frontier", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr == f"semcrawl: {tmp_path} holds no frontier\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_server_that_is_not_there(run_command: Callable[..., Result]) -> None:
    result = run_command("-s", "REDIS_URL=redis://127.0.0.1:1")
    assert result.returncode == 1
    assert result.stderr.startswith("semcrawl: the frontier's Redis at ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("action", [[], ["--export", "-"], ["--requeue"]])
def test_a_name_that_no_crawl_has(
    served: ServedRedis, prefix: str, action: list[str], run_command: Callable[..., Result]
) -> None:
    """A misspelt name is no empty crawl, and does not become one."""
    settings = ("-s", f"REDIS_URL={served.url}", "-s", f"SEMCRAWL_CRAWL_NAME={prefix}")
    result = run_command(*settings, *action)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"semcrawl: there is no crawl {prefix!r} on the Redis at {served.url}\n"
    with served.client() as client:
        assert client.keys(f"*{prefix}*") == []


async def drain(frontier: Frontier) -> list[Entry]:
    entries = []
    while leases := await frontier.take(1, Q):
        entries += [lease.entry for lease in leases]
        await frontier.end(leases)
    return entries


async def test_an_imported_frontier_goes_on_as_the_exported_one(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    """Same links in the same order, same seen set, paces and states."""
    old, new = await open_frontier(), await open_frontier(prefix=prefix + "new")
    await old.add([link(f"{n}", host=f"h{n % 3}", group=f"g{n % 4}", key=n % 2) for n in range(60)])
    await old.set_values({"g1": 1.0, "g2": 0.5})
    await old.pace.set("h1", delay=0, concurrency=7)
    await old.shared.save_state("strategy", b"\0learned")
    await old.end(await old.take(3, Q))
    await old.end(await old.take(2, Q), failed=True)
    leased = await old.take(2, Q)
    lines = [line async for line in export_lines(old)]
    assert await import_lines(new, lines) == 55
    assert await new.inspector.audit() == []
    assert await new.shared.load_state("strategy") == b"\0learned"
    assert (await new.counts(Q, [])).seen == 60
    await old.give_back(leased)
    assert await drain(new) == await drain(old)
    assert await new.requeue(Q) == await old.requeue(Q) == 2
    assert await drain(new) == await drain(old)
    assert await new.add([link("0", host="h0"), link("new")]) == [False, True]


async def test_an_imported_frontier_is_the_exported_one(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    """Exported again, it gives the same lines but for its name, fairness between hosts included."""
    old = await open_frontier(fairness="yield", chunk=8)
    new = await open_frontier(prefix=prefix + "new", fairness="yield")
    await old.add([link(f"{n}", host=f"h{n % 3}", group=f"g{n % 4}", key=n % 2) for n in range(60)])
    await old.add([link("ä\udcff", host="hö", group="\udcff")])
    await old.set_values({"g1": 1.0, "g2": -0.5, "empty": 1e-300})
    await old.pace.set("h1", delay=0, concurrency=7)
    await old.shared.save_state("strategy", bytes(range(256)))
    for lease in (done := await old.take(9, Q)):
        await old.pace.reward(lease.entry.host, target=lease.entry.host == "h1")
    await old.end(done)
    await old.give_back(await old.take(3, Q))
    await old.end(await old.take(2, Q), failed=True)
    lines = [line async for line in export_lines(old)]
    await import_lines(new, lines)
    again = [line async for line in export_lines(new)]
    assert [json.loads(line) for line in again[1:]] == [json.loads(line) for line in lines[1:]]
    first, second = json.loads(lines[0]), json.loads(again[0])
    assert first | {"prefix": prefix + "new"} == second
    assert {"yield", "pace", "value", "link", "seen", "state", "end"} == {
        json.loads(line)["kind"] for line in lines[1:]
    }
    assert await drain(new) == await drain(old)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["no json"], "line 1 is none of an exported frontier: Expecting value"),
        (['{"kind": "link"}'], "line 1"),
        (['{"kind": "frontier", "format": 99}'], "line 1: not an exported frontier"),
        (['{"kind": "frontier", "format": 2}', '{"kind": "x"}'], "an unknown kind of line: 'x'"),
        (['{"kind": "frontier", "format": 2}', "[]"], "line 2"),
        (['{"kind": "frontier", "format": 2}'], "cut off after line 1"),
        (['{"kind": "frontier", "format": 2}', '{"kind": "end", "lines": 2}'], "line 2: 2 lines"),
        ([], "nothing to import"),
        (['{"kind": "frontier", "format": 2}', '{"kind": "seen", "digests": ["x"]}'], "line 2"),
    ],
)
async def test_lines_that_cannot_be_imported_are_named(
    open_frontier: OpenFrontier, lines: list[str], why: str
) -> None:
    frontier = await open_frontier()
    with pytest.raises(UsageError, match=why):
        await import_lines(frontier, lines)
