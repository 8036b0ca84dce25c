"""Messages of a crawl that could not begin, or not go on."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from collections import Counter
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


@pytest.mark.slow
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


@pytest.fixture
def spoilt(start_served: Callable[..., ServedRedis]) -> ServedRedis:
    """A server on which somebody else uses a key of the frontier."""
    redis = start_served()
    with redis.client() as client:
        client.set("{semcrawl}:labels:html", "something else")
    return redis


@pytest.mark.slow
def test_a_crawl_whose_seeds_cannot_be_planted(
    spoilt: ServedRedis, web: Served, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    crawl = CrawlWorkers(web, spoilt, tmp_path)
    status, log = ended(crawl.start(), crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "Traceback" not in log
    problem = "the frontier's key '{semcrawl}:labels:html' holds something of another type"
    assert capfd.readouterr().err.startswith(f"semcrawl: {problem}")
    assert web.web.log == []


@pytest.mark.slow
def test_a_subclass_whose_start_cannot_be_followed(spoilt: ServedRedis, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from semcrawl.spiders.html import HtmlSpider\n"
        "class Own(HtmlSpider):\n"
        "    name = 'own'\n"
        "    start_urls = ['http://a.example/']\n"
    )
    line = [sys.executable, "-m", "semcrawl", "runspider", "own.py"]
    line += ["-s", f"REDIS_URL={spoilt.url}", "-s", "SEMCRAWL_JOBDIR=job"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert "'{semcrawl}:labels:html' holds something of another type" in done.stderr


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_was_under_way_when_a_crawl_could_not_go_on_has_its_record(
    start_served: Callable[..., ServedRedis], tmp_path: Path
) -> None:
    redis = start_served()
    quick = ("SEMCRAWL_CRAWL_DELAY=0", "SEMCRAWL_SLOW_START=0", "CONCURRENT_REQUESTS=8")
    with Served(Web(2000, hosts=8, latency=0.3)) as served:
        crawl = CrawlWorkers(served, redis, tmp_path, *quick)
        worker = crawl.start()
        try:
            until(lambda: len(served.web.requests()) > 40)
            with redis.client() as client:
                client.config_set("requirepass", "changed")
                client.client_kill_filter(_type="normal", skipme=True)
        except BaseException:
            crawl.stop()
            raise
        status, _ = ended(worker, crawl, tmp_path / "worker-0.log")
        sent = Counter(f"http://{host}{path}" for _, host, path in served.web.requests())
    assert status == 1
    with sqlite3.connect(crawl.folders[0] / "crawl.db") as database:
        rows = database.execute("SELECT url, outcome FROM fetch").fetchall()
    assert Counter(url for url, _ in rows if "/page/" in url) == sent
    assert "interrupted" in {outcome for _, outcome in rows}


@pytest.mark.slow
def test_a_crawl_without_what_acknowledges_links(
    start_served: Callable[..., ServedRedis],
    web: Served,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A project may have switched the middleware off: the crawl ends instead of standing still."""
    off = 'SPIDER_MIDDLEWARES={"semcrawl.crawl.acknowledgement.Acknowledgement": null}'
    crawl = CrawlWorkers(web, start_served(), tmp_path, off)
    status, log = ended(crawl.start(), crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "'finish_reason': 'frontier_unavailable'" in log
    assert "semcrawl.crawl.acknowledgement is switched off" in capfd.readouterr().err


class LargeDocuments(Web):
    """Whose RDF has more in it than may be written."""

    def answer(self, host: str, path: str) -> tuple[str, str, str]:
        status, kind, body = super().answer(host, path)
        if kind == "text/turtle":
            body = f'<#it> <http://v.example/text> "{"x" * 2_000_000}" .'
        return status, kind, body


@pytest.mark.slow
def test_a_crawl_whose_results_cannot_be_written(
    start_served: Callable[..., ServedRedis], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with Served(LargeDocuments(12, hosts=2)) as served:
        crawl = CrawlWorkers(served, start_served(), tmp_path, "SEMCRAWL_CRAWL_DELAY=0")
        worker = crawl.start()
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        status, log = ended(worker, crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "1 result could not be written" in capfd.readouterr().err
    assert "'semcrawl/quads/failed': 1" in log


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["format", "foreign", "folder"])
def test_a_crawl_whose_file_cannot_be_opened(
    web: Served, tmp_path: Path, capfd: pytest.CaptureFixture[str], wrong: str
) -> None:
    """A fault of the frontier's file gives one line, and the file stays as it is."""
    file = tmp_path / "job" / "frontier.db"
    file.parent.mkdir()
    if wrong == "folder":
        file.mkdir()
    elif wrong == "foreign":
        file.write_bytes(b"something else\n" * 500)
    else:
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA application_id = 0x73636672")
            database.execute("PRAGMA user_version = 99")
        database.close()
    before = file.read_bytes() if file.is_file() else b""
    crawl = CrawlWorkers(web, None, tmp_path)
    status, log = ended(crawl.start(), crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "Traceback" not in log
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1, said
    assert str(file.resolve()) in said[0]
    assert web.web.log == []
    assert (file.read_bytes() if file.is_file() else b"") == before


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["deleted", "damaged"])
def test_a_crawl_whose_file_is_lost(
    web: Served, tmp_path: Path, capfd: pytest.CaptureFixture[str], wrong: str
) -> None:
    crawl = CrawlWorkers(web, None, tmp_path, "SEMCRAWL_CRAWL_DELAY=0.01")
    worker = crawl.start()
    file = tmp_path / "job" / "frontier.db"
    try:
        until(lambda: len(web.web.requests()) > 20)
        if wrong == "deleted":
            file.unlink()
        else:
            with sqlite3.connect(file) as database:
                database.execute("DROP TABLE host")
            database.close()
    except BaseException:
        crawl.stop()
        raise
    status, log = ended(worker, crawl, tmp_path / "worker-0.log")
    assert status == 1
    assert "Traceback" not in log
    assert "'finish_reason': 'crawl_failed'" in log
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1, said
    assert str(file.resolve()) in said[0]
