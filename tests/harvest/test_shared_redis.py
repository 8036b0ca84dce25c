"""Harvests on one Redis: each has a crawl of its own, unless it is asked to join another's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from spiders.site import handler, page
from waiting import until

from harvest.runs import harvest, semcrawl, start, start_harvest
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, serve

pytestmark = pytest.mark.slow

TURTLE = "text/turtle", b"<#it> <http://v.example/p> 1 ."
SITE = {"/": page(*(f"/{n}.ttl" for n in range(6))), **{f"/{n}.ttl": TURTLE for n in range(6)}}
SITES = {f"{name}.example": handler(SITE) for name in "ab"}
QUICK = ("-s", "SEMCRAWL_CRAWL_DELAY=0")


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    with RedisServer(tmp_path / "redis") as server:
        yield f"unix://{server.socket}"


def hosts(urls: object) -> set[str]:
    return {str(url).split("/")[2] for url in urls}  # type: ignore[attr-defined]


def test_two_harvests_do_not_mix(redis: str, tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers=SITES) as server:
        under_way = [
            start_harvest(
                f"http://{name}.example/", *QUICK,
                folder=tmp_path / name, proxy=server.proxy_url, REDIS_URL=redis,
            )
            for name in "ab"
        ]  # fmt: skip
        runs = [run.wait() for run in under_way]
        names = []
        for name, run in zip("ab", runs, strict=True):
            assert run.status == 0, run.err
            assert hosts(run.outcomes()) == {f"{name}.example"}
            assert len(run.documents()) == 6
            # what another machine needs to take part
            line = next(line for line in run.err.splitlines() if "--join" in line)
            names.append(line.split("--join ")[1].split()[0])
            assert names[-1].startswith(f"{name}-")
        place = {"proxy": server.proxy_url, "REDIS_URL": redis}
        named = ("-s", f"SEMCRAWL_CRAWL_NAME={names[0]}")
        refused = harvest("http://b.example/", *named, folder=tmp_path / "c", **place)
        refused.says_in_one_line(names[0], "http://a.example/", "--join")
        store = ("-s", "SEMCRAWL_STORE_URL=http://127.0.0.1:9/store")
        joined = harvest("--join", names[0], *QUICK, *store, folder=tmp_path / "d", **place)
        assert "Traceback" not in joined.err
        assert "give all workers one SEMCRAWL_METADATA_URL" in joined.err
        again = harvest(*QUICK, folder=tmp_path / "a", **place)
        assert "nothing left to fetch" in again.out
    looked = start("frontier", "a", folder=tmp_path / "a", REDIS_URL=redis).wait()
    assert "done     7" in looked.out, looked.err
    without = semcrawl("frontier", "a", folder=tmp_path / "a")
    without.says_in_one_line("REDIS_URL")


def test_a_run_that_joins_keeps_the_slower_pace(redis: str, tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers=SITES) as server:
        place = {"proxy": server.proxy_url, "REDIS_URL": redis}
        first = start_harvest(
            "http://a.example/", "-s", "SEMCRAWL_CRAWL_DELAY=1.5", folder=tmp_path / "a", **place
        )
        with Redis.from_url(redis) as client:
            until(lambda: any(client.scan_iter("*:members")))
            key = next(client.scan_iter("*:members")).decode()
        name = key.partition("}")[0][1:]
        second = harvest("--join", name, *QUICK, "--pages", "2", folder=tmp_path / "b", **place)
        run = first.wait()
    assert "slower pace holds: delay 0 -> 1.5 s" in second.err
    assert run.status == second.status == 0, run.err + second.err
    starts = sorted(record["started_at"] for each in (run, second) for record in each.records)
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    assert min(gaps) > 1.4, gaps
