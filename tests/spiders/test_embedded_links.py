"""Links that only the data of a page names, in a crawl."""

from __future__ import annotations

from json import dumps
from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
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
def test_the_links_of_a_large_page_do_not_wait_for_its_data(tmp_path: Path) -> None:
    """Its own are followed first; then those that only its data name."""
    spans = "".join(f'<p property="name" resource="#{n}">{n}</p>' for n in range(150_000))
    site = SITE | {"/": page("/shown.nt", head=DATA, body=f'<div vocab="{D}/">{spans}</div>')}
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(f"{D}/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    order = [record["url"] for record in run.records if record["url"].startswith(D)]
    assert order.index(f"{D}/shown.nt") < order.index(f"{D}/") < order.index(f"{D}/hidden")
    assert run.records[order.index(f"{D}/")]["quads"] > 150_000


@pytest.mark.slow
@pytest.mark.parametrize("option", ["SEMCRAWL_EMBEDDED_LINKS=", "SEMCRAWL_EMBEDDED="])
def test_it_is_not_found_where_that_is_switched_off(tmp_path: Path, option: str) -> None:
    run = crawl(tmp_path, "-s", option)
    assert f"{D}/hidden" not in run.outcomes()
    assert f"{D}/shown.nt" in run.outcomes()


def described(context: object, name: str, **more: object) -> dict[str, object]:
    """Describe a data set as the guidance of Google's Dataset Search does."""
    return {
        "@context": context,
        "@type": "Dataset",
        "name": "Storm events",
        "description": 'Storms, "as told" by the weather service;\n with a back\\slash. ' * 9,
        "url": f"{D}/{name}",
        "sameAs": "https://catalog.example/details.page?id=gov.example:C00510",
        "identifier": ["https://doi.org/10.1000/182", "https://ids.example/ark:/12345/fk1234"],
        "keywords": ["ATMOSPHERE > PHENOMENA > DROUGHT", "ATMOSPHERE > PHENOMENA > FOG"],
        "license": "https://creativecommons.org/publicdomain/zero/1.0/",
        "isAccessibleForFree": True,
        "creator": {
            "@type": "Organization",
            "url": "https://www.centre.example/",
            "contactPoint": {"@type": "ContactPoint", "telephone": "+1-828-271-4800"},
        },
        "includedInDataCatalog": {"@type": "DataCatalog", "name": "catalog.example"},
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": "CSV", "contentUrl": f"{D}/{name}.csv"},
            {
                "@type": "DataDownload",
                "encodingFormat": "text/turtle",
                "contentUrl": f"{D}/data/{name}",
            },
        ],
        "temporalCoverage": "1950-01-01/2013-12-18",
        "spatialCoverage": {
            "@type": "Place",
            "geo": {"@type": "GeoShape", "box": "18.0 -65.0 72.0 172.0"},
        },
        **more,
    }


def minified(content: object, *, slashes: bool = False) -> bytes:
    """Return a page with the data in one line; PHP escapes slashes."""
    text = dumps(content, separators=(",", ":"))
    text = text.replace("/", "\\/") if slashes else text.replace("</", "<\\/")
    return (
        "<!doctype html><html><head><title>x</title>"
        f'<script type="application/ld+json">{text}</script></head><body>No link.</body></html>'
    ).encode()


GUIDANCE = {
    "usual": minified(described("https://schema.org/", "usual")),
    "slashes": minified(described("http://schema.org", "slashes"), slashes=True),
    "vocabulary": minified(described({"@vocab": "https://schema.org/"}, "vocabulary")),
    "list": minified([described("schema.org", "list")]),
    "graph": minified(
        {
            "@context": "https://schema.org",
            "@graph": [{"@type": "WebPage"}, described("https://schema.org", "graph")],
        }
    ),
    "microdata": (
        '<!doctype html><html><body itemscope itemtype="https://schema.org/Dataset">'
        '<div itemprop=distribution itemscope itemtype="https://schema.org/DataDownload">'
        f'<meta itemprop=contentUrl content="{D}/data/microdata">'
        "<meta itemprop=encodingFormat content=text/turtle></div></body></html>"
    ).encode(),
    "rdfa": (
        '<!doctype html><html><body vocab="https://schema.org/" typeof=Dataset>'
        "<div property=distribution typeof=DataDownload>"
        f'<link property=contentUrl href="{D}/data/rdfa">'
        '<meta property=encodingFormat content="text/turtle"></div></body></html>'
    ).encode(),
}


@pytest.mark.slow
def test_the_distributions_of_data_sets_are_found_as_guidance_describes_them(
    tmp_path: Path,
) -> None:
    """In one line, as publishers write them, as microdata and as RDFa; no element links to them."""
    site = {
        "/": page(*(f"/{name}" for name in GUIDANCE)),
        **{f"/{name}": ("text/html", body) for name, body in GUIDANCE.items()},
        **{
            f"/data/{name}": ("text/turtle", f"<urn:{name}> <urn:p> <urn:o> .".encode())
            for name in GUIDANCE
        },
    }
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(
            *(f"{D}/", "--fast", "--scope", "d.example"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    outcomes = {record["url"]: record["outcome"] for record in run.records}
    found = {name for name in GUIDANCE if outcomes.get(f"{D}/data/{name}") == "fetched-rdf"}
    assert found == set(GUIDANCE)
