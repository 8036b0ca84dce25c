"""A portal as CKAN makes them is harvested whole, whatever happens to the crawl meanwhile."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs

import pyoxigraph as ox
import pytest
import requests
from harvest.runs import asked, harvest, start_harvest
from spiders.site import HTML, page

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from tests.waiting import until

PORTAL = "http://portal.example"
DCAT, HYDRA = "http://www.w3.org/ns/dcat#", "http://www.w3.org/ns/hydra/core#"
#: data sets of the portal, of a page of its DCAT, and of an answer of its interface at most
SETS, IN_PAGE, AT_MOST = 60, 20, 25
SYNTAXES = (
    ox.RdfFormat.TURTLE,
    ox.RdfFormat.N_TRIPLES,
    ox.RdfFormat.RDF_XML,
    ox.RdfFormat.JSON_LD,
)


class Portal:
    """A store with a graph for each document, and the portal that publishes it."""

    def __init__(self) -> None:
        self.store = ox.Store()
        self.syntaxes: dict[str, ox.RdfFormat] = {}
        pages = range(0, SETS, IN_PAGE)
        for start in pages:
            number = start // IN_PAGE + 1
            catalogue = f"{PORTAL}/catalog.ttl" + (f"?page={number}" if number > 1 else "")
            rows = [f"<{PORTAL}/> a <{DCAT}Catalog> ."]
            for n in range(start, start + IN_PAGE):
                subject, file = f"<{PORTAL}/dataset/{n}>", f"{PORTAL}/download?id={n}"
                rows.append(
                    f"{subject} a <{DCAT}Dataset> ; <{DCAT}distribution> "
                    f"[ <{DCAT}downloadURL> <{file}> ; <{DCAT}mediaType> "
                    f'"{SYNTAXES[n % 4].media_type}" ] .'
                )
                self._add(file, _counts(n), SYNTAXES[n % 4])
            if number < len(pages):
                rows.append(f"<{catalogue}> <{HYDRA}next> <{PORTAL}/catalog.ttl?page={number + 1}>")
                rows.append(".")
            self._add(catalogue, "\n".join(rows), ox.RdfFormat.TURTLE)
        # (known to the interface alone)
        self._add(f"{PORTAL}/download?id=draft", _counts(SETS), ox.RdfFormat.TURTLE)

    def _add(self, url: str, turtle: str, syntax: ox.RdfFormat) -> None:
        graph = ox.NamedNode(url)
        self.store.load(turtle.encode(), format=ox.RdfFormat.TURTLE, to_graph=graph)
        self.syntaxes[url] = syntax

    def search(self, query: dict[str, list[str]]) -> bytes:
        """A page of the interface: no more data sets than are given at most."""
        ids = [*map(str, range(SETS)), "draft"]
        start, rows = (int(query.get(name, ["0"])[0]) for name in ("start", "rows"))
        results = [
            {"name": id_, "resources": [{"url": f"{PORTAL}/download?id={id_}", "format": "RDF"}]}
            for id_ in ids[start : start + min(rows or 10, AT_MOST)]
        ]
        found = {"success": True, "result": {"count": len(ids), "results": results}}
        return json.dumps(found).encode()

    async def answer(self, request: Request, out: Stream) -> None:
        path, _, query = request.path.partition("?")
        url = PORTAL + request.path
        kind, body, status = "text/plain", b"", 404
        if syntax := self.syntaxes.get(url):
            rows = (quad.triple for quad in self.store.quads_for_pattern(*_in(url)))
            kind, body, status = syntax.media_type, ox.serialize(rows, format=syntax) or b"", 200
        elif path == "/":
            sign = '<meta name="generator" content="ckan 2.11.0">'
            kind, body, status = HTML, page(head=sign)[1], 200
        elif path == "/api/3/action/package_search":
            kind, body, status = "application/json", self.search(parse_qs(query)), 200
        elif path == "/export":
            kind, status = "application/n-quads", 200
            body = self.store.dump(format=ox.RdfFormat.N_QUADS) or b""
        await out.whole(status, [("Content-Type", kind)], body)


def _in(url: str) -> tuple[None, None, None, ox.NamedNode]:
    return None, None, None, ox.NamedNode(url)


def _counts(number: int) -> str:
    return "\n".join(
        f'<{PORTAL}/id/{number}> <http://v.example/count> [ <http://v.example/n> "{number}-{n}" ] .'
        for n in range(5)
    )


def canonical(nquads: bytes) -> set[str]:
    data = ox.Dataset(ox.parse(nquads, format=ox.RdfFormat.N_QUADS))
    data.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return {str(quad) for quad in data}


def _records(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'crawl.db'}?mode=ro", uri=True) as database:
            return int(database.execute("SELECT COUNT(*) FROM fetch").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.slow
def test_a_portal_is_had_whole_by_a_harvest_that_is_killed_and_goes_on(tmp_path: Path) -> None:
    """Three pages of DCAT and three of CKAN's interface: the quads are those of its own export."""
    folder, log = tmp_path / "out", tmp_path / "log"
    options = ("--fast", "-q", "-s", "SEMCRAWL_CRAWL_DELAY=0.02")
    kills = 0
    with serve(DemoWeb(), log=log, handlers={"portal.example": Portal().answer}) as server:
        for least in (5, 20, 40):
            run = start_harvest(f"{PORTAL}/", *options, folder=folder, proxy=server.proxy_url)
            until(lambda n=least, r=run: _records(folder) >= n or r.process.poll() is not None)
            if run.process.poll() is None:
                kills += 1
                run.kill()
            run.process.communicate()
        done = harvest(*options, folder=folder, proxy=server.proxy_url)
        proxies = {"http": server.proxy_url}
        export = requests.get(f"{PORTAL}/export", proxies=proxies, timeout=60).content
    assert kills >= 2
    assert done.status == 0, done.err
    done.is_calm()
    assert canonical("".join(done.quads).encode()) == canonical(export)
    documents = Counter(r["url"] for r in done.records if r["outcome"] == "fetched-rdf")
    assert len(documents) == SETS + 1 + SETS // IN_PAGE
    assert max(documents.values()) == 1
    searched = [url for url in asked(log) if "package_search" in url]
    assert len(searched) == 3
