"""What a crawl that could not begin, or not go on, says to those who started it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crawl_workers import CrawlWorkers
from served_redis import ServedRedis
from waiting import until
from web import Served, Web


@pytest.fixture
def web() -> Iterator[Served]:
    with Served(Web(2000, hosts=3)) as served:
        yield served


def ended(worker: subprocess.Popen[bytes], crawl: CrawlWorkers, log: Path) -> tuple[int, str]:
    """Wait for a worker; return its exit status and its log."""
    try:
        return worker.wait(60), log.read_text()
    finally:
        crawl.stop()


def test_a_crawl_that_cannot_begin(
    start_served: Callable[..., ServedRedis],
    web: Served,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    redis = start_served()
    with redis.client() as client:
        client.hset("{semcrawl}:meta", "format", "4")
    crawl = CrawlWorkers(web, redis, tmp_path)
    status, log = ended(crawl.start(), crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "'finish_reason': 'frontier_unavailable'" in log
    assert "Traceback" not in log
    assert "has format 4" in capfd.readouterr().err
    assert web.web.log == []


def test_a_crawl_that_cannot_go_on(
    start_served: Callable[..., ServedRedis],
    web: Served,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    redis = start_served()
    crawl = CrawlWorkers(web, redis, tmp_path, "SEMCRAWL_CRAWL_DELAY=0.01")
    worker = crawl.start()
    try:
        until(lambda: len(web.web.requests()) > 20)
        with redis.client() as client:
            client.set("{semcrawl}:cooling", "something else")
    except BaseException:
        crawl.stop()
        raise
    status, log = ended(worker, crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "'finish_reason': 'crawl_failed'" in log
    assert "{semcrawl}:cooling" in capfd.readouterr().err
