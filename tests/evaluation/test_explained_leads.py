"""``explain`` shows each way to data that a crawl would go from a document."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings

from semcrawl.cli.documentreading import read_for_explanation
from semcrawl.demo import DemoWeb
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
    settings = Settings()
    settings.setmodule("semcrawl.settings")
    url = ARCHIVE + page
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    answer = WEB.answer(parts.netloc, path, {"accept": "text/html"})
    assert answer.status == 200
    document = await read_for_explanation(
        settings,
        answer.body,
        url,
        answer.header("content-type"),
        [value for name, value in answer.headers if name == "Link"],
        [value for name, value in answer.headers if name == "Vary"],
    )
    ways = {link.url: str(link.found_by) for link in document.links}
    assert ways.get(ARCHIVE + target) == way
