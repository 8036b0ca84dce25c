"""A second harvest of a site that changed, into each target, its server killed in the middle."""

from __future__ import annotations

import collections
import http.server
import os
import re
import threading
from functools import partial
from pathlib import Path

import pyoxigraph
import pytest
from forks import Fork

from tests.waiting import until

from .deliveries import settings_for
from .servers import Server, Virtuoso

pytestmark = pytest.mark.slow
#: documents of a site, and of these the one behind which it waits until the test goes on
DOCUMENTS, HALT = 40, 20
#: statements by graph; blank nodes without their names, which stores give anew
Graphs = dict[str, collections.Counter[tuple[str, ...]]]


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; holds back its answers from some document on while the test wants it."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".ttl": "text/turtle"}

    def do_GET(self) -> None:
        site: Site = self.server.site
        if self.path.endswith(".ttl"):
            with site.lock:
                site.asked += 1
                asked = site.asked
            if asked > HALT:
                site.halted.set()
                site.go_on.wait(120)
        super().do_GET()

    def log_message(self, *args: object) -> None:
        pass


class Site:
    """A page with links to Turtle documents, and to pages with JSON-LD in them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.lock = threading.Lock()
        self.halted, self.go_on = threading.Event(), threading.Event()
        self.asked = 0
        handler = partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.site = self
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def write(self, documents: dict[int, str]) -> None:
        """Let the site have these documents and no others; halt again."""
        pages = [number for number in documents if number % 2]
        names = [f"{n}.ttl" for n in documents] + [f"{n}.html" for n in pages] + ["index.html"]
        for path in self.folder.iterdir():
            if path.name not in names:
                path.unlink()
        for number, text in documents.items():
            turtle = f'<#it> <#says> "{text}", "é" ; <#knows> [ <#says> "{number}"@en ] .\n'
            self._put(f"{number}.ttl", turtle)
        for number in pages:
            self._put(f"{number}.html", page_of(documents[number]))
        links = "".join(f'<p><a href="{name}">{name}</a></p>' for name in names)
        self._put("index.html", f"<html><body>{links}</body></html>")
        self.asked = 0
        self.halted.clear()
        self.go_on.clear()

    def _put(self, name: str, content: str) -> None:
        path = self.folder / name
        if not path.exists() or path.read_text() != content:
            path.write_text(content)

    def graphs(self) -> Graphs:
        """The statements of the documents, and the data in the pages."""
        found: Graphs = {}
        for path in self.folder.glob("*.ttl"):
            url = self.url + path.name
            triples = pyoxigraph.parse(path=str(path), base_iri=url)
            found[url] = collections.Counter(map(terms, (triple.triple for triple in triples)))
        for path in self.folder.glob("*.html"):
            if says := re.search('"http://example.org/says": "(.*?)"', path.read_text()):
                url = self.url + path.name
                statement = (f"{url}#it", "http://example.org/says", says[1])
                found[url] = collections.Counter([statement])
        return found


def page_of(text: str) -> str:
    """A page whose data, if any, say the text."""
    if text.startswith("second 1"):  # these pages lose theirs
        return "<html><body><p>Nothing.</p></body></html>"
    data = f'{{"@id": "#it", "http://example.org/says": "{text}"}}'
    script = f'<script type="application/ld+json">{data}</script>'
    return f"<html><head>{script}</head><body><p>Something.</p></body></html>"


def terms(triple) -> tuple[str, ...]:
    return tuple("_" if isinstance(t, pyoxigraph.BlankNode) else t.value for t in triple)


def graphs_of(quads) -> Graphs:
    found: Graphs = {}
    for quad in quads:
        found.setdefault(quad.graph_name.value, collections.Counter())[terms(quad.triple)] += 1
    return found


def graphs_of_file(folder: Path) -> Graphs:
    found: Graphs = {}
    for name in ("quads.nq", "embedded.nq"):
        with (folder / name).open("rb") as file:
            found |= graphs_of(pyoxigraph.parse(file, pyoxigraph.RdfFormat.N_QUADS))
    return found


def graphs_of_server(server: Server) -> Graphs:
    found: Graphs = {}
    answer = server.ask("SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }")
    for row in answer["results"]["bindings"]:
        graph = row["g"]["value"]
        if not server.is_system(graph):
            statement = ("_" if row[x]["type"] == "bnode" else row[x]["value"] for x in "spo")
            found.setdefault(graph, collections.Counter())[tuple(statement)] += 1
    return found


FIRST = {number: f"first {number}" for number in range(DOCUMENTS)}
#: a third stays, a third changes, a third is gone, and some are new
SECOND = {
    **{n: f"first {n}" for n in range(0, DOCUMENTS, 3)},
    **{n: f"second {n}" for n in range(1, DOCUMENTS, 3)},
    **{n: f"new {n}" for n in range(DOCUMENTS, DOCUMENTS + 15)},
}


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path / "site")
    yield site
    site.go_on.set()
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def start(*arguments: object) -> Fork:
    return Fork(["harvest", *map(str, arguments), "--fast"], Path.cwd(), os.environ)


def finish(process: Fork) -> None:
    assert process.wait(timeout=240) == 0


@pytest.mark.parametrize("bulk", [False, True])
def test_a_server_holds_the_second_state(site, out, server, bulk):
    """It is killed while documents wait, and comes back, in both harvests."""
    if bulk and isinstance(server, Virtuoso):
        pytest.skip("Virtuoso takes no N-Quads in a POST")
    store = settings_for(server, bulk=bulk)
    for state, arguments in ((FIRST, [site.url, "--out", out]), (SECOND, [out, "--revisit"])):
        site.write(state)
        process = start(*arguments, *store)
        assert site.halted.wait(120)
        until(lambda: len(server.counts()) > 0)
        server.kill()
        site.go_on.set()
        until(lambda: "trying again" in (out / "crawl.log").read_text())
        (out / "crawl.log").unlink()
        server.start()
        finish(process)
        assert graphs_of_file(out) == site.graphs()
        assert graphs_of_server(server) == site.graphs()


def test_the_embedded_store_holds_the_second_state(site, out):
    """The crawl itself is killed in the middle and continued, in both harvests."""
    store = ["-s", "SEMCRAWL_STORE_URL=embedded"]
    for state, arguments in ((FIRST, [site.url, "--out", out]), (SECOND, [out, "--revisit"])):
        site.write(state)
        process = start(*arguments, *store, "-s", "SEMCRAWL_LEASE_TIME=3")
        assert site.halted.wait(120)
        until(lambda: (out / "store").is_dir())
        process.kill()
        process.wait()
        site.go_on.set()
        finish(start(*arguments, *store, "-s", "SEMCRAWL_LEASE_TIME=3"))
        assert graphs_of_file(out) == site.graphs()
        assert graphs_of(pyoxigraph.Store.read_only(str(out / "store"))) == site.graphs()
