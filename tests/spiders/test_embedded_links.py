"""Links that only the data of a page names, in a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.demo import DemoWeb, serve
from spiders.site import handler, page, script, triples

D = "http://d.example"
NT = "application/n-triples"
DATA = script(
    {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "distribution": [
            {"contentUrl": f"{D}/hidden", "encodingFormat": "application/n-triples"},
            {"contentUrl": f"{D}/shown.nt"},
        ],
    }
)
SITE = {
    "/": page("/shown.nt", head=DATA),
    "/hidden": (NT, triples("hidden", 3)),
    "/shown.nt": (NT, triples("shown", 3)),
}


def crawl(folder: Path, *options: str) -> Run:
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        return harvest(f"{D}/", "--fast", *options, folder=folder / "out", proxy=server.proxy_url)


@pytest.mark.slow
def test_a_distribution_that_nothing_else_names_is_found_by_embedded_data(tmp_path: Path) -> None:
    """An address that an element names as well counts as found by a link."""
    run = crawl(tmp_path)
    ways = {record["url"]: record["found_by"] for record in run.records}
    assert ways[f"{D}/hidden"] == "embedded"
    assert ways[f"{D}/shown.nt"] == "link"
    assert run.summary["found_by"]["embedded"]["rdf_documents"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("option", ["SEMCRAWL_EMBEDDED_LINKS=", "SEMCRAWL_EMBEDDED="])
def test_it_is_not_found_where_that_is_switched_off(tmp_path: Path, option: str) -> None:
    run = crawl(tmp_path, "-s", option)
    assert f"{D}/hidden" not in run.outcomes()
    assert f"{D}/shown.nt" in run.outcomes()
