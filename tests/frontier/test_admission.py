"""Who may work on a crawl of a shared Redis, and what the crawl is called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from scrapy.settings import Settings

from semcrawl.errors import UsageError
from semcrawl.frontier import backends
from semcrawl.frontier.redis.crawl import Charter, admit_harvest, admit_worker, name_for
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.frontier.workers import JobName

A, B = ["http://a.example/"], ["http://b.example/"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as redis:
        yield f"unix://{redis.socket}"


@pytest.fixture
def url(server: str) -> Iterator[str]:
    yield server
    with Redis.from_url(server) as client:
        client.flushall()


def settings(url: str, **given: object) -> Settings:
    found = Settings()
    found.set("REDIS_URL", url, "cmdline")
    found.set("SEMCRAWL_SCOPE", "site", "default")
    for name, value in given.items():
        found.set(name, value, "cmdline")
    return found


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_a_harvest_is_named_by_its_folder_and_keeps_the_name_where_it_is_moved(
    url: str, tmp_path: Path
) -> None:
    one, other = folder(tmp_path / "one"), folder(tmp_path / "x" / "one")
    name = admit_harvest(settings(url), one, A)
    assert name == name_for(one)
    assert name.startswith("one-")
    assert admit_harvest(settings(url), other, B) not in (name, "semcrawl")
    moved = one.rename(tmp_path / "moved")
    assert admit_harvest(settings(url), moved, []) == name


def test_a_name_holds_no_signs_that_keys_may_not(tmp_path: Path) -> None:
    assert name_for(tmp_path / "a{b} c").startswith("a-b--c-")


def test_without_a_shared_server_a_crawl_is_called_as_ever(tmp_path: Path) -> None:
    assert backends.admit_harvest(settings(""), tmp_path, A) == "semcrawl"
    assert not (tmp_path / "crawl.json").exists()


def test_another_folder_is_refused_unless_it_joins(url: str, tmp_path: Path) -> None:
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two")
    admit_harvest(settings(url, SEMCRAWL_CRAWL_NAME="c"), one, A)
    for seeds in (A, B, []):
        with pytest.raises(UsageError, match=r"crawl c .* http://a\.example/.* --join c"):
            admit_harvest(settings(url, SEMCRAWL_CRAWL_NAME="c"), two, seeds)
    joins = {"SEMCRAWL_CRAWL_NAME": "c", "SEMCRAWL_JOIN": True}
    assert admit_harvest(settings(url, **joins), two, []) == "c"
    # from now on it is the crawl's
    assert admit_harvest(settings(url), two, []) == "c"


def test_a_folder_that_was_deleted_and_made_anew_is_told_how_to_start_afresh(
    url: str, tmp_path: Path
) -> None:
    one = folder(tmp_path / "one")
    name = admit_harvest(settings(url), one, A)
    (one / "crawl.json").unlink()
    with pytest.raises(UsageError, match=f"SEMCRAWL_CRAWL_NAME={name} --drop"):
        admit_harvest(settings(url), one, A)


def test_who_joins_takes_the_scope_and_may_say_no_other(url: str, tmp_path: Path) -> None:
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two")
    admit_harvest(settings(url, SEMCRAWL_CRAWL_NAME="c", SEMCRAWL_SCOPE="any"), one, A)
    joins = {"SEMCRAWL_CRAWL_NAME": "c", "SEMCRAWL_JOIN": True}
    with pytest.raises(UsageError, match="scope any, not parent; leave the scope out"):
        admit_harvest(settings(url, **joins, SEMCRAWL_SCOPE="parent"), two, [])
    joining = settings(url, **joins)
    admit_harvest(joining, two, [])
    assert joining["SEMCRAWL_SCOPE"] == "any"


def test_a_folder_may_widen_its_own_crawl(url: str, tmp_path: Path) -> None:
    admit_harvest(settings(url), tmp_path, A)
    wider = settings(url, SEMCRAWL_SCOPE="any")
    admit_harvest(wider, tmp_path, B)
    assert wider["SEMCRAWL_SCOPE"] == "any"
    later = settings(url)
    admit_harvest(later, tmp_path, [])
    assert later["SEMCRAWL_SCOPE"] == "any"


def test_there_must_be_a_crawl_to_join(url: str, tmp_path: Path) -> None:
    joins = {"SEMCRAWL_CRAWL_NAME": "nobody", "SEMCRAWL_JOIN": True}
    with pytest.raises(UsageError, match="no crawl 'nobody'"):
        admit_harvest(settings(url, **joins), tmp_path, [])


def test_workers_share_a_name_and_its_seeds_from_folders_of_their_own(
    url: str, tmp_path: Path
) -> None:
    one, two, three = (folder(tmp_path / name) for name in ("one", "two", "three"))
    admit_worker(settings(url), one, A, "any")
    admit_worker(settings(url), two, A, "any")
    waits = settings(url)
    admit_worker(waits, three, [], "")
    assert waits["SEMCRAWL_SCOPE"] == "any"
    with pytest.raises(UsageError, match=r"other seeds; .* SEMCRAWL_JOIN=1"):
        admit_worker(settings(url), folder(tmp_path / "four"), B, "")
    admit_worker(settings(url, SEMCRAWL_JOIN=1), folder(tmp_path / "four"), B, "")


def test_any_seeds_come_to_workers_that_wait_for_them(url: str, tmp_path: Path) -> None:
    admit_worker(settings(url), folder(tmp_path / "one"), [], "")
    admit_worker(settings(url), folder(tmp_path / "two"), A, "")


def test_a_folder_begun_under_the_old_name_goes_on_with_it(url: str, tmp_path: Path) -> None:
    old, new = folder(tmp_path / "old"), folder(tmp_path / "new")
    (old / "crawl.db").touch()
    with Redis.from_url(url) as client:
        client.hset("{semcrawl}:meta", "format", "6")
    assert admit_harvest(settings(url), new, A) == name_for(new)
    assert admit_harvest(settings(url), old, []) == "semcrawl"
    # as do others that shared it
    another = folder(tmp_path / "another")
    (another / "crawl.db").touch()
    assert admit_harvest(settings(url), another, []) == "semcrawl"
    with pytest.raises(UsageError, match="--join semcrawl"):
        admit_harvest(settings(url, SEMCRAWL_CRAWL_NAME="semcrawl"), folder(tmp_path / "n"), B)


def test_a_folder_with_a_server_of_its_own_is_no_shared_one(url: str, tmp_path: Path) -> None:
    (tmp_path / "crawl.db").touch()
    (tmp_path / "frontier").mkdir()
    with Redis.from_url(url) as client:
        client.hset("{semcrawl}:meta", "format", "6")
    assert admit_harvest(settings(url), tmp_path, A) == name_for(tmp_path)


def test_what_is_no_charter_or_name_is_none(tmp_path: Path) -> None:
    for text in (b"", b"[]", b'{"scope": 1}', b'{"folders": []}', b"\xff"):
        assert Charter.read(text) is None
    (tmp_path / "crawl.json").write_text('{"crawl": "x"}')
    assert JobName.read(tmp_path) is None
