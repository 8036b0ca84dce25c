"""The frontier in a file: what is wrong with the file is said in one line, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import sqlite3
import time
from pathlib import Path

import pytest
from backends import Backend, SqliteBackend
from frontier_calls import OpenFrontier, Q, eventually, link, names

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable
from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.contract import Frontier
from semcrawl.frontier.sqlite.file import _BOOT_ID
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.frontier.transfer import export_lines, import_lines

LONG = FrontierOptions(delay=0, concurrency=1000, patience=60.0)
SHORT = FrontierOptions(delay=0, concurrency=1000, patience=0.2)


def frontier_at(path: Path, options: FrontierOptions = SHORT, worker: str = "w") -> SqliteFrontier:
    return SqliteFrontier(path, name="crawl", worker_id=worker, options=options)


def largest(folder: Path) -> int:
    """Size of the largest file of a folder."""
    return max(file.stat().st_size for file in folder.iterdir())


def refused(path: Path) -> str:
    """The message on a file that cannot be opened; the file stays as it was."""
    before = path.read_bytes()
    with pytest.raises(FrontierCorrupt) as caught:
        asyncio.run(frontier_at(path).open())
    assert path.read_bytes() == before
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    path.write_bytes(b"no database " * 500)
    assert "no SQLite file" in refused(path)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE other (x)")
    database.close()
    assert "another SQLite file" in refused(path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    asyncio.run(frontier_at(path).open())
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    assert "has format 99" in refused(path)


async def test_a_damaged_file_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    async with frontier_at(path) as frontier:
        await frontier.add([link(str(n)) for n in range(2000)])
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 200] = b"\xff" * 200
    path.write_bytes(bytes(content))
    damaged = frontier_at(path)
    with pytest.raises(FrontierCorrupt, match="corrupt"):
        async with damaged:
            await damaged.take(1, Q)


async def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FrontierUnavailable, match="is not usable"):
        await frontier_at(tmp_path / "file" / "frontier.db").open()
    with pytest.raises(FrontierUnavailable, match="there is no frontier"):
        await frontier_at(tmp_path / "frontier.db").open(make=False)
    assert not (tmp_path / "frontier.db").exists()


async def test_a_deleted_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = frontier_at(path, LONG)
    await frontier.open()
    await frontier.add([link("1")])
    path.unlink()
    with pytest.raises(FrontierCorrupt, match="deleted or replaced"):
        await frontier.take(1, Q)
    async with frontier_at(path, worker="w2"):
        pass
    with pytest.raises(FrontierCorrupt, match="deleted or replaced"):
        await frontier.close()


@pytest.mark.slow
async def test_a_lock_is_waited_for_but_not_for_ever(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "frontier.db"
    async with frontier_at(path, SHORT) as frontier, frontier_at(path, LONG, "w2") as patient:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(patient.add([link("1")]))
        with pytest.raises(FrontierUnavailable, match="another process has locked it"):
            await frontier.add([link("1")])
        assert not waiting.done()
        other.execute("ROLLBACK")
        other.close()
        assert await waiting == [True]
        assert await frontier.add([link("1")]) == [False]


async def test_a_full_disk_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing that was answered is lost, and what was asked meanwhile goes through afterwards."""
    caplog.set_level(logging.WARNING)
    path = tmp_path / "frontier.db"
    async with frontier_at(path, LONG) as frontier:
        await frontier.add([link(str(n)) for n in range(100)])
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = largest(tmp_path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            waiting = asyncio.create_task(frontier.add([link(str(n)) for n in range(50, 3000)]))
            while "waiting up to 60 s" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert not waiting.done()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (await waiting).count(True) == 2900
        assert "usable again" in caplog.text
        assert (await frontier.counts(Q, [])).waiting == 3000
        assert await frontier.inspector.audit() == []


async def test_many_workers_are_pointed_to_a_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "frontier.db"
    workers = [frontier_at(path, LONG, f"w{n}") for n in range(9)]
    for number, worker in enumerate(workers):
        await worker.open()
        assert ("set REDIS_URL" in caplog.text) == (number == 8)
    for worker in workers:
        await worker.close()


async def test_one_wrong_call_costs_no_other(tmp_path: Path) -> None:
    """Calls that are committed together are undone apart."""
    async with frontier_at(tmp_path / "frontier.db") as frontier:
        store = frontier._store

        def wrong(_: object) -> None:
            raise ValueError("wrong")

        calls = [frontier.add([link(str(n))]) for n in range(5)]
        found = await asyncio.gather(*calls, store.run(wrong), return_exceptions=True)
        assert found[:5] == [[True]] * 5
        assert isinstance(found[5], ValueError)
        assert (await frontier.counts(Q, [])).waiting == 5


async def filled(frontier: Frontier) -> None:
    await frontier.set_values({"good": 2.5, "bad": -1.0})
    await frontier.add([link(f"a{n}", group="good", key=n / 3, label="R") for n in range(5)])
    for host in ("b.example", "c.example:81"):
        links = [
            link(f"{n}\udc80", host=host, queue="rdf", payload={"p": b"\xff"}) for n in range(4)
        ]
        await frontier.add(links)
    await frontier.pace.set("b.example", delay=2.0, concurrency=3)
    await frontier.pace.reward("b.example", target=True)
    await frontier.end(await frontier.take(1, Q), failed=True)
    await frontier.end(await frontier.take(1, Q))
    await frontier.shared.put("strategy", b"\x00learned")


def normal(lines: list[str]) -> list[str]:
    """Lines of an export, whatever its crawl is called and its digests come in.

    Several servers each hold the digests of a single one, which do not say whose they are.
    """
    found: list[str] = []
    digests: set[str] = set()
    for line in lines:
        row = json.loads(line)
        if row["kind"] == "seen":
            digests.update(row["digests"])
        elif row["kind"] not in ("frontier", "end"):
            found.append(line)
    return sorted(found) + sorted(digests)


async def test_a_frontier_moves_between_the_kinds(
    open_frontier: OpenFrontier, backend: Backend, tmp_path: Path
) -> None:
    """The same links, digests and counts come out again."""
    frontier = await open_frontier()
    await filled(frontier)
    lines = [line async for line in export_lines(frontier)]
    kind = SqliteBackend(tmp_path)
    async with kind.frontier("moved", "w", LONG) as moved:
        assert await import_lines(moved, lines) == 11
        assert normal([line async for line in export_lines(moved)]) == normal(lines)
        assert await moved.inspector.audit() == []
        assert await moved.add([link("a0"), link("a1"), link("new")]) == [False, False, True]
        again = [line async for line in export_lines(moved)]
    async with backend.frontier("back-" + frontier.name, "w", LONG) as back:
        await import_lines(back, again)
        assert normal([line async for line in export_lines(back)]) == normal(again)
        assert names(await back.take(2, Q)) == ["a2", "a3"]


def set_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the machine's clock, as far as this process reads it, that much ahead of what it is."""
    real, real_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + int(seconds * 1e9))


@pytest.mark.skipif(not _BOOT_ID.exists(), reason="the start of the machine is known on Linux")
@pytest.mark.parametrize("seconds", [-3600, 3600])
async def test_setting_the_machines_clock_moves_no_delay_and_no_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Neither in a process that runs meanwhile, nor in one that is started afterwards."""
    options = FrontierOptions(delay=0.05, concurrency=1, lease_time=600.0)
    path = tmp_path / "frontier.db"
    async with frontier_at(path, options, "before") as frontier:
        await frontier.add([link("a1"), link("a2"), link("a3")])
        first = await frontier.take(1, Q)
        await frontier.started(first)
        set_clock(monkeypatch, seconds)
        await frontier.release(first)
        second = await eventually(lambda: frontier.take(1, Q))
        async with frontier_at(path, options, "after") as other:
            await frontier.started(second)
            await frontier.release(second)
            third = await eventually(lambda: other.take(1, Q))
            state = await other.inspector.state()
        assert [lease.entry.url for lease in (*first, *second, *third)] == [
            link(name).url for name in ("a1", "a2", "a3")
        ]
        assert all(await frontier.renew([*first, *second]))
        assert state.expired == 0


@pytest.mark.skipif(not _BOOT_ID.exists(), reason="the start of the machine is known on Linux")
async def test_after_a_start_of_the_machine_its_clock_counts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, boot = tmp_path / "frontier.db", tmp_path / "boot_id"
    boot.write_text("another start\n")
    with monkeypatch.context() as before:
        before.setattr("semcrawl.frontier.sqlite.file._BOOT_ID", boot)
        set_clock(before, 3600)
        async with frontier_at(path):
            pass
    async with frontier_at(path) as frontier:
        state = await frontier.inspector.state()
    assert abs(state.now - time.time()) < 600
