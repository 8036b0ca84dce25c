"""Sites that say the same several times: a crawl for what is new asks for it once."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from harvest.runs import harvest

from semcrawl.lab.demo import DemoWeb, serve
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


def mirrored() -> dict[str, tuple[str, bytes]]:
    """Two folders that list pages with the same data, each file with a note of where it lies."""
    folders = "north", "south"
    lists = {f: page(*(f"/{f}/page/{n}" for n in range(PAGES))) for f in folders}
    made = {"/": page(*(f"/{f}/" for f in folders))} | {f"/{f}/": lists[f] for f in folders}
    for folder in folders:
        for n in range(PAGES):
            lines = "".join(f'<{D}/thing/{n}> <http://v.example/p{m}> "{n}" .\n' for m in range(5))
            data = f"# copied to {folder}\n{lines}".encode()
            made[f"/{folder}/data/{n}.nt"] = ("application/n-triples", data)
            made[f"/{folder}/page/{n}"] = page(f"/{folder}/data/{n}.nt")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("web", [site(), mirrored()], ids=["six syntaxes", "mirrored folders"])
def test_what_was_said_before_is_hardly_asked_for_once_pages_were_seen(
    tmp_path: Path, web: dict[str, tuple[str, bytes]]
) -> None:
    """From the 50th page on it needs at most 1.3 requests for RDF per graph, until it has all."""
    with serve(DemoWeb(), handlers={"d.example": handler(web)}) as server:
        run = harvest(f"{D}/", "--fast", "--about", "new", folder=tmp_path, proxy=server.proxy_url)
    assert run.status == 0, run.err
    pages, requests = 0, 0
    before: set[str] = set()
    after: set[str] = set()
    for record in run.records:
        kind, _, name = record["url"].rpartition("/")
        if kind.endswith("/page"):
            pages += 1
        elif kind.endswith("/data") and len(before | after) < PAGES:
            (after if pages >= 50 else before).add(name.partition(".")[0])
            requests += pages >= 50
    assert len(before | after) == PAGES
    distinct = len(after - before)
    assert distinct >= 20
    print(f"{requests / distinct:.2f} requests per distinct graph, {distinct} graphs")
    assert requests / distinct <= 1.3
