"""Embedded data of 200 mixed pages, beside extruct with the same three syntaxes.

    python benchmarks/rdf_embedded.py [--pages 200]

A quarter of the pages each holds JSON-LD, RDFa, Microdata, and nothing; no two pages are alike.
Both read JSON-LD, RDFa and Microdata; extruct with all its syntaxes is shown beside them. The
quads of every page must be the same. extruct gives no RDF for Microdata: its items are written as
JSON-LD, as "Microdata to RDF" maps them. The pages name no language, as extruct loses that of
``lang``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable

import extruct
import pyoxigraph

from semcrawl.rdf import Embedded, ReadOptions, read_embedded

Ox = pyoxigraph.RdfFormat
SYNTAXES = ["json-ld", "rdfa", "microdata"]
XSD = "http://www.w3.org/2001/XMLSchema#"
NAVIGATION = "".join(
    f'<li class="item item-{i}"><a href="/section/{i}" title="Section {i}">Section {i}</a></li>'
    for i in range(80)
)
PROSE = "".join(
    f"<p class='text'>Paragraph {i}: some words, <em>more words</em> and <a href='/page/{i}'>a link"
    f"</a> to <span class='ref'>another page</span>.</p>"
    for i in range(60)
)


def page(number: int) -> str:
    """Make a page of 15 to 35 kB with one kind of data, or none; the number varies all of it."""
    kind = number % 4
    some = 3 + number % 13
    navigation = NAVIGATION * (1 + number % 2)
    prose = PROSE[: len(PROSE) // 2] if number % 3 else PROSE
    json_ld = rdfa = microdata = ""
    if kind == 0:
        things = {
            "@context": "https://schema.org",
            "@type": "Product",
            "@id": f"http://example.org/product/{number}",
            "name": f"Product {number}",
            "offers": {"@type": "Offer", "price": str(number), "priceCurrency": "EUR"},
            "review": [
                {"@type": "Review", "author": f"A{i}", "reviewBody": "Good"} for i in range(some)
            ],
        }
        json_ld = f'<script type="application/ld+json">{json.dumps(things)}</script>'
    elif kind == 1:
        rdfa = '<div vocab="http://schema.org/" typeof="Person" resource="#me">' + "".join(
            f'<div property="knows" typeof="Person"><span property="name">Friend {i}</span>'
            f'<a property="url" href="http://example.org/friend/{i}">home</a></div>'
            for i in range(some)
        ) + "</div>"  # fmt: skip
    elif kind == 2:
        microdata = "".join(
            f'<div itemscope itemtype="http://schema.org/Event"><span itemprop="name">Event {i}'
            f'</span><time itemprop="startDate" datetime="2024-01-{i + 10}">soon</time></div>'
            for i in range(some)
        )
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Page {number}</title>'
        f'<link rel="stylesheet" href="/s.css">{json_ld}</head><body><nav><ul>{navigation}</ul>'
        f"</nav><main>{rdfa}{microdata}{prose}</main></body></html>"
    )


def quads(data: Iterable[object], url: str) -> set[str]:
    """Turn JSON-LD objects into canonical triples."""
    text = json.dumps(list(data)).replace(
        '"https://schema.org"', '{"@vocab": "http://schema.org/"}'
    )
    dataset = pyoxigraph.Dataset()
    for quad in pyoxigraph.parse(text, Ox.JSON_LD, base_iri=url):
        dataset.add(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object))
    return canonical(dataset)


def canonical(dataset: pyoxigraph.Dataset) -> set[str]:
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return set(map(str, dataset))


def ours(body: bytes, url: str, kind: Embedded) -> set[str]:
    options = ReadOptions(embedded=frozenset({kind}))
    dataset = pyoxigraph.Dataset()
    for quad in pyoxigraph.parse(read_embedded(body, url, "text/html", options).nquads, Ox.N_QUADS):
        dataset.add(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object))
    return canonical(dataset)


def as_json_ld(item: object) -> object:
    """Write an item of extruct's Microdata as JSON-LD."""
    if not isinstance(item, dict):
        return item
    vocabulary = item["type"].rpartition("/")[0] + "/"
    properties = {
        vocabulary + name: [as_json_ld(v) for v in (value if isinstance(value, list) else [value])]
        for name, value in item["properties"].items()
    }
    start = vocabulary + "startDate"
    if start in properties:
        dates = [{"@value": date, "@type": f"{XSD}date"} for date in properties[start]]
        properties[start] = dates
    return {"@type": item["type"], **properties}


def differences(pages: list[bytes], url: str) -> int:
    """Return how many pages give other quads, or none where they hold data."""
    wrong = 0
    for number, body in enumerate(pages):
        found = extruct.extract(body, base_url=url, syntaxes=SYNTAXES)
        microdata = [as_json_ld(item) for item in found["microdata"]]
        kinds = {
            Embedded.JSON_LD: quads(found["json-ld"], url),
            Embedded.RDFA: quads(found["rdfa"], url),
            Embedded.MICRODATA: quads(microdata, url),
        }
        same = all(theirs == ours(body, url, kind) for kind, theirs in kinds.items())
        wrong += not same or bool(number % 4 == 3) == any(kinds.values())
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200)
    arguments = parser.parse_args()
    url = "http://example.org/page"
    pages = [page(number).encode() for number in range(arguments.pages)]
    contenders: dict[str, Callable[[bytes], object]] = {
        "semcrawl": lambda body: read_embedded(body, url, "text/html"),
        "extruct, the same three": lambda body: extruct.extract(
            body, base_url=url, syntaxes=SYNTAXES
        ),
        "extruct, all syntaxes": lambda body: extruct.extract(body, base_url=url),
    }
    took = dict.fromkeys(contenders, 0.0)
    for body in pages:  # in turn, so that a busy machine slows all of them
        for name, read in contenders.items():
            start = time.process_time()
            read(body)
            took[name] += time.process_time() - start
    mine = took["semcrawl"]
    for name, seconds in took.items():
        print(f"{name:24}{seconds / len(pages) * 1e3:7.2f} ms a page{seconds / mine:7.1f}")
    print(f"pages whose quads differ: {differences(pages, url)} of {len(pages)}")


if __name__ == "__main__":
    main()
