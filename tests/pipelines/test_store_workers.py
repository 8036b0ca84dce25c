"""Several workers deliver to one triple store, and write to one database, without a clash."""

from __future__ import annotations

import sqlite3
from collections import Counter

import pytest
from harvest.runs import harvest, start_harvest
from spiders.site import handler, page

from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.results.mergedjobs import merge_jobs

from .deliveries import counts_for_store, settings_for

pytestmark = pytest.mark.slow
WEB = DemoWeb()
QUICK = ("--fast", "-s", "SEMCRAWL_CRAWL_DELAY=0.1", "-s", "SEMCRAWL_ENDPOINTS=found")


def test_workers_of_one_folder_fill_one_store(tmp_path, oxigraph):
    store = ("-s", f"SEMCRAWL_STORE_URL={oxigraph.gsp}")
    with serve(WEB) as server:
        run = harvest(
            WEB.start, *QUICK, *store, "--workers", "2", "--pages", "150",
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


D = "http://d.example"


def turtle(number: int, night: int) -> tuple[str, bytes]:
    lines = (f"<#it> <urn:p{n}> <urn:night{night}> .\n" for n in range(number % 5 + 1))
    return "text/turtle", "".join(lines).encode()


@pytest.mark.parametrize(
    "server",
    ["oxigraph", pytest.param("virtuoso", marks=[pytest.mark.study, pytest.mark.server])],
    indirect=True,
)
def test_three_nights_of_three_machines_and_one_store(tmp_path, server):
    """Changed, added and gone documents: the store equals the site each night, without doubles.

    What each store does with such deliveries is shown in ``test_graph_owners.py``.
    """
    site = {f"/d{n}.ttl": turtle(n, 1) for n in range(30)}

    def publish() -> None:
        site["/"] = page(*(path for path in site if path != "/"))

    publish()
    shared = (
        *settings_for(server),
        *("-s", f"SEMCRAWL_METADATA_URL=sqlite:///{tmp_path / 'all.db'}"),
        *("--fast", "--sitemaps", "never", "-s", "SEMCRAWL_WELL_KNOWN="),
        *("-s", "SEMCRAWL_CRAWL_DELAY=0.1", "-s", "SEMCRAWL_CRAWL_NAME=nightly"),
    )

    async def answer(request, out):
        await handler(site)(request, out)

    with (
        serve(DemoWeb(), handlers={"d.example": answer}) as web,
        RedisServer(tmp_path / "redis") as redis,
    ):
        place = {
            "proxy": web.proxy_url,
            "no_proxy": "127.0.0.1",
            "REDIS_URL": f"unix://{redis.socket}",
        }
        for night in (1, 2, 3):
            first = ("--revisit", f"{D}/") if night > 1 else (f"{D}/",)
            started = [start_harvest(*first, *shared, folder=tmp_path / "m1", **place)]
            assert started[0].process.stderr is not None
            assert "--join nightly" in started[0].process.stderr.readline()
            started += [
                start_harvest("--join", "nightly", *shared, folder=tmp_path / f"m{n}", **place)
                for n in (2, 3)
            ]
            for run in [each.wait() for each in started]:
                run.is_calm()
            wanted = {
                f"{D}{path}": body.count(b"\n")
                for path, (kind, body) in site.items()
                if kind == "text/turtle"
            }
            assert server.counts() == wanted
            for number in range(night, 30, 7):
                site[f"/d{number}.ttl"] = turtle(number + night, night + 1)
            for number in range(night + 2, 30, 11):
                site.pop(f"/d{number}.ttl", None)
            site[f"/new{night}.ttl"] = turtle(3, night)
            publish()
