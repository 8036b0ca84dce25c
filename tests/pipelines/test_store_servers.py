"""A triple store server holds what quads.nq holds, graph by graph, through changes and repeats."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest

from semcrawl.items import EMBEDDED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.sparql import SparqlStore

from .deliveries import (
    change,
    counts_for_store,
    counts_of_file,
    deliver,
    fill,
    options_of,
    settings_for,
)
from .documents import document, url_of
from .servers import Virtuoso


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "update bulk"])
def test_a_server_holds_what_the_file_holds(job, server, protocol):
    if isinstance(server, Virtuoso) and "bulk" in protocol:
        pytest.skip("Virtuoso takes no N-Quads in a POST")
    file = QuadsFile(job)
    for work in (fill, change):
        work(file)
        store = SparqlStore(options_of(server, protocol))
        deliverer = Deliverer(job, store, batch_documents=7)
        assert deliver(deliverer, server) == []
        deliverer.close()
        file.compact()
        assert server.counts() == counts_for_store(job)
    file.close()


@pytest.mark.slow
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
        (file, dump, 1),
        (pages, in_page("second", "third", revisit=True, fetched_at=2000.0), 2),
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
        assert oxigraph.counts() == counts_for_store(job)
    deliverer.start_again()
    assert deliverer.waiting() == 9
    deliver(deliverer)
    assert oxigraph.counts() == counts_for_store(job)
    for each in (deliverer, pages, file):
        each.close()


def test_a_delivery_that_was_not_noted_is_repeated_without_doubling(job, oxigraph):
    file = QuadsFile(job)
    fill(file)
    for _ in range(2):
        deliverer = Deliverer(job, SparqlStore(options_of(oxigraph, "gsp update")))
        deliver(deliverer)
        assert oxigraph.counts() == counts_for_store(job)
        deliverer.start_again()
        deliverer.close()
    file.close()


@pytest.mark.parametrize("protocol", ["gsp", "update", "gsp update", "gsp update bulk"])
def test_what_another_harvest_delivered_stays_unless_it_is_adopted(tmp_path, oxigraph, protocol):
    """A job folder that is new knows nothing of what the store holds."""

    def deliver_from(name: str, *, adopting: bool = False) -> dict[str, int]:
        folder = tmp_path / name
        folder.mkdir()
        file = QuadsFile(folder)
        file.append([document("a", name), document("b", name, "both")])
        file.close()
        store = SparqlStore(options_of(oxigraph, protocol))
        deliverer = Deliverer(folder, store, adopting=adopting)
        assert deliver(deliverer) == []
        deliverer.close()
        return counts_of_file(folder)

    first = deliver_from("first")
    second = deliver_from("second")
    # (with a statement more each, which tells the stated name)
    renamed = {f"{graph}#graph={quote(graph, safe='')}": n + 1 for graph, n in second.items()}
    assert oxigraph.counts() == first | renamed
    deliver_from("third", adopting=True)
    assert oxigraph.counts() == first | renamed
    found = oxigraph.ask(f"SELECT ?o {{ GRAPH <{url_of('a')}> {{ ?s ?p ?o }} }}")
    assert [row["o"]["value"] for row in found["results"]["bindings"]] == ["third"]


@pytest.mark.slow
def test_a_store_that_lost_or_changed_something_is_found_and_mended(job, server, semcrawl):
    """A statement less, one more, a graph less; graphs of more statements than are compared."""
    file = QuadsFile(job)
    fill(file)
    file.append([document(f"huge{n}", *map(str, range(10_500))) for n in range(2)])
    options = settings_for(server)
    assert semcrawl("load", job, *options).code == 0
    sound = semcrawl("check", job, "--update", server.update, *options)
    assert (sound.code, sound.err) == (0, ""), sound.err
    kept = server.counts()
    statement = '<{0}> <http://example.org/p> "{1}"'
    for verb, name, value in (
        ("DELETE", "plain7", "3"),
        ("INSERT", "plain9", "of somebody else"),
        ("DELETE", "huge1", "10499"),
    ):
        said = statement.format(url_of(name), value)
        server.write(f"{verb} DATA {{ GRAPH <{url_of(name)}> {{ {said} }} }}")
    server.write(f"CLEAR GRAPH <{url_of('plain3')}>")
    file.append([document("plain8", "not delivered yet", revisit=True, fetched_at=2000.0)])
    file.close()

    damaged = semcrawl("check", job, "--update", server.update, *options)

    assert damaged.code == 1
    named = [line.strip() for line in damaged.err.splitlines() if line.startswith("  ")]
    assert named == [url_of(name) for name in ("plain3", "plain7", "plain9", "huge1")]
    assert semcrawl("load", job, *options).code == 0
    assert server.counts() == {**kept, url_of("plain8"): 1}
    assert semcrawl("check", job, "--update", server.update, *options).code == 0
