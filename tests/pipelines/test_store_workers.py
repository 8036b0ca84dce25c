"""Several workers deliver to one triple store, and write to one database, without a clash."""

from __future__ import annotations

import sqlite3
from collections import Counter

import pytest
from harvest.runs import harvest, start_harvest

from semcrawl.demo import DemoWeb, serve
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.results.mergedjobs import merge_jobs

from .deliveries import counts_for_store

pytestmark = pytest.mark.slow
WEB = DemoWeb()
QUICK = ("--fast", "-s", "SEMCRAWL_CRAWL_DELAY=0.1", "-s", "SEMCRAWL_ENDPOINTS=found")


def test_workers_of_one_folder_fill_one_store(tmp_path, oxigraph):
    store = ("-s", f"SEMCRAWL_STORE_URL={oxigraph.gsp}")
    with serve(WEB) as server:
        run = harvest(
            WEB.start, *QUICK, *store, "--workers", "2",
            folder=tmp_path / "out", proxy=server.proxy_url, no_proxy="127.0.0.1",
        )  # fmt: skip
    assert run.status == 0, run.err
    merge_jobs([run.folder], tmp_path / "merged")
    assert oxigraph.counts() == counts_for_store(tmp_path / "merged")


def test_workers_of_two_folders_fill_one_store_and_one_database(tmp_path, oxigraph):
    """As a merged folder holds it: each graph, each record, each document once."""
    database = tmp_path / "all.db"
    shared = (
        *("-s", f"SEMCRAWL_STORE_URL={oxigraph.gsp}"),
        *("-s", f"SEMCRAWL_METADATA_URL=sqlite:///{database}"),
    )
    with serve(WEB) as server, RedisServer(tmp_path / "redis") as redis:
        place = {
            "proxy": server.proxy_url,
            "no_proxy": "127.0.0.1",
            "guesses": True,
            "REDIS_URL": f"unix://{redis.socket}",
        }
        some = (WEB.start, *QUICK, *shared, "--pages", "150")
        first = start_harvest(*some, folder=tmp_path / "first", **place)
        assert first.process.stderr is not None
        name = first.process.stderr.readline().split("--join ")[1].split()[0]
        second = start_harvest("--join", name, *QUICK, *shared, folder=tmp_path / "second", **place)
        runs = [first.wait(), second.wait()]
    assert [run.status for run in runs] == [0, 0], runs[0].err + runs[1].err
    merge_jobs([run.folder for run in runs], tmp_path / "merged")
    assert oxigraph.counts() == counts_for_store(tmp_path / "merged")
    with sqlite3.connect(database) as connection:
        documents = Counter(dict(connection.execute("SELECT url, quads FROM document")))
        records = connection.execute(
            "SELECT count(*), count(DISTINCT worker) FROM fetch"
        ).fetchone()
    assert documents == WEB.manifest().documents
    assert records[1] == 2
    assert records[0] >= sum(1 for _ in documents)
