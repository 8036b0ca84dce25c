"""Whatever is sent to a host, it is never asked again before its delay is over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from harvest.runs import Run, harvest, logged, start
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, Request, Stream, serve
from semcrawl.lab.demo.model import Handler

pytestmark = pytest.mark.slow

DELAY = 0.3
DOCUMENTS = 6
HOSTS = ["data.example", "one.example", "two.example", "moved.example"]
#: what the clocks of sender and receiver, and the way between them, may differ in (seconds)
JITTER = 0.02


def site(host: str) -> Handler:
    """A start page, pages, documents whose contexts are on all hosts, and these contexts."""

    async def answer(request: Request, out: Stream) -> None:
        path = request.path
        if path == "/robots.txt" and host == "moved.example":
            await out.whole(301, [("Location", "/rules")], b"")
        elif path == "/robots.txt":
            await out.whole(404, [], b"")
        elif path == "/rules":
            await out.whole(200, [("Content-Type", "text/plain")], b"User-agent: *\nDisallow: /x\n")
        elif path.startswith("/context"):
            body = json.dumps({"@context": {f"p{path[-1]}": f"http://v.example{path}"}})
            await out.whole(200, [("Content-Type", "application/ld+json")], body.encode())
        elif path.endswith(".jsonld"):
            number = int(path[2:-7])
            contexts = [f"http://{one}/context{number % 3}" for one in HOSTS]
            data = {"@context": contexts, "@id": path, f"p{number % 3}": "x"}
            await out.whole(
                200, [("Content-Type", "application/ld+json")], json.dumps(data).encode()
            )
        elif path == "/moving":
            await out.whole(302, [("Location", "/page")], b"")
        else:
            targets = [f"http://{one}/page{n}" for one in HOSTS for n in range(2)]
            targets += [f"http://data.example/d{n}.jsonld" for n in range(DOCUMENTS)]
            targets += [f"http://{one}/moving" for one in HOSTS]
            links = "".join(f"<a href={target}>x</a>" for target in targets)
            await out.whole(200, [("Content-Type", "text/html")], links.encode())

    return answer


SITES = {host: site(host) for host in HOSTS}
SETTINGS = (
    *("-s", f"SEMCRAWL_CRAWL_DELAY={DELAY}", "-s", "SEMCRAWL_SLOW_START=0"),
    *("-s", "SEMCRAWL_SCOPE=any"),
)


def gaps(log: Path) -> dict[str, list[float]]:
    """Seconds between what arrived at each host one after the other."""
    times: dict[str, list[float]] = {}
    for line in logged(log):
        times.setdefault(line["host"], []).append(line["t"])
    return {
        host: [later - earlier for earlier, later in pairwise(sorted(arrived))]
        for host, arrived in times.items()
    }


def check(log: Path, runs: list[Run]) -> None:
    found = gaps(log)
    assert found.keys() == set(HOSTS)
    short = {host: [gap for gap in all_ if gap < DELAY - JITTER] for host, all_ in found.items()}
    assert short == {host: [] for host in HOSTS}
    documents = sum((run.documents() for run in runs), start=runs[0].documents().__class__())
    assert documents == {f"http://data.example/d{n}.jsonld": 1 for n in range(DOCUMENTS)}
    asked = [(line["host"], line["path"]) for line in logged(log)]
    once = [
        one for one in asked if one[1].startswith("/context") or one[1] in ("/robots.txt", "/rules")
    ]
    assert len(once) == len(set(once)) == 3 * len(HOSTS) + len(HOSTS) + 1


def test_one_worker_keeps_every_gap(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers=SITES) as server:
        run = harvest(
            *("http://data.example/", *SETTINGS), folder=tmp_path / "out", proxy=server.proxy_url
        )
    check(log, [run])


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """URL of a Redis server of this test."""
    with RedisServer(tmp_path / "redis") as server:
        yield f"unix://{server.socket}"


def test_two_workers_keep_every_gap(redis: str, tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers=SITES) as server:
        workers = [
            start(
                *("crawl", "html", "-a", "follow_rdf=1", *SETTINGS),
                *("-a", "seeds=http://data.example/,http://one.example/"),
                *("-s", f"SEMCRAWL_JOBDIR={tmp_path / str(number)}"),
                *("-s", "MAX_IDLE_TIME_BEFORE_CLOSE=10"),
                folder=tmp_path / str(number),
                proxy=server.proxy_url,
                REDIS_URL=redis,
            )
            for number in range(2)
        ]
        runs = [worker.wait() for worker in workers]
    assert [run.status for run in runs] == [0, 0], runs[0].err + runs[1].err
    check(log, runs)
