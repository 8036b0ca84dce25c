"""A site whose pages name one graph in six syntaxes: a crawl for what is new asks for one."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from harvest.runs import harvest

from semcrawl.demo import DemoWeb, serve
from spiders.site import handler, page

D = "http://d.example"
PAGES = 80
SYNTAXES = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "ttl": ox.RdfFormat.TURTLE,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
    "trig": ox.RdfFormat.TRIG,
    "nq": ox.RdfFormat.N_QUADS,
}


def site() -> dict[str, tuple[str, bytes]]:
    """A list of pages, each with its data in six syntaxes."""
    made = {"/": page(*(f"/page/{n}" for n in range(PAGES)))}
    for n in range(PAGES):
        it = ox.NamedNode(f"{D}/thing/{n}")
        graph = [
            ox.Triple(it, ox.NamedNode(f"http://v.example/p{m}"), ox.Literal(f"{n} {m}"))
            for m in range(5)
        ]
        alternates = []
        for extension, syntax in SYNTAXES.items():
            path = f"/data/{n}.{extension}"
            made[path] = (syntax.media_type, ox.serialize(graph, format=syntax))
            alternates.append(f'<link rel="alternate" type="{syntax.media_type}" href="{path}">')
        made[f"/page/{n}"] = page(head="".join(alternates))
    return made


@pytest.mark.slow
def test_one_syntax_of_six_is_asked_for_first_once_pages_were_seen(tmp_path: Path) -> None:
    """From the 50th page on it needs at most 1.3 requests for RDF per graph, until it has all."""
    with serve(DemoWeb(), handlers={"d.example": handler(site())}) as server:
        run = harvest(f"{D}/", "--fast", "--about", "new", folder=tmp_path, proxy=server.proxy_url)
    assert run.status == 0, run.err
    pages, requests = 0, 0
    before: set[str] = set()
    after: set[str] = set()
    for record in run.records:
        path = record["url"].removeprefix(D)
        if path.startswith("/page/"):
            pages += 1
        elif path.startswith("/data/") and len(before | after) < PAGES:
            graph = path.removeprefix("/data/").partition(".")[0]
            (after if pages >= 50 else before).add(graph)
            requests += pages >= 50
    assert len(before | after) == PAGES
    distinct = len(after - before)
    assert distinct >= 20
    assert requests / distinct <= 1.3
