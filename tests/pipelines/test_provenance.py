"""A store is told where its documents come from, in a graph that no document can have."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import insert

from semcrawl.commands.load import Command as Load
from semcrawl.errors import UsageError
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.history import DocumentHistory
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.pipelines.metadata import _no_place
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores import _provenance
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.naming import PROVENANCE_GRAPH, GraphNaming
from semcrawl.results.stores.opening import check_store_settings
from semcrawl.results.stores.sparql import SparqlStore
from tests.inprocess import exit_status
from tests.metadata.servers import PostgreSQL

from .deliveries import counts_of_embedded, deliver, options_of
from .documents import document, url_of

SEED = "http://example.org/"
QUERY = """PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX http: <http://www.w3.org/2011/http#>
PREFIX semcrawl: <https://github.com/semcrawl/semcrawl/ns#>
SELECT ?source ?graph ?brought ?status ?gone { GRAPH <urn:semcrawl:provenance> {
  ?document prov:hadPrimarySource ?source ; prov:wasGeneratedBy/prov:startedAtTime ?brought ;
    semcrawl:lastVisit/http:statusCodeValue ?status .
  OPTIONAL { ?document semcrawl:graph ?graph }
  OPTIONAL { ?document prov:invalidatedAtTime ?gone } } } ORDER BY ?source"""


def test_no_document_can_have_the_graph():
    naming = GraphNaming.trusting(["example.org"])
    assert naming.may_keep(url_of("a"), "<urn:semcrawl:other>")
    assert not naming.may_keep(url_of("a"), PROVENANCE_GRAPH)


def test_a_server_without_an_update_endpoint_is_refused():
    with pytest.raises(UsageError, match="SEMCRAWL_STORE_UPDATE_URL"):
        check_store_settings(
            {"SEMCRAWL_STORE_URL": "http://x/store", "SEMCRAWL_STORE_PROVENANCE": True}
        )


def night(folder: Path, server, at: float, items: list) -> list[list]:
    """Read items at a time, deliver and tell twice; return what the store then says."""
    file = QuadsFile(folder)
    file.append(items)
    file.close()
    engine = connect(crawl_db_url(folder))
    with engine.begin() as connection:
        for number, item in enumerate(items):
            record = item
            if not isinstance(item, FetchRecord):
                record = FetchRecord(
                    item.url, FetchOutcome.FETCHED_RDF, item.url, SEED, 1, "R",
                    status=200, quads=item.quads, started_at=at + number,
                )  # fmt: skip
            connection.execute(insert(Fetch), [fetch_row(record)])
    engine.dispose()
    store = SparqlStore(options_of(server, "gsp update"))
    deliverer = Deliverer(folder, store, records=crawl_db_url(folder))
    assert not deliver(deliverer)
    assert deliverer.tell() == len(items)
    assert deliverer.tell() == 0
    told_twice_is_the_same(deliverer, server)  # as after a crash: everything once more
    deliverer.close()
    rows = server.ask(QUERY)["results"]["bindings"]
    guide = Path(__file__).parents[2] / "docs" / "results.md"
    documented = guide.read_text().split("### Where the documents come from")[1]
    shown = server.ask(documented.split("```sparql")[1].split("```")[0])["results"]["bindings"]
    assert [row["source"] for row in shown] == [row["source"] for row in rows]
    assert {row["page"]["value"] for row in shown if "page" in row} == {SEED}
    return [[row[name]["value"][-20:] for name in row] for row in rows]


@pytest.mark.slow
def test_two_nights_with_a_changed_and_a_gone_document(job, server):
    """What is told of a document is replaced; the third stays as it was."""
    first = [document(name, "1", fetched_at=1000.5 + number) for number, name in enumerate("abc")]
    a, b, c = map(url_of, "abc")
    day = "1970-01-01T00:16:40Z"
    found = night(job, server, 1000.0, first)
    assert [row[:2] for row in found] == [[u[-20:], u[-20:]] for u in (a, b, c)]
    assert found[0][2:] == [day, "200"]
    changed = replace(document("a", "2", "3", fetched_at=2000.5), revisit=True)
    gone = FetchRecord(b, FetchOutcome.HTTP_ERROR, status=404, started_at=2001.0, revisit=True)
    same = FetchRecord(c, FetchOutcome.NOT_MODIFIED, status=304, started_at=2002.0, revisit=True)
    found = night(job, server, 2000.0, [changed, gone, same])
    by_source = {row[0]: row[1:] for row in found}
    assert by_source[a[-20:]] == [a[-20:], "1970-01-01T00:33:20Z", "200"]
    assert "404" in by_source[b[-20:]]
    assert "1970-01-01T00:33:21Z" in by_source[b[-20:]]
    assert by_source[c[-20:]] == [c[-20:], "1970-01-01T00:16:42Z", "304"]


def test_load_tells_the_embedded_store(job, capsys):
    """Without the option nothing is told; with it, once."""
    file = QuadsFile(job)
    file.append([document("a", "1")])
    file.close()
    engine = connect(crawl_db_url(job))
    record = FetchRecord(
        url_of("a"), FetchOutcome.FETCHED_RDF, url_of("a"), status=200, quads=1, started_at=999.0,
        errors='"} ; DROP ALL',
    )  # fmt: skip
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record)])
    engine.dispose()
    for options, told in ([], False), (["--provenance"], True), (["--provenance"], False):
        assert exit_status(Load(), job, "--store", "embedded", *options) == 0
        assert ("provenance of 1 document told" in capsys.readouterr().out) == told
        counts = counts_of_embedded(job / "store")
        assert counts[url_of("a")] == 1
        assert (PROVENANCE_GRAPH[1:-1] in counts) == bool(options)


def note(engine, item, record: FetchRecord) -> None:
    """Note a document that was read, and the attempt, in the database that machines share."""
    with engine.begin() as connection:
        history = DocumentHistory(connection, [item])
        history.note_document(item, partial(_no_place, item))
        history.flush()
        connection.execute(insert(Fetch), [fetch_row(record)])


def read_on(folder: Path, shared: str, names: Iterable[str], value: str, at: float) -> None:
    """Let a machine read documents."""
    folder.mkdir(exist_ok=True)
    file, engine = QuadsFile(folder, shared=shared), connect(shared)
    for name in names:
        item = replace(document(name, value, fetched_at=at + 0.5), revisit=True, content_hash=value)
        file.append([item])
        record = FetchRecord(
            item.url, FetchOutcome.FETCHED_RDF, item.url, SEED, status=200, quads=1, started_at=at
        )
        note(engine, item, record)
    file.close()
    engine.dispose()


class Interrupted(SparqlStore):
    """A store before or after whose updates something happens."""

    def __init__(self, server, before=lambda: None, after=lambda: None) -> None:
        super().__init__(options_of(server, "gsp update"))
        self.before, self.after = before, after

    def update(self, text: str) -> None:
        self.before()
        super().update(text)
        self.after()


def told_twice_is_the_same(deliverer: Deliverer, server) -> None:
    before = server.counts()
    deliverer.start_again()
    deliver(deliverer)
    deliverer.tell()
    assert server.counts() == before


@pytest.mark.slow
def test_what_an_older_telling_replaced_is_told_again(tmp_path, oxigraph):
    """It reaches the store just after that of a later state, which is noted last."""
    shared = f"sqlite:///{tmp_path / 'all.db'}"
    read_on(tmp_path / "m0", shared, "ab", "1", 1000.0)
    has_read, may_tell = threading.Event(), threading.Event()

    def wait() -> None:
        has_read.set()
        assert may_tell.wait(60)

    def machine(number: int, store: SparqlStore) -> Deliverer:
        made = Deliverer(tmp_path / f"m{number}", store, shared=shared, records=shared)
        deliver(made)
        return made

    with ThreadPoolExecutor() as pool:

        def let_the_older_tell() -> None:
            if not may_tell.is_set():
                may_tell.set()
                assert earlier.result(60) == 2

        slow = machine(0, Interrupted(oxigraph, before=wait))
        earlier = pool.submit(slow.tell)
        assert has_read.wait(60)
        read_on(tmp_path / "m1", shared, "a", "2", 2000.0)
        quick = machine(1, Interrupted(oxigraph, after=let_the_older_tell))
        assert quick.tell() == 2
    assert quick.tell() == 1
    assert quick.tell() == slow.tell() == 0
    found = oxigraph.ask(QUERY)["results"]["bindings"]
    assert [row["brought"]["value"] for row in found] == [
        "1970-01-01T00:33:20Z", "1970-01-01T00:16:40Z"
    ]  # fmt: skip
    for each in (slow, quick):
        each.close()


@pytest.mark.slow
@pytest.mark.server
def test_two_machines_tell_the_same_at_the_same_moment(tmp_path, oxigraph, monkeypatch):
    if not PostgreSQL.binaries:
        pytest.skip("needs PostgreSQL")
    monkeypatch.setattr(_provenance, "_IN_A_REQUEST", 1)
    database = PostgreSQL()
    try:
        database.start()
        names = [f"d{number}" for number in range(30)]
        read_on(tmp_path / "m0", database.url, names, "1", 1000.0)
        read_on(tmp_path / "m1", database.url, (), "1", 1000.0)
        both = threading.Barrier(2, timeout=60)
        machines = [
            Deliverer(
                tmp_path / f"m{number}", Interrupted(oxigraph, after=both.wait),
                shared=database.url, records=database.url,
            )
            for number in range(2)
        ]  # fmt: skip
        for machine in machines:
            deliver(machine)
        with ThreadPoolExecutor() as pool:
            assert list(pool.map(Deliverer.tell, machines)) == [30, 30]
        assert [machine.tell() for machine in machines] == [0, 0]
        assert len(oxigraph.ask(QUERY)["results"]["bindings"]) == 30
        for machine in machines:
            machine.close()
    finally:
        database.remove()


@pytest.mark.slow
def test_a_telling_that_is_killed_is_done_by_the_next(tmp_path, oxigraph, monkeypatch):
    """Whether the store has just got what was told or not."""
    monkeypatch.setattr(_provenance, "_IN_A_REQUEST", 1)
    shared = f"sqlite:///{tmp_path / 'all.db'}"
    read_on(tmp_path / "m", shared, "abcdef", "1", 1000.0)

    def tell(when: str) -> None:
        tellings = iter(range(2))

        def die_at_the_third() -> None:
            if next(tellings, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        store = Interrupted(oxigraph, **{when: die_at_the_third})
        deliverer = Deliverer(tmp_path / "m", store, shared=shared, records=shared)
        deliver(deliverer)
        deliverer.tell()

    for when in ("before", "after"):
        process = multiprocessing.get_context("fork").Process(target=tell, args=(when,))
        process.start()
        process.join(120)
        assert process.exitcode == -signal.SIGKILL
    store = SparqlStore(options_of(oxigraph, "gsp update"))
    deliverer = Deliverer(tmp_path / "m", store, shared=shared, records=shared)
    assert deliverer.tell() == 2
    assert deliverer.tell() == 0
    assert len(oxigraph.ask(QUERY)["results"]["bindings"]) == 6
    told_twice_is_the_same(deliverer, oxigraph)
    deliverer.close()


@pytest.mark.slow
def test_machines_with_one_database_tell_one_history(tmp_path, oxigraph):
    """Whichever machine reads a document again, what the other told of it is replaced."""
    shared = f"sqlite:///{tmp_path / 'all.db'}"
    engine = connect(shared)
    plan = [(0, "a", "1", 1000.0), (1, "b", "1", 1010.0), (1, "a", "2", 2000.0)]
    for machine, name, value, at in plan:
        for number in range(2):
            (tmp_path / f"m{number}").mkdir(exist_ok=True)
            QuadsFile(tmp_path / f"m{number}", shared=shared).close()
        item = replace(document(name, value, fetched_at=at + 0.5), revisit=True, content_hash=value)
        file = QuadsFile(tmp_path / f"m{machine}", shared=shared)
        file.append([item])
        file.close()
        record = FetchRecord(
            item.url, FetchOutcome.FETCHED_RDF, item.url, SEED, status=200, quads=1, started_at=at
        )
        note(engine, item, record)
        told = 0
        for number in (machine, 1 - machine):
            store = SparqlStore(options_of(oxigraph, "gsp update"))
            deliverer = Deliverer(tmp_path / f"m{number}", store, shared=shared, records=shared)
            deliver(deliverer)
            told += deliverer.tell()
            deliverer.close()
        assert told == 1
    engine.dispose()
    found = oxigraph.ask(QUERY)["results"]["bindings"]
    assert [(row["source"]["value"], row["brought"]["value"]) for row in found] == [
        (url_of("a"), "1970-01-01T00:33:20Z"),
        (url_of("b"), "1970-01-01T00:16:50Z"),
    ]
    assert set(oxigraph.counts()) == {url_of("a"), url_of("b"), PROVENANCE_GRAPH[1:-1]}
