"""A store is told where its documents come from, in a graph that no document can have."""

from __future__ import annotations

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
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.naming import PROVENANCE_GRAPH, GraphNaming
from semcrawl.results.stores.opening import check_store_settings
from semcrawl.results.stores.sparql import SparqlStore
from tests.inprocess import exit_status

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
    before = server.counts()
    deliverer.start_again()
    deliver(deliverer)
    deliverer.tell()  # as after a crash: everything once more
    assert server.counts() == before
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
        with engine.begin() as connection:
            history = DocumentHistory(connection, [item])
            history.note_document(item, partial(_no_place, item))
            history.flush()
            connection.execute(insert(Fetch), [fetch_row(record)])
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
