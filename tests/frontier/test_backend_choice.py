"""Which kind of frontier a job has."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from frontier_calls import Q, link
from scrapy.settings import Settings

from semcrawl.commands.frontier import Command
from semcrawl.errors import UsageError
from semcrawl.frontier import EmbeddedRedis, FrontierOptions
from semcrawl.frontier.backends import check_backend, frontier_place, job_backend
from tests.inprocess import exit_status


def settings(priority: str = "project", **values: Any) -> Settings:
    made = Settings()
    for name, value in values.items():
        made.set(name, value, priority)
    return made


async def fill(folder: Path, chosen: Settings, links: int) -> None:
    opened = job_backend(chosen, folder, FrontierOptions(delay=0))
    async with opened.frontier as frontier:
        await frontier.add([link(str(n)) for n in range(links)])
    opened.close()


def test_a_job_goes_on_with_the_frontier_that_it_has(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path, settings(SEMCRAWL_FRONTIER="sqlite"), 3))
    assert frontier_place(settings(), tmp_path) == tmp_path / "frontier.db"
    asyncio.run(fill(tmp_path, settings(), 5))
    assert not (tmp_path / "frontier").exists()
    said = settings("cmdline", SEMCRAWL_FRONTIER="redis")
    with pytest.raises(UsageError, match="one of SEMCRAWL_FRONTIER=sqlite"):
        job_backend(said, tmp_path, FrontierOptions())


def test_an_embedded_redis_is_not_passed_over(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "frontier"):
        pass
    said = settings("cmdline", SEMCRAWL_FRONTIER="sqlite")
    with pytest.raises(UsageError, match="one of SEMCRAWL_FRONTIER=redis"):
        job_backend(said, tmp_path, FrontierOptions())
    assert not (tmp_path / "frontier.db").exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"SEMCRAWL_FRONTIER": "mongo"}, "must be redis or sqlite"),
        ({"SEMCRAWL_FRONTIER": "sqlite", "REDIS_URL": "redis://127.0.0.1:1"}, "leave one out"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_backend(settings(**values))


def test_the_command_looks_into_a_file_and_moves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(tmp_path / "job", settings(SEMCRAWL_FRONTIER="sqlite"), 7))
    assert exit_status(Command(), str(tmp_path / "job")) == 0
    words = capsys.readouterr().out.split()
    assert {"7", "a.example", "g"} <= set(words)
    lines = str(tmp_path / "frontier.jsonl")
    assert exit_status(Command(), str(tmp_path / "job"), "--export", lines) == 0
    assert exit_status(Command(), str(tmp_path / "redis"), "--import", lines) == 0
    assert (tmp_path / "redis" / "frontier" / "redis.lock").is_file()

    async def waiting() -> int:
        opened = job_backend(settings(), tmp_path / "redis", FrontierOptions())
        async with opened.frontier as frontier:
            found = (await frontier.counts(Q, [])).waiting
        opened.close()
        return found

    assert asyncio.run(waiting()) == 7
