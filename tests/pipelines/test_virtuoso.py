"""Virtuoso's own ways: its users, its refusals, its loader."""

from __future__ import annotations

import collections
import threading
from dataclasses import replace

import pyoxigraph
import pytest

from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.contract import StoreUnavailable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.sparql import SparqlOptions, SparqlStore

from .deliveries import change, counts_for_store, deliver, fill, options_of
from .documents import document, url_of


@pytest.mark.server
@pytest.mark.slow
def test_a_user_who_may_not_call_virtuosos_loader_delivers_without_it(job, virtuoso):
    virtuoso.sql("USER_CREATE('writer', 'secret'); GRANT SPARQL_UPDATE TO \"writer\";")
    file = QuadsFile(job)
    options = replace(options_of(virtuoso, "gsp update"), user="writer", password="secret")
    for work in (fill, change):
        work(file)
        deliverer = Deliverer(job, SparqlStore(options))
        assert deliver(deliverer, virtuoso) == []
        deliverer.close()
    file.compact()
    assert virtuoso.counts() == counts_for_store(job)
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
    (refused,) = deliver(deliverer, virtuoso)
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


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("quads", [3, 60, 12_000])
def test_virtuoso_killed_while_it_loads_has_every_statement_once_in_the_end(job, virtuoso, quads):
    """Killed with its log half written, five times, and filled by two connections at once."""
    file = QuadsFile(job)
    documents = max(24_000 // quads, 6)
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
    assert virtuoso.counts() == counts_for_store(job)
    file.close()


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("resources", [1, 3])
def test_virtuosos_loader_keeps_a_graph_that_lies_in_two_of_its_parts(job, virtuoso, resources):
    """It replaces by 1,500 statements at a time, and lost those before a literal."""
    file = QuadsFile(job)
    mixed = document("mixed", *(f"{i}" for i in range(3)))
    end = b" <" + url_of("mixed").encode() + b"> .\n"
    for number in range(resources):
        what = b"<http://example.org/a> <http://example.org/a> <http://example.org/%d>" % number
        mixed.nquads = what + end + mixed.nquads
    mixed.quads = resources + 3
    before = [document(f"d{i}", *map(str, range(15))) for i in range(99)]
    before.append(document("d99", *map(str, range(15 - resources))))
    file.append([*before, mixed])
    options = replace(options_of(virtuoso, "gsp update"), update_limit=20_000, put_above=20_000)
    deliverer = Deliverer(job, SparqlStore(options), batch_documents=2000)
    assert deliver(deliverer, virtuoso) == []
    deliverer.close()
    assert virtuoso.counts() == counts_for_store(job)
    file.close()
