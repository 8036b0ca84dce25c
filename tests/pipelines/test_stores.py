"""A triple store holds what quads.nq holds, graph by graph, through outages and changes."""

from __future__ import annotations

import asyncio
import collections
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest
from scrapy.settings import Settings

from semcrawl.errors import UsageError
from semcrawl.items import EMBEDDED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.pipelines.store import StorePipeline
from semcrawl.pipelines.stores.contract import StoreUnavailable
from semcrawl.pipelines.stores.delivery import Deliverer
from semcrawl.pipelines.stores.embedded import EmbeddedStore
from semcrawl.pipelines.stores.opening import open_deliverer
from semcrawl.pipelines.stores.sparql import SparqlOptions, SparqlStore

from .documents import document, rows, url_of
from .servers import Virtuoso, fake_store


def counts_of_file(folder: Path) -> dict[str, int]:
    quads: set[pyoxigraph.Quad] = set()
    for path in folder.glob("*.nq"):
        with path.open("rb") as file:
            quads |= set(pyoxigraph.parse(file, pyoxigraph.RdfFormat.N_QUADS))
    return dict(collections.Counter(quad.graph_name.value for quad in quads))


def counts_of_embedded(folder: Path) -> dict[str, int]:
    store = pyoxigraph.Store.read_only(str(folder))
    found = store.query("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g")
    return {row["g"].value: int(row["n"].value) for row in found}


def options_of(server, protocol: str) -> SparqlOptions:
    return SparqlOptions(
        gsp_url=server.gsp if "gsp" in protocol else "",
        update_url=server.update if "update" in protocol else "",
        user=server.user,
        password=server.password,
        auth="digest" if isinstance(server, Virtuoso) else "basic",
        timeout=60,
        update_limit=50,
        put_above=50,
        bulk_url=f"{server.gsp}?no_transaction" if "bulk" in protocol else "",
    )


def deliver(deliverer: Deliverer) -> list:
    refused = []
    while (step := deliverer.step()) is not None:
        refused += step.refused
    return refused


def fill(file: QuadsFile) -> None:
    """Documents of every kind: plain, empty, with blank nodes, with graphs of their own."""
    file.append([document(f"plain{i}", *map(str, range(i))) for i in range(40)])
    blank = document("blank")
    graph = f"<{url_of('blank')}>"
    blank.nquads = (
        f'_:b1x <http://example.org/p> _:b2x {graph} .\n_:b2x <http://example.org/p> "é\\n" {graph}'
        f' .\n_:b2x <http://example.org/p> "a"@en {graph} .\n'
    ).encode()
    dump = document("dump")
    dump.nquads = b"".join(
        document(f"dump#{i}", *"abc", graph=url_of(f"graph{i % 3}")).nquads for i in range(9)
    )
    shared = document("graph1", "from the document itself")
    large = document("large", *(f"value {i}" for i in range(300)))
    file.append([blank, dump, shared, large])


def change(file: QuadsFile) -> None:
    """A second harvest: changed, gone, come in, and a dump that leaves a graph."""
    dump = document("dump", revisit=True, fetched_at=2000.0)
    dump.nquads = document("x", "new", graph=url_of("graph1")).nquads
    dump.content_hash = "other"
    gone = FetchRecord(
        url_of("plain20"), FetchOutcome.HTTP_ERROR, status=404, started_at=2000.0, revisit=True
    )
    file.append(
        [
            document("plain7", "now", "this", revisit=True, fetched_at=2000.0),
            gone,
            dump,
            document("added", "1"),
        ]
    )


@pytest.fixture
def job(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    return folder


def test_the_embedded_store_holds_what_the_file_holds(job):
    file = QuadsFile(job)
    for work in (fill, change):
        work(file)
        deliverer = Deliverer(job, EmbeddedStore(job / "store"), batch_documents=7)
        assert deliver(deliverer) == []
        assert deliverer.waiting() == 0
        deliverer.close()
        file.compact()
        assert counts_of_embedded(job / "store") == counts_of_file(job)
    file.close()


@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "update bulk"])
def test_a_server_holds_what_the_file_holds(job, server, protocol):
    if isinstance(server, Virtuoso) and "bulk" in protocol:
        pytest.skip("Virtuoso takes no N-Quads in a POST")
    file = QuadsFile(job)
    for work in (fill, change):
        work(file)
        store = SparqlStore(options_of(server, protocol))
        deliverer = Deliverer(job, store, batch_documents=7)
        assert deliver(deliverer) == []
        deliverer.close()
        file.compact()
        assert server.counts() == counts_of_file(job)
    file.close()


@pytest.mark.parametrize("protocol", ["gsp", "gsp update bulk"])
def test_a_graph_holds_what_a_page_and_a_document_say(job, oxigraph, protocol):
    """The page changes, then the document, then the page is gone; others stay as they are."""
    pages = QuadsFile(job, "embedded.nq", "embedded.db")
    file = QuadsFile(job)
    deliverer = Deliverer(job, SparqlStore(options_of(oxigraph, protocol)), batch_documents=3)

    def in_page(*values: str, **more) -> RdfDocument:
        return replace(document("page", *values, **more), format=EMBEDDED)

    dump = document("dump", "of the dump", graph=url_of("page"))
    gone = FetchRecord(
        url_of("page"), FetchOutcome.HTTP_ERROR, status=404, started_at=3000.0, revisit=True
    )
    steps = (
        (pages, in_page("first"), 1),
        (file, dump, 2),
        (pages, in_page("second", "third", revisit=True, fetched_at=2000.0), 3),
        (file, replace(dump, nquads=b"", content_hash="x", revisit=True, fetched_at=2000.0), 2),
        (file, document("page", "negotiated"), 3),
        (pages, gone, 1),
    )
    for number, (target, item, statements) in enumerate(steps):
        target.append([item])
        file.append([document(f"other{number}", "1")])
        assert deliver(deliverer) == []
        assert oxigraph.counts()[url_of("page")] == statements
        for each in (pages, file):
            each.compact()
        assert oxigraph.counts() == counts_of_file(job)
    deliverer.start_again()
    assert deliverer.waiting() == 9
    deliver(deliverer)
    assert oxigraph.counts() == counts_of_file(job)
    for each in (deliverer, pages, file):
        each.close()


def test_a_server_killed_in_the_middle_gets_everything_once(job, server):
    file = QuadsFile(job)
    fill(file)
    deliverer = Deliverer(job, SparqlStore(options_of(server, "gsp update")), batch_documents=7)
    deliverer.step()
    server.kill()
    with pytest.raises(StoreUnavailable, match=r"Connection (refused|aborted)|closed connection"):
        deliverer.step()
    server.start()
    deliver(deliverer)
    assert server.counts() == counts_of_file(job)
    deliverer.close()
    file.close()


def test_a_delivery_that_was_not_noted_is_repeated_without_doubling(job, oxigraph):
    file = QuadsFile(job)
    fill(file)
    for _ in range(2):
        deliverer = Deliverer(job, SparqlStore(options_of(oxigraph, "gsp update")))
        deliver(deliverer)
        assert oxigraph.counts() == counts_of_file(job)
        deliverer.start_again()
        deliverer.close()
    file.close()


@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "gsp update bulk"])
def test_a_document_that_a_store_refuses_is_recorded_and_the_rest_goes_on(job, oxigraph, protocol):
    file = QuadsFile(job)
    bad = document("bad", "1")
    bad.nquads = bad.nquads.replace(b"<http://example.org/p>", b"<http://example.org/p q>")
    file.append([document("a", "1"), document("b", "1"), bad, document("c", "1")])
    deliverer = Deliverer(job, SparqlStore(options_of(oxigraph, protocol)))
    (refused,) = deliver(deliverer)
    assert refused.url == url_of("bad")
    assert refused.error.startswith("HTTP 400")
    assert "\n" not in refused.error
    assert set(oxigraph.counts()) == {url_of(name) for name in "abc"}
    assert rows(job, "SELECT url, revision FROM refusal") == [(url_of("bad"), 3)]
    deliverer.close()
    file.close()


@pytest.mark.server
@pytest.mark.slow
def test_a_user_who_may_not_call_virtuosos_loader_delivers_without_it(job, virtuoso):
    virtuoso.sql("USER_CREATE('writer', 'secret'); GRANT SPARQL_UPDATE TO \"writer\";")
    file = QuadsFile(job)
    options = replace(options_of(virtuoso, "gsp update"), user="writer", password="secret")
    for work in (fill, change):
        work(file)
        deliverer = Deliverer(job, SparqlStore(options))
        assert deliver(deliverer) == []
        deliverer.close()
    file.compact()
    assert virtuoso.counts() == counts_of_file(job)
    file.close()


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["gsp", "gsp update"])
def test_virtuoso_refuses_by_500_and_is_not_taken_for_sick(job, virtuoso, protocol):
    file = QuadsFile(job)
    bad = document("bad", "1")
    bad.nquads = bad.nquads.replace(b"<http://example.org/p>", b"<http://example.org/p q>")
    file.append([document("a", "1"), bad])
    deliverer = Deliverer(job, SparqlStore(options_of(virtuoso, protocol)))
    (refused,) = deliver(deliverer)
    assert refused.url == url_of("bad")
    assert set(virtuoso.counts()) == {url_of("a")}
    deliverer.close()
    file.close()


@pytest.mark.server
@pytest.mark.slow
def test_a_wrong_password_is_one_clear_line(job, virtuoso):
    file = QuadsFile(job)
    file.append([document("a", "1")])
    options = SparqlOptions(gsp_url=virtuoso.gsp, user="dba", password="wrong", auth="digest")
    deliverer = Deliverer(job, SparqlStore(options))
    with pytest.raises(StoreUnavailable, match=r"user or password is wrong.*HTTP 401\)$"):
        deliverer.step()
    assert deliverer.waiting() == 1
    deliverer.close()
    file.close()


@pytest.fixture
def fake():
    with fake_store() as server:
        yield server


def test_a_store_that_answers_500_for_a_while_gets_everything_in_the_end(job, fake):
    file = QuadsFile(job)
    file.append([document(name, "1") for name in "abc"])
    url = f"http://127.0.0.1:{fake.server_port}/store"
    deliverer = Deliverer(job, SparqlStore(SparqlOptions(gsp_url=url)))
    fake.sick = 500
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match=rf"^{url}: HTTP 500$"):
            deliverer.step()
    fake.sick = 0
    assert deliver(deliverer) == []
    assert set(fake.graphs) == {url_of(name) for name in "abc"}
    deliverer.close()
    file.close()


def test_a_wrong_url_of_a_running_server_keeps_everything_waiting(job, fake):
    file = QuadsFile(job)
    file.append([document("a", "1")])
    url = f"http://127.0.0.1:{fake.server_port}/sparql"
    deliverer = Deliverer(job, SparqlStore(SparqlOptions(update_url=url)))
    with pytest.raises(StoreUnavailable, match="HTTP 501"):
        deliverer.step()
    assert deliverer.waiting() == 1
    deliverer.close()
    file.close()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"SEMCRAWL_STORE_URL": "ftp://x/"}, "must be http or https: ftp://x/"),
        ({"SEMCRAWL_STORE_URL": "http://x/", "SEMCRAWL_STORE_AUTH": "magic"}, "basic or digest"),
        ({"SEMCRAWL_STORE_URL": "http://x/", "SEMCRAWL_STORE_TIMEOUT": "soon"}, "could not"),
        ({"SEMCRAWL_STORE_URL": "http://x/", "SEMCRAWL_STORE_CONNECTIONS": "0"}, "at least 1"),
        ({"SEMCRAWL_STORE_URL": "http://x/", "SEMCRAWL_STORE_BULK_URL": "http://x/"}, "beside it"),
        ({}, "no URL"),
    ],
)
def test_wrong_settings_are_one_clear_line(job, settings, message):
    with pytest.raises(UsageError, match=message):
        open_deliverer(Settings(settings), job)


@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "gsp update bulk"])
def test_what_another_harvest_delivered_is_replaced(tmp_path, oxigraph, protocol):
    """A job folder that is new knows nothing of what the store holds."""
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        file = QuadsFile(folder)
        file.append([document("a", folder.name), document("b", folder.name, "both")])
        file.close()
        deliverer = Deliverer(folder, SparqlStore(options_of(oxigraph, protocol)))
        assert deliver(deliverer) == []
        deliverer.close()
        assert oxigraph.counts() == counts_of_file(folder)


def test_a_new_embedded_store_is_filled_from_the_start(job):
    file = QuadsFile(job)
    fill(file)
    settings = Settings({"SEMCRAWL_STORE_URL": "embedded"})
    for folder in (job / "store", job / "moved"):
        deliverer = open_deliverer(settings, job)
        deliver(deliverer)
        deliverer.close()
        assert counts_of_embedded(job / "store") == counts_of_file(job)
        (job / "store").rename(job / f"old-{folder.name}")
    file.close()


async def test_a_crawl_goes_on_while_the_store_is_away(job, oxigraph, caplog):
    """One line per attempt; what waits at the end is delivered by the next run."""
    oxigraph.kill()
    settings = Settings(
        {
            "SEMCRAWL_JOBDIR": str(job),
            "SEMCRAWL_STORE_URL": oxigraph.gsp,
            "SEMCRAWL_STORE_UPDATE_URL": oxigraph.update,
            "SEMCRAWL_STORE_CLOSE_TIMEOUT": 0,
        }
    )
    for names, waiting in (("abc", 3), ("de", None)):
        if waiting is None:
            oxigraph.start()
        pipeline = StorePipeline(job, settings)
        caplog.clear()
        pipeline.open_spider()
        await asyncio.gather(*(pipeline.process_item(document(name, "1")) for name in names))
        await pipeline.close_spider()
        if waiting:
            assert "Connection refused; trying again in 1 s" in caplog.messages[0]
            assert caplog.messages[-1].startswith("3 documents wait in ")
        else:
            assert caplog.messages == []
    assert oxigraph.counts() == counts_of_file(job)


async def test_of_two_crawlers_one_delivers_for_both(job, oxigraph):
    settings = Settings({"SEMCRAWL_STORE_URL": oxigraph.gsp})
    first, second = StorePipeline(job, settings), StorePipeline(job, settings)
    for pipeline in (first, second):
        pipeline.open_spider()
    await asyncio.gather(*(first.process_item(document(f"f{i}", "1")) for i in range(20)))
    await asyncio.gather(*(second.process_item(document(f"s{i}", "1")) for i in range(20)))
    await first.close_spider()
    await second.process_item(document("late", "1"))
    await second.close_spider()
    assert len(oxigraph.counts()) == 41
    assert oxigraph.counts() == counts_of_file(job)


@pytest.mark.slow
def test_load_delivers_a_finished_harvest(job, oxigraph):
    file = QuadsFile(job)
    fill(file)
    file.close()
    command = [sys.executable, "-m", "scrapy", "load", str(job), "--store", oxigraph.gsp]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "semcrawl.settings"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "44 documents" in done.stdout
    assert oxigraph.counts() == counts_of_file(job)
    oxigraph.kill()
    done = subprocess.run(
        [*command, "--again"], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("Connection refused")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("quads", [3, 60, 12_000])
def test_virtuoso_killed_while_it_loads_has_every_statement_once_in_the_end(job, virtuoso, quads):
    """Killed with its log half written, five times, and filled by two connections at once."""
    file = QuadsFile(job)
    documents = max(24_000 // quads, 20)
    file.append(
        [
            document(f"d{i}", *(f"{i} {j} {'x' * (j % 90)}" for j in range(quads)))
            for i in range(documents)
        ]
    )
    options = replace(options_of(virtuoso, "gsp update"), update_limit=20_000, put_above=20_000)
    times = iter([0.02, 0.05, 0.1, 0.2, 0.4])
    outages = 0
    deliverer = Deliverer(job, SparqlStore(options), batch_documents=documents // 3)
    while deliverer.waiting():
        killer = threading.Timer(delay, virtuoso.kill) if (delay := next(times, 0)) else None
        if killer:
            killer.start()
        try:
            while deliverer.step() is not None:
                continue
        except StoreUnavailable:
            outages += 1
        if killer:
            killer.join()
            virtuoso.start()
    deliverer.close()
    assert outages
    with (job / "quads.nq").open("rb") as quads_file:
        expected = collections.Counter(
            (quad.graph_name.value, quad.object.value)
            for quad in pyoxigraph.parse(quads_file, pyoxigraph.RdfFormat.N_QUADS)
        )
    answer = virtuoso.ask("SELECT ?g ?o { GRAPH ?g { ?s <http://example.org/p> ?o } }")
    assert (
        collections.Counter(
            (row["g"]["value"], row["o"]["value"]) for row in answer["results"]["bindings"]
        )
        == expected
    )
    assert virtuoso.counts() == counts_of_file(job)
    file.close()
