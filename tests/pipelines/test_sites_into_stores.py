"""A harvest of real sites arrives whole in every target, whatever happens to the server."""

from __future__ import annotations

import collections
import gzip
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pyoxigraph
import pytest

from semcrawl.results.stores.contract import StoreUnavailable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.naming import STATED_NAME
from semcrawl.results.stores.oxigraph import EmbeddedStore
from semcrawl.results.stores.sparql import SparqlOptions, SparqlStore
from tests.waiting import until

from .servers import free_port

SHARED = Path(__file__).parents[3] / "shared"
pytestmark = [
    pytest.mark.sites,
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared"),
]
SEEDS = [
    "http://ceosys.github.io/celida-recommendations/index.html",
    "http://ipsoeu.github.io/cos-taxonomy/index.html",
    "http://keynsham.github.io/ndp/page/",
    "http://jena.apache.org/index.html",
    "http://www.w3.org/2000/10/swap/Overview.html",
]
SCOPE = (
    "ceosys.github.io,ipsoeu.github.io,w3id.org,keynsham.github.io,datadock.io,"
    "jena.apache.org,www.w3.org"
)


@pytest.fixture
def proxy(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [
            sys.executable,
            SHARED / "bench" / "replay.py",
            SHARED / "sites" / "sites.json",
            "--port",
            str(port),
            "--log",
            tmp_path / "requests.jsonl",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout
    process.stdout.readline()
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


def quads_by_graph(quads) -> dict[str, collections.Counter]:
    """Statements by graph; blank nodes without their names, which stores give anew."""
    found: dict[str, collections.Counter] = {}
    for quad in quads:
        terms = tuple(
            "_" if isinstance(term, pyoxigraph.BlankNode) else str(term) for term in quad.triple
        )
        found.setdefault(quad.graph_name.value, collections.Counter())[terms] += 1
    return found


def quads_for_store(folder: Path, target: str) -> dict[str, collections.Counter]:
    """The files' statements in the graphs that the ledger says their documents made in a store.

    Typed literals are in the one spelling that Oxigraph has for a value.
    """
    store = pyoxigraph.Store()
    with sqlite3.connect(folder / "crawl.db") as ledger:
        query = "SELECT document_key, stated, name FROM made_graph WHERE target = ?"
        names = {row[:2]: row[2] for row in ledger.execute(query, [target])}
    for files in (("quads.nq", "crawl.db"), ("embedded.nq", "embedded.db")):
        text = (folder / files[0]).read_bytes()
        with sqlite3.connect(folder / files[1]) as ledger:
            query = 'SELECT url_key, url, "offset", length FROM document WHERE gone_at IS NULL'
            for key, url, offset, length in ledger.execute(query):
                lines = text[offset : offset + length]
                for quad in pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS, lenient=True):
                    stated = quad.graph_name
                    name = pyoxigraph.NamedNode(names[key, str(stated)][1:-1])
                    store.add(pyoxigraph.Quad(*quad.triple, name))
                    if name != stated:
                        own = pyoxigraph.NamedNode(names[key, f"<{url}>"][1:-1])
                        tells = pyoxigraph.NamedNode(STATED_NAME)
                        store.add(pyoxigraph.Quad(name, tells, stated, own))
    return quads_by_graph(store)


@pytest.fixture
def job(tmp_path, proxy, oxigraph):
    """A harvest that delivers to Oxigraph, which is killed in the middle and comes back."""
    folder = tmp_path / "job"
    process = subprocess.Popen(
        [
            sys.executable, "-m", "semcrawl", "harvest", *SEEDS, "--fast", "--pages", "3500",
            "--scope", SCOPE, "--out", folder, "-s", f"SEMCRAWL_STORE_URL={oxigraph.gsp}",
            "-s", f"SEMCRAWL_STORE_UPDATE_URL={oxigraph.update}", "-o", f"{folder}/feed.nq.gz",
        ],
        env={**os.environ, "http_proxy": proxy, "https_proxy": proxy},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: len(oxigraph.counts()) >= 100 or process.poll() is not None)
    oxigraph.kill()
    time.sleep(2)
    oxigraph.start()
    assert process.wait(timeout=600) == 0
    return folder


def deliver(deliverer: Deliverer, server=None) -> int:
    """Deliver everything; a server is killed and started again in the middle."""
    refused = steps = 0
    while True:
        try:
            step = deliverer.step()
        except StoreUnavailable:
            server.start()
            continue
        if step is None:
            return refused
        refused += len(step.refused)
        steps += 1
        if server is not None and steps == 3:
            server.kill()


@pytest.mark.server
def test_every_target_holds_what_the_file_holds(job, tmp_path, oxigraph, virtuoso):
    truth = quads_for_store(job, oxigraph.gsp)
    assert len(truth) > 400
    feed = gzip.decompress((job / "feed.nq.gz").read_bytes()).splitlines()
    assert sorted(feed) == sorted((job / "quads.nq").read_bytes().splitlines())
    everything = oxigraph.ask("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g")
    assert len(everything["results"]["bindings"]) == len(truth)
    oxigraph.kill()
    assert quads_by_graph(pyoxigraph.Store.read_only(str(oxigraph.folder))) == truth

    deliverer = Deliverer(job, EmbeddedStore(job / "store"))
    assert deliver(deliverer) == 0
    deliverer.close()
    truth = quads_for_store(job, "embedded:store")
    assert quads_by_graph(pyoxigraph.Store.read_only(str(job / "store"))) == truth

    options = SparqlOptions(
        virtuoso.gsp, virtuoso.update, user="dba", password="dba", auth="digest"
    )
    deliverer = Deliverer(job, SparqlStore(options), batch_documents=50)
    refused = deliver(deliverer, virtuoso)
    deliverer.close()
    assert refused == 0
    truth = quads_for_store(job, virtuoso.gsp)
    counts = {graph: sum(statements.values()) for graph, statements in truth.items()}
    assert virtuoso.counts() == counts
