"""A crawl on a cluster survives the loss of its parts."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from backends import backend_at
from cluster_worker import IN_FLIGHT
from redis.crc import key_slot
from served_cluster import ServedCluster

from semcrawl.frontier.contract import Counts

pytestmark = [pytest.mark.server, pytest.mark.slow]

WORKER = Path(__file__).with_name("cluster_worker.py")
PAGES = 5000
HOSTS = 200
DELAY = 0.1
#: runs, each with failures at other moments
RUNS = int(os.environ.get("SEMCRAWL_TEST_CLUSTER_RUNS", "1"))
FAILURES = ["primary", "worker", "slot", "promotion", "restart"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ServedCluster]:
    served = ServedCluster(tmp_path / "nodes")
    yield served
    served.stop()


class Crawl:
    """Two workers, and what happens to them and to their cluster."""

    def __init__(self, cluster: ServedCluster, folder: Path, seed: int) -> None:
        self.cluster = cluster
        self.log = folder / "log"
        self.rng = random.Random(seed)
        self.workers = [self.started() for _ in range(2)]
        #: from when until when (``time.monotonic``) each failure of a server lasted
        self.failures: list[tuple[float, float]] = []

    def started(self) -> subprocess.Popen[bytes]:
        numbers = map(str, (PAGES, HOSTS, DELAY))
        command = [sys.executable, str(WORKER), self.cluster.url, str(self.log), *numbers]
        return subprocess.Popen(command)

    def fetched(self) -> int:
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def run(self) -> None:
        moments = sorted(self.rng.sample(range(PAGES // 20, PAGES * 9 // 10), len(FAILURES)))
        failures = self.rng.sample(FAILURES, len(FAILURES))
        try:
            for moment, failure in zip(moments, failures, strict=True):
                while self.fetched() < moment:
                    assert all(worker.poll() in (None, 0) for worker in self.workers)
                    time.sleep(0.005)
                began = time.monotonic()
                getattr(self, failure)()
                if failure != "worker":
                    self.failures.append((began, time.monotonic()))
            assert [worker.wait(180) for worker in self.workers] == [0, 0]
        finally:
            for worker in self.workers:
                worker.kill()
                worker.wait()

    def worker(self) -> None:
        one = self.rng.randrange(2)
        self.workers[one].kill()
        self.workers[one].wait()
        self.workers[one] = self.started()

    def _slot(self) -> int:
        return key_slot(b"kill.%d" % self.rng.randrange(3))

    def primary(self) -> None:
        self.cluster.fail_over(self.cluster.serving(self._slot()))
        self.cluster.until_whole()

    def promotion(self) -> None:
        self.cluster.promote(self.cluster.replica_of(self.cluster.serving(self._slot())))
        self.cluster.until_whole()

    def slot(self) -> None:
        slot = self._slot()
        others = [n for n in self.cluster.primaries() if n is not self.cluster.serving(slot)]
        self.cluster.move(slot, self.rng.choice(others))
        self.cluster.until_whole()

    def restart(self) -> None:
        self.cluster.restart()
        self.cluster.until_whole()

    async def look(self) -> tuple[Counts, list[str]]:
        async with backend_at(self.cluster.url).frontier("kill", "test") as frontier:
            return await frontier.counts(["html"], []), await frontier.inspector.audit()

    def rows(self) -> list[tuple[int, float, float]]:
        rows = [line.split() for line in self.log.read_text().splitlines()]
        return [(int(page), float(before), float(after)) for page, before, after in rows]

    def short_gaps(self) -> list[float]:
        """When each request surely came too early for its host."""
        by_host: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        for page, before, after in self.rows():
            by_host[page % HOSTS].append((after, before))
        return [
            later[0]
            for times in by_host.values()
            for earlier, later in pairwise(sorted(times))
            if later[0] - earlier[1] < DELAY
        ]

    def is_explained(self, moment: float) -> bool:
        """Whether a server failed at a moment, or shortly before."""
        return any(began <= moment <= ended + DELAY for began, ended in self.failures)


@pytest.mark.parametrize("seed", range(RUNS))
def test_kills_in_a_crawl_of_5000_pages(cluster: ServedCluster, tmp_path: Path, seed: int) -> None:
    """A primary, a worker and all nodes are killed, a slot moves, a replica is promoted."""
    crawl = Crawl(cluster, tmp_path, seed)
    crawl.run()
    times = Counter(page for page, _, _ in crawl.rows())
    again, short = times.total() - len(times), crawl.short_gaps()
    print(f"seed {seed}: {len(times)} pages, {again} fetched again, {len(short)} gaps too short")
    assert times.keys() == set(range(PAGES))
    # what the killed worker had, and what both had when servers failed
    assert again <= IN_FLIGHT * (1 + 2 * len(crawl.failures))
    assert all(map(crawl.is_explained, short))
    counts, differences = asyncio.run(crawl.look())
    assert (counts.finished, counts.seen, differences) == (True, PAGES, [])
