"""Politeness as the visited servers see it, over several workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from crawl_workers import CrawlWorkers
from served_redis import ServedRedis
from web import Served, Web

HOSTS = 50
PAGES_PER_HOST = 11
DELAYS = (0.5, 1.0, 1.5, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["redis", "sqlite"])
def test_three_workers_keep_every_hosts_delay(
    start_served: Callable[..., ServedRedis], tmp_path: Path, engine: str
) -> None:
    """No gap is below the delay, and little time is lost over what the delays force."""
    redis = start_served() if engine == "redis" else None
    web = Web(HOSTS * PAGES_PER_HOST, HOSTS, links=30, delays=DELAYS, latency=0.02)
    with Served(web) as served:
        crawl = CrawlWorkers(
            served,
            redis,
            tmp_path,
            *("SEMCRAWL_CRAWL_DELAY=0.5", "SEMCRAWL_CONCURRENCY_PER_HOST=1"),
            *("SEMCRAWL_LEASE_TIME=60", "CONCURRENT_REQUESTS=32"),
        )
        crawl.seeds = list(range(HOSTS))
        try:
            workers = [crawl.start() for _ in range(3)]
            assert [worker.wait(400) for worker in workers] == [0, 0, 0]
        finally:
            crawl.stop()
    times: defaultdict[str, list[float]] = defaultdict(list)
    for time, host, _ in web.log:  # robots.txt, which every worker reads, counts as well
        times[host].append(time)
    assert len(web.requests()) == HOSTS * PAGES_PER_HOST
    forced = 0.0
    for number in range(HOSTS):
        starts = times[f"h{number}.example"]
        delay = DELAYS[number % len(DELAYS)]
        forced = max(forced, delay * (len(starts) - 1))
        # before robots.txt is read nobody can know what it asks for
        assert min(b - a for a, b in pairwise(starts[1:])) >= delay, number
    every = [time for starts in times.values() for time in starts]
    assert max(every) - min(every) <= 1.2 * forced
