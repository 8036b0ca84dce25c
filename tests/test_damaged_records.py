"""A damaged crawl.db is told of in one line, with status 1."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from harvest.runs import harvest, semcrawl
from hostile.server import WebServer
from hostile.worlds.answers import at, document, page

pytestmark = pytest.mark.slow

_PATHS = [f"/{number}.ttl" for number in range(60)]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The records of a harvest, as one file."""
    folder = tmp_path_factory.mktemp("job") / "out"
    with WebServer({"a.example": at({"/": page(_PATHS)} | dict.fromkeys(_PATHS, document))}) as web:
        harvest("http://a.example/", "--fast", folder=folder, proxy=web.proxy)
    with closing(sqlite3.connect(folder / "crawl.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / "crawl.db").read_bytes()


def _spoilt(content: bytes, how: str) -> bytes:
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    match how:
        case "noise in each page":
            return b"".join([*pages[:3], *(b"\x99" * 16 + each[16:] for each in pages[3:])])
        case "zeros":
            return b"".join([pages[0], *(bytes(len(each)) for each in pages[1:])])
        case "cut":
            return content[: len(content) // 2]
        case _:
            return b"no database\n" * 1000


@pytest.mark.parametrize("how", ["noise in each page", "zeros", "cut", "another file"])
@pytest.mark.parametrize("command", ["profile", "describe"])
def test_damage_is_one_line(job: bytes, how: str, command: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "quads.nq").write_bytes(b"")
    (folder / "crawl.db").write_bytes(_spoilt(job, how))
    run = semcrawl(command, str(folder), folder=folder)
    assert "Traceback" not in run.out + run.err
    if run.status:
        assert run.status == 1
        assert len(run.err.strip().splitlines()) == 1
    else:  # what it needs can be read
        assert how in ("noise in each page", "cut", "zeros")
