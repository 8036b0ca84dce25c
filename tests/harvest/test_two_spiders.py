"""Links that one spider of a harvest finds for the other only wait for their turn."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from spiders.site import handler, page, triples

from harvest.runs import harvest
from semcrawl.lab.demo import DemoWeb, serve

D = "http://d.example"
COUNT = 20


@pytest.mark.slow
def test_the_rdf_of_pages_that_a_catalogue_lists_comes_page_by_page(tmp_path: Path) -> None:
    """The catalogue is RDF, so that its pages are met by the spider for RDF."""
    listed = "".join(f"<{D}/> <http://v.example/lists> <{D}/set/{n}> .\n" for n in range(COUNT))
    catalogue = {"/": ("application/n-triples", listed.encode())}
    pages = {f"/set/{n}": page(f"/set/{n}.nt") for n in range(COUNT)}
    data = {f"/set/{n}.nt": ("application/n-triples", triples(f"set/{n}", 1)) for n in range(COUNT)}
    with serve(DemoWeb(), handlers={"d.example": handler(catalogue | pages | data)}) as server:
        run = harvest(
            f"{D}/", "--fast", "--relevance", "breadth-first", "--pages", str(COUNT + 1),
            "-s", "CONCURRENT_REQUESTS=1", folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert len(run.documents()) == 1 + COUNT // 2


@pytest.mark.slow
def test_links_that_one_spider_finds_for_the_other_are_learned_of(tmp_path: Path) -> None:
    """Only the property by which the catalogue names a page tells whether there is RDF behind."""
    numbers = list(range(60))
    data = set(Random(1).sample(numbers, 30))
    listed = "".join(
        f"<{D}/> <http://v.example/{'set' if n in data else 'news'}> <{D}/{n:02}> .\n"
        for n in numbers
    )
    documents = {"/": ("application/n-triples", listed.encode())}
    for n in numbers:
        documents[f"/{n:02}"] = page(f"/{n:02}.nt") if n in data else page()
        documents[f"/{n:02}.nt"] = ("application/n-triples", triples(f"{n}", 1))
    with serve(DemoWeb(), handlers={"d.example": handler(documents)}) as server:
        run = harvest(
            f"{D}/", "--fast", "--pages", "61", "-s", "CONCURRENT_REQUESTS=1",
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert len(run.documents()) > 26


@pytest.mark.slow
@pytest.mark.parametrize(("shares", "pages"), [("html=3,rdf=1", 30), ("html=1,rdf=3", 10)])
def test_each_spider_gets_its_share_of_the_requests(
    tmp_path: Path, shares: str, pages: int
) -> None:
    """More links wait for both than there are requests (T.6)."""
    documents = {"/": page(*(f"/p{n}" for n in range(60)), "/list.nt")}
    documents |= {f"/p{n}": page() for n in range(60)}
    listed = "".join(f"<{D}/> <http://v.example/lists> <{D}/{n}.nt> .\n" for n in range(60))
    documents["/list.nt"] = ("application/n-triples", listed.encode())
    documents |= {f"/{n}.nt": ("application/n-triples", triples(f"{n}", 1)) for n in range(60)}
    with serve(DemoWeb(), handlers={"d.example": handler(documents)}) as server:
        run = harvest(
            f"{D}/", "--fast", "--relevance", "rules", "--pages", "42",
            "-s", "CONCURRENT_REQUESTS=4", "-s", f"SEMCRAWL_QUEUE_SHARES={shares}",
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    fetched = [url for url in run.outcomes() if not url.endswith("/robots.txt")]
    assert len(fetched) == 42
    assert sum(url.startswith(f"{D}/p") for url in fetched) == pytest.approx(pages, abs=4)
