"""The two spiders in processes of their own, on one served Redis, do what a harvest does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.runs import Started, asked, duplicates, start
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, serve

pytestmark = pytest.mark.slow

WEB = DemoWeb()
MANIFEST = WEB.manifest()
QUICK = (
    *("-s", "SEMCRAWL_ENDPOINTS=found"),
    *("-s", "SEMCRAWL_CRAWL_DELAY=0"),
    *("-s", "SEMCRAWL_MAX_CRAWL_DELAY=0"),
    *("-s", "SEMCRAWL_CONCURRENCY_PER_HOST=8"),
    # without work for so long, they are done (a busy machine needs seconds to start the other)
    *("-s", "MAX_IDLE_TIME_BEFORE_CLOSE=15"),
)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """URL of a Redis server of this test."""
    server = RedisServer(tmp_path / "redis")
    server.start()
    yield f"unix://{server.socket}"
    server.stop()


def start_spider(name: str, *arguments: str, place: Path, proxy: str, redis: str) -> Started:
    folder = place / name
    return start(
        *("crawl", name, *arguments, *QUICK, "-s", f"SEMCRAWL_JOBDIR={folder}"),
        folder=folder,
        proxy=proxy,
        REDIS_URL=redis,
    )


def by_address(documents: Counter[str]) -> Counter[str]:
    """Name each document by its address: only the HTML spider asks a page again for its RDF."""
    found = Counter({url.partition("#")[0]: quads for url, quads in documents.items()})
    assert len(found) == len(documents)
    return found


def test_two_spiders_exchange_links_and_miss_nothing(redis: str, tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(WEB, log=log) as server:
        place = {"place": tmp_path, "proxy": server.proxy_url, "redis": redis}
        spiders = [
            start_spider("rdf", **place),
            start_spider("html", "-a", f"seeds={WEB.start}", **place),
        ]
        runs = [spider.wait() for spider in spiders]
    assert [run.status for run in runs] == [0, 0], runs[0].err + runs[1].err
    rdf, html = runs
    assert by_address(rdf.documents()) + by_address(html.documents()) == by_address(
        MANIFEST.documents
    )
    assert not duplicates(rdf.quads + html.quads)
    assert rdf.sent() + html.sent() == asked(log)
    # each did its own part
    assert rdf.documents()
    assert html.documents()
