"""A whole crawl whose workers and server are killed: every page, every record, every quad."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from crawl_workers import CrawlWorkers
from served_redis import ServedRedis
from web import Served, Web

PAGES = 5000
#: downloads of one worker at a time
DOWNLOADS = 8
#: links that a worker has not acknowledged: being downloaded, or being read and written
IN_FLIGHT = 2 * DOWNLOADS
#: runs, each with kills at other moments
RUNS = int(os.environ.get("SEMCRAWL_TEST_KILL_RUNS", "2"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_kills_in_a_whole_crawl(
    start_served: Callable[..., ServedRedis], tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    moments = sorted(rng.sample(range(PAGES // 20, PAGES * 9 // 10), 4))
    victims = rng.sample(["worker", "worker", "worker", "server"], 4)
    redis, web = start_served(), Web(PAGES, hosts=7)
    with Served(web) as served:
        crawl = CrawlWorkers(
            served,
            redis,
            tmp_path,
            *("SEMCRAWL_CRAWL_DELAY=0", "SEMCRAWL_CONCURRENCY_PER_HOST=8"),
            *("SEMCRAWL_LEASE_TIME=10", f"CONCURRENT_REQUESTS={DOWNLOADS}"),
        )
        workers = [crawl.start() for _ in range(2)]
        try:
            for moment, victim in zip(moments, victims, strict=True):
                while len(web.requests()) < moment:
                    assert all(worker.poll() is None for worker in workers)
                    time.sleep(0.005)
                if victim == "server":
                    redis.kill()
                    redis.start()
                else:
                    one = rng.randrange(2)
                    workers[one].kill()
                    workers[one].wait()
                    workers[one] = crawl.start()
            assert [worker.wait(300) for worker in workers] == [0, 0]
        finally:
            crawl.stop()
    asked = Counter(f"http://{host}{path}" for _, host, path in web.requests())
    wanted = {web.url(page) for page in range(PAGES)}
    assert asked.keys() == wanted
    assert asked.total() - PAGES <= 3 * IN_FLIGHT
    records = crawl.records()
    assert records.keys() == wanted
    # one record for each attempt that was not cut off
    assert all(records[url] <= asked[url] for url in wanted)
    documents = {web.url(page) for page in range(PAGES) if web.is_rdf(page)}
    quads = crawl.quads()
    assert {line.split()[0].strip("<>").removesuffix("#it") for line in quads} == documents
    assert all(line.endswith(" .") for line in quads)
    assert quads.total() - len(documents) <= asked.total() - PAGES
