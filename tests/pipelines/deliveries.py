"""Harvests to deliver, and what stores and files then hold."""

from __future__ import annotations

import collections
import sqlite3
from pathlib import Path
from urllib.parse import quote

import pyoxigraph

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.results.stores.contract import StoreUnavailable
from semcrawl.results.stores.delivery import Deliverer
from semcrawl.results.stores.sparql import SparqlOptions

from .documents import document, url_of
from .servers import Server, Virtuoso


def counts_of_file(folder: Path) -> dict[str, int]:
    quads: set[pyoxigraph.Quad] = set()
    for path in folder.glob("*.nq"):
        with path.open("rb") as file:
            quads |= set(pyoxigraph.parse(file, pyoxigraph.RdfFormat.N_QUADS))
    return dict(collections.Counter(quad.graph_name.value for quad in quads))


def counts_for_store(folder: Path) -> dict[str, int]:
    """The expected content of a store into which only the documents have written.

    Each document has a graph for each graph that it states, all of one host: under its stated name,
    unless that is the address of another document. Of the others its own graph tells their name.
    """
    documents = []
    for ledger in folder.glob("*.db"):
        file = folder / ("quads.nq" if ledger.name == "crawl.db" else "embedded.nq")
        with sqlite3.connect(ledger) as connection:
            query = 'SELECT url, "offset", length FROM document WHERE gone_at IS NULL'
            for url, offset, length in connection.execute(query):
                documents.append((url, file.read_bytes()[offset : offset + length]))
    addresses = {url for url, _ in documents}
    counts: collections.Counter[str] = collections.Counter()
    renamed = set()
    for url, lines in documents:
        for quad in set(pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS)):
            name = quad.graph_name.value
            if isinstance(quad.graph_name, pyoxigraph.BlankNode):
                name = f"{url}#graph=_%3A{name}"
            elif name != url and name in addresses:
                name = f"{url}#graph={quote(name, safe='')}"
            counts[name] += 1
            if name != quad.graph_name.value:
                renamed.add((url, name))
    counts.update(url for url, _ in renamed)
    return dict(counts)


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


def deliver(deliverer: Deliverer, server: Server | None = None) -> list:
    """Deliver everything; goes on, as a crawl does, when the server died by itself."""
    refused = []
    while True:
        try:
            step = deliverer.step()
        except StoreUnavailable:
            if server is None or not server.comes_back():
                raise
            continue
        if step is None:
            return refused
        refused += step.refused


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


def settings_for(server: Server, *, bulk: bool = False) -> list[str]:
    """Return the options by which a harvest delivers to a server."""
    values = {
        "URL": server.gsp,
        "UPDATE_URL": server.update,
        "USER": server.user,
        "PASSWORD": server.password,
        "AUTH": "digest" if isinstance(server, Virtuoso) else "basic",
        "BULK_URL": f"{server.gsp}?no_transaction" if bulk else "",
    }
    return [x for name, value in values.items() for x in ("-s", f"SEMCRAWL_STORE_{name}={value}")]
