"""``explain`` shows each way to data that a crawl would go from a document."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from harvest.runs import start
from scrapy.settings import Settings

from semcrawl.commands.explain import ReadDocument, read_for_explanation
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo._archive import GRAPHS
from semcrawl.reading.answer import Received
from semcrawl.sources.negotiation import as_rdf

ARCHIVE = "http://archive.demo.example"
WEB = DemoWeb()


@pytest.mark.parametrize(
    ("page", "way", "target"),
    [
        ("/survey/", "embedded", "/store?file=survey"),
        ("/methods/", "header", "/methods/links"),
        ("/methods/links", "header", "/store?file=methods"),
        ("/portal/", "catalogue", "/portal/catalog.ttl"),
        ("/portal/catalog.ttl", "catalogue", "/portal/sets/1"),
        ("/portal/api/3/action/package_search?rows=100", "catalogue", "/portal/sets/3"),
        ("/counters/ada", "negotiation", as_rdf("/counters/ada")),
        ("/.well-known/void", "catalogue", "/store?file=everything"),
        ("/sitemap.xml", "sitemap", "/annals/1898"),
    ],
)
async def test_a_link_is_shown_with_the_way_that_leads_to_it(
    page: str, way: str, target: str
) -> None:
    document = await explained(page)
    ways = {link.url: str(link.found_by) for link in document.links}
    assert ways.get(ARCHIVE + target) == way


async def explained(page: str, **changed: str) -> ReadDocument:
    settings = Settings()
    settings.setmodule("semcrawl.settings")
    settings.setdict(changed)
    url = ARCHIVE + page
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    answer = WEB.answer(parts.netloc, path, {"accept": "text/html"})
    assert answer.status == 200

    def headers(name: bytes) -> list[bytes]:
        wanted = name.decode().lower()
        return [value.encode() for name, value in answer.headers if name.lower() == wanted]

    return await read_for_explanation(settings, Received(url, answer.body, headers, is_seed=True))


async def test_an_endpoint_that_a_document_names_is_no_link_to_be_judged() -> None:
    document = await explained("/finds.ttl", SEMCRAWL_ENDPOINTS="found")
    assert [link.url for link in document.queries] == [ARCHIVE + "/sparql"]
    assert ARCHIVE + "/sparql" not in {link.url for link in document.links}
    document = await explained("/finds.ttl")
    assert not document.queries
    assert ARCHIVE + "/sparql" in {link.url for link in document.links}


@pytest.mark.slow
def test_an_endpoint_is_explained_by_the_queries_that_a_crawl_asks_next(tmp_path: Path) -> None:
    asks = ("-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1")
    with serve(DemoWeb(crawl_delay=0)) as server:
        run = start(
            *("explain", f"sparql+{ARCHIVE}/sparql", "--relevance", "rules", *asks),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        ).wait()
        gone = start(
            *("explain", f"sparql+{ARCHIVE}/nothing", *asks),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        ).wait()
    assert run.status == 0, run.err
    for name in GRAPHS[1:]:
        assert f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH <{name}>" in run.out
    assert run.out.count("queries") == 4
    assert (gone.status, len(gone.err.splitlines())) == (1, 1)
    assert "status 404" in gone.err
