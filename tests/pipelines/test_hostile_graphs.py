"""A site that states other people's graphs, harvested into stores that hold them."""

from __future__ import annotations

import io
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import forks
import pyoxigraph
import pytest

from .test_second_harvest import graphs_of_server, settings_for

#: graphs of the user, of another host, and the one that semcrawl itself once wrote and dropped
FOREIGN = ["urn:untouched", "http://elsewhere.example/data", "urn:semcrawl:probe"]
TRIX = """<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><uri>{}</uri><triple>
<uri>urn:evil</uri><uri>urn:p</uri><plainLiteral>trix</plainLiteral></triple></graph></TriX>"""


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/redirected.nq")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def site(tmp_path):
    """Every syntax with named graphs, data in a page, an archive of two files, a redirect."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write(folder)
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def write(folder: Path, said: str = "first") -> None:
    files = {
        "a.trig": "@prefix e: <urn:e:> .\n"
        + "\n".join(f'<{g}> {{ <urn:evil> e:p "trig {said}" }}' for g in FOREIGN),
        "b.nq": "".join(f'_:b <urn:p> "nq {said}" <{g}> .\n' for g in FOREIGN),
        "c.jsonld": json_ld(said),
        "d.trix": TRIX.format(FOREIGN[0]),
        "redirected.nq": f'<urn:evil> <urn:p> "redirected {said}" <{FOREIGN[0]}> .\n',
    }
    links = "".join(f'<a href="{name}">{name}</a>' for name in [*files, "e.zip", "moved"])
    page = f'<script type="application/ld+json">{json_ld(said)}</script>{links}'
    files["index.html"] = f"<html><head><title>x</title></head><body>{page}</body></html>"
    for name, text in files.items():
        (folder / name).write_text(text)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("a.trig", "b.nq"):
            archive.writestr(name, files[name])
    (folder / "e.zip").write_bytes(packed.getvalue())


def json_ld(said: str) -> str:
    graph = f'{{"@id": "urn:evil", "http://e.example/p": "json-ld {said}"}}'
    return f'{{"@id": "{FOREIGN[0]}", "@graph": [{graph}]}}'


def harvest(*arguments: object) -> None:
    command = [sys.executable, "-m", "semcrawl", "harvest", *map(str, arguments), "--fast"]
    done = forks.run(command, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr


def by_hand(graph: str) -> str:
    return f'<urn:s> <urn:p> "by hand" <{graph}> .\n'


def check(graphs: dict, site: str, documents: int) -> None:
    """The user's graphs are as they were; all else is below the documents' addresses."""
    for graph in FOREIGN:
        assert graphs.pop(graph) == {("urn:s", "urn:p", "by hand"): 1}
    assert all(graph.startswith(site) for graph in graphs)
    untouched = {graph for graph in graphs if graph.endswith("#graph=urn%3Auntouched")}
    assert len(untouched) == documents


@pytest.mark.slow
def test_foreign_graphs_of_a_server_stay(site, tmp_path, server):
    """In a harvest, in a second one that finds all changed, and where trust does not help."""
    folder, url = site
    for graph in FOREIGN:
        data = f'INSERT DATA {{ GRAPH <{graph}> {{ <urn:s> <urn:p> "by hand" }} }}'
        server.write(data)
    out = tmp_path / "out"
    settings = settings_for(server)
    harvest(url, "--out", out, *settings)
    text = "".join((out / name).read_text() for name in ("quads.nq", "embedded.nq"))
    assert text.count("<urn:untouched> .") >= 7  # files keep names as stated
    check(graphs_of_server(server), url, 7)
    write(folder, "second")
    harvest(out, "--revisit", *settings)
    check(graphs_of_server(server), url, 7)
    trusting = ["-s", "SEMCRAWL_TRUSTED_SITES=127.0.0.1"]
    harvest(url, "--out", tmp_path / "trusting", *settings, *trusting)
    for graph in FOREIGN:
        assert graphs_of_server(server)[graph] == {("urn:s", "urn:p", "by hand"): 1}


@pytest.mark.slow
def test_foreign_graphs_of_the_embedded_store_stay(site, tmp_path):
    folder, url = site
    out = tmp_path / "out"
    out.mkdir()
    store = pyoxigraph.Store(str(out / "store"))
    store.load("".join(map(by_hand, FOREIGN)).encode(), pyoxigraph.RdfFormat.N_QUADS)
    store.flush()
    del store
    for arguments in ([url, "--out", out], [out, "--revisit"]):
        harvest(*arguments, "-s", "SEMCRAWL_STORE_URL=embedded")
        graphs: dict[str, dict] = {}
        for quad in pyoxigraph.Store.read_only(str(out / "store")):
            terms = tuple(getattr(term, "value", "_") for term in quad.triple)
            graphs.setdefault(quad.graph_name.value, {})[terms] = 1
        check(graphs, url, 7)
        write(folder, "second")
