"""Embedded data of 200 mixed pages, beside extruct with all its syntaxes on.

    python benchmarks/rdf_embedded.py [--pages 200]

A quarter of the pages each holds JSON-LD, RDFa, Microdata, and nothing. What extruct says in RDFa
and JSON-LD is turned into quads and must be the same; Microdata, for which extruct gives no RDF, is
compared by the properties of its items. The pages name no language: extruct loses that of ``lang``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable

import extruct
import pyoxigraph

from semcrawl.rdf import Embedded, ReadOptions, read_embedded

Ox = pyoxigraph.RdfFormat
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
    """Make a page of some 25 kB with one kind of data, or none."""
    kind = number % 4
    json_ld = rdfa = microdata = ""
    if kind == 0:
        things = {
            "@context": "https://schema.org",
            "@type": "Product",
            "@id": f"http://example.org/product/{number}",
            "name": f"Product {number}",
            "offers": {"@type": "Offer", "price": str(number), "priceCurrency": "EUR"},
            "review": [
                {"@type": "Review", "author": f"A{i}", "reviewBody": "Good"} for i in range(5)
            ],
        }
        json_ld = f'<script type="application/ld+json">{json.dumps(things)}</script>'
    elif kind == 1:
        rdfa = '<div vocab="http://schema.org/" typeof="Person" resource="#me">' + "".join(
            f'<div property="knows" typeof="Person"><span property="name">Friend {i}</span>'
            f'<a property="url" href="http://example.org/friend/{i}">home</a></div>'
            for i in range(10)
        ) + "</div>"  # fmt: skip
    elif kind == 2:
        microdata = "".join(
            f'<div itemscope itemtype="http://schema.org/Event"><span itemprop="name">Event {i}'
            f'</span><time itemprop="startDate" datetime="2024-01-{i + 10}">soon</time></div>'
            for i in range(10)
        )
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Page {number}</title>'
        f'<link rel="stylesheet" href="/s.css">{json_ld}</head><body><nav><ul>{NAVIGATION}</ul>'
        f"</nav><main>{rdfa}{microdata}{PROSE}</main></body></html>"
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


def differences(pages: list[bytes], url: str) -> int:
    """Return how many pages give other quads."""
    wrong = 0
    for body in pages:
        found = extruct.extract(body, base_url=url, syntaxes=["rdfa", "json-ld", "microdata"])
        wrong += quads(found["rdfa"], url) != ours(body, url, Embedded.RDFA)
        wrong += quads(found["json-ld"], url) != ours(body, url, Embedded.JSON_LD)
        properties = sum(len(item["properties"]) + 1 for item in found["microdata"])
        wrong += properties != len(ours(body, url, Embedded.MICRODATA))
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200)
    arguments = parser.parse_args()
    url = "http://example.org/page"
    pages = [page(number).encode() for number in range(arguments.pages)]
    # roles are off for us and on for extruct: these pages have none
    start = time.process_time()
    for body in pages:
        extruct.extract(body, base_url=url)
    theirs = time.process_time() - start
    start = time.process_time()
    for body in pages:
        read_embedded(body, url, "text/html")
    mine = time.process_time() - start
    print(f"extruct {theirs / len(pages) * 1e3:7.2f} ms a page")
    print(f"semcrawl {mine / len(pages) * 1e3:6.2f} ms a page")
    print(f"ratio {theirs / mine:.1f}")
    print(f"pages whose quads differ: {differences(pages[:40], url)} of {len(pages[:40])}")


if __name__ == "__main__":
    main()
