"""A whole crawl whose workers and server are killed: every page, record and quad, and once."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest
from crawl_workers import CrawlWorkers
from scrapy.settings import Settings
from served_redis import ServedRedis
from web import Served, Web

from semcrawl.errors import FrontierUnavailable
from semcrawl.frontier.backends import visited_frontier

PAGES = 2500
#: links that a worker may have taken and not finished
LEASES = 64
#: runs, each with kills at other moments; ``make many`` has more
RUNS = 1 + int(os.environ.get("SEMCRAWL_TEST_KILL_RUNS", "0")) // 5


async def leases_of(settings: Settings, job: Path | None, pid: int) -> int:
    """How many links a worker has that are not acknowledged."""
    async with visited_frontier(settings, job) as frontier:
        leases = (await frontier.inspector.state()).leases
    return sum(f"/{pid}/" in lease.worker for lease in leases)


def leases_when_stopped(worker: Popen[bytes], settings: Settings, job: Path | None) -> int:
    """Stop a worker, and return how many links it has then."""
    while True:
        worker.send_signal(signal.SIGSTOP)
        try:
            return asyncio.run(leases_of(settings, job, worker.pid))
        except FrontierUnavailable:  # it was stopped with the file locked
            worker.send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["redis", "sqlite"])
@pytest.mark.parametrize("seed", range(RUNS))
def test_kills_in_a_whole_crawl(
    start_served: Callable[..., ServedRedis], tmp_path: Path, seed: int, engine: str
) -> None:
    rng = random.Random(seed)
    in_flight = 0
    moments = sorted(rng.sample(range(PAGES // 20, PAGES * 9 // 10), 4))
    victims = rng.sample(["worker", "worker", "worker", "server"], 4)
    redis = start_served() if engine == "redis" else None
    web = Web(PAGES, hosts=7)
    settings = Settings({"REDIS_URL": redis.url if redis else ""})
    job = None if redis else tmp_path / "job"
    with Served(web) as served:
        crawl = CrawlWorkers(
            served,
            redis,
            tmp_path,
            *("SEMCRAWL_CRAWL_DELAY=0", "SEMCRAWL_CONCURRENCY_PER_HOST=8"),
            *("SEMCRAWL_LEASE_TIME=120", "CONCURRENT_REQUESTS=8", f"SEMCRAWL_MAX_LEASES={LEASES}"),
            together=True,
        )
        workers = [crawl.start() for _ in range(2)]
        try:
            for moment, victim in zip(moments, victims, strict=True):
                while len(web.requests()) < moment:
                    assert all(worker.poll() is None for worker in workers)
                    time.sleep(0.005)
                if redis and victim == "server":
                    redis.kill()
                    redis.start()
                else:
                    one = rng.randrange(2)
                    leases = leases_when_stopped(workers[one], settings, job)
                    assert leases <= LEASES
                    in_flight += leases
                    workers[one].kill()
                    workers[one].wait()
                    workers[one] = crawl.start()
            assert [worker.wait(300) for worker in workers] == [0, 0]
        finally:
            crawl.stop()
    asked = Counter(f"http://{host}{path}" for _, host, path in web.requests())
    wanted = {web.url(page) for page in range(PAGES)}
    assert asked.keys() == wanted
    assert asked.total() - PAGES <= in_flight
    records = crawl.records()
    assert records.keys() == wanted
    assert records.total() == PAGES
    documents = {web.url(page) for page in range(PAGES) if web.is_rdf(page)}
    quads = crawl.quads()
    assert {line.split()[0].strip("<>").removesuffix("#it") for line in quads} == documents
    assert all(line.endswith(" .") for line in quads)
    assert quads.total() == len(documents)
