"""Where the frontier of a job is, and how jobs of earlier versions go on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from frontier_calls import Q, link
from scrapy.settings import Settings

from semcrawl.commands.frontier import Command
from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.backends import check_backend, holds_frontier, job_backend
from semcrawl.frontier.redis.localserver import RedisServer
from tests.inprocess import exit_status


def settings(**values: Any) -> Settings:
    return Settings(values)


async def fill(folder: Path, links: int) -> None:
    async with job_backend(settings(), folder, FrontierOptions(delay=0)) as frontier:
        await frontier.add([link(str(n)) for n in range(links)])


def waiting(folder: Path, **values: Any) -> int:
    async def count() -> int:
        async with job_backend(settings(**values), folder, FrontierOptions()) as frontier:
            return (await frontier.counts(Q, [])).waiting

    return asyncio.run(count())


def test_without_a_server_the_frontier_is_a_file_of_the_folder(tmp_path: Path) -> None:
    assert not holds_frontier(tmp_path)
    asyncio.run(fill(tmp_path, 3))
    assert holds_frontier(tmp_path)
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"frontier.db"}
    assert waiting(tmp_path) == 3


def test_with_a_server_it_is_there(redis_server: RedisServer, prefix: str, tmp_path: Path) -> None:
    url = f"unix://{redis_server.socket}"
    assert waiting(tmp_path, REDIS_URL=url, SEMCRAWL_CRAWL_NAME=prefix) == 0
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(FrontierUnavailable, match=r"no Redis at REDIS_URL redis://127\.0\.0\.1:1"):
        check_backend(settings(REDIS_URL="redis://127.0.0.1:1"), tmp_path)


def test_shards_need_servers(tmp_path: Path) -> None:
    """However many workers there are: a file has no shards."""
    with pytest.raises(UsageError, match=r"in 3 shards .* needs Redis servers"):
        check_backend(settings(SEMCRAWL_FRONTIER_SHARDS=3), tmp_path)
    check_backend(settings(SEMCRAWL_FRONTIER_SHARDS=1), tmp_path)


@pytest.mark.parametrize("opened_by", ["job", "check", "command"])
def test_a_folder_of_a_version_before_0_2_0_names_the_version_that_reads_it(
    tmp_path: Path, opened_by: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its Redis kept the frontier in a folder of the job."""
    (tmp_path / "frontier").mkdir()
    (tmp_path / "frontier" / "redis.lock").touch()
    if opened_by == "command":
        assert exit_status(Command(), str(tmp_path)) != 0
        assert "semcrawl 0.2.0 reads it" in capsys.readouterr().err
    else:
        with pytest.raises(UsageError, match=r"semcrawl 0\.2\.0 reads it"):
            check_backend(settings(), tmp_path) if opened_by == "check" else waiting(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["frontier"]


def test_the_command_looks_into_a_file_and_moves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(tmp_path / "job", 7))
    assert exit_status(Command(), str(tmp_path / "job")) == 0
    words = capsys.readouterr().out.split()
    assert {"7", "a.example", "g"} <= set(words)
    lines = str(tmp_path / "frontier.jsonl")
    assert exit_status(Command(), str(tmp_path / "job"), "--export", lines) == 0
    assert exit_status(Command(), str(tmp_path / "other"), "--import", lines) == 0
    assert waiting(tmp_path / "other") == 7
