"""archive: data that no link leads to, each announced in a different way.

These are a sitemap, data in a page, a linkset, CKAN's catalogue, a VoID description, pages that are
RDF too, and a SPARQL endpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

import pyoxigraph as ox
from pyoxigraph import RdfFormat

from semcrawl.lab.demo.endpoint import Endpoint
from semcrawl.lab.demo.model import (
    PLACES,
    Host,
    Prose,
    ResourceKind,
    Response,
    Statement,
    iri,
    link,
    listing,
    page,
    paragraphs,
    serialise,
    slug,
    triples,
)
from semcrawl.sources.endpoints import Ask, Step
from semcrawl.sources.negotiation import as_rdf
from semcrawl.web.vocabulary import FoundBy

HOST = "archive.demo.example"
SITE = "Saltmarsh archive"
PORTAL = "/portal/"
ENDPOINT = "/sparql"
COUNTERS = ("ada", "bo", "cleo")
_HTML, _TURTLE = "text/html", "text/turtle"
_SERVICE = "http://www.w3.org/ns/sparql-service-description#"
_ANY_URI = "http://www.w3.org/2001/XMLSchema#anyURI"

_ROOT = f"http://{HOST}"
_SPARQL = f"{_ROOT}{ENDPOINT}"
#: names of the endpoint's graphs; the default graph has none
GRAPHS = ("", f"{_ROOT}/logs/2023", f"{_ROOT}/logs/2024")


def _graph_page(graph: str) -> str:
    """Return the address of the query for a whole graph."""
    return Step(_SPARQL, Ask.WHOLE, graph).url


#: documents and pages that no link leads to, by how they are found
ANNOUNCED: Mapping[FoundBy, frozenset[str]] = MappingProxyType(
    {
        FoundBy.SITEMAP: frozenset({f"{_ROOT}/annals/1898", f"{_ROOT}/annals/1898.ttl"}),
        FoundBy.EMBEDDED: frozenset({f"{_ROOT}/store?file=survey"}),
        FoundBy.HEADER: frozenset({f"{_ROOT}/store?file=methods"}),
        FoundBy.CATALOGUE: frozenset(
            {f"{_ROOT}{PORTAL}catalog.ttl", f"{_ROOT}{PORTAL}catalog.ttl?page=2"}
            | {f"{_ROOT}{PORTAL}sets/{number}" for number in (1, 2, 3)}
        ),
        FoundBy.NEGOTIATION: frozenset(as_rdf(f"{_ROOT}/counters/{name}") for name in COUNTERS),
        FoundBy.WELL_KNOWN: frozenset(
            {f"{_ROOT}/.well-known/void", f"{_ROOT}/store?file=everything"}
        ),
        FoundBy.ENDPOINT: frozenset(_graph_page(name) for name in GRAPHS),
    }
)


def build(prose: Prose, crawl_delay: float) -> Host:
    """Build the host."""
    sitemap = f"{_ROOT}/sitemap.xml"
    host = Host(HOST, site=SITE, crawl_delay=crawl_delay, sitemaps=[sitemap])
    host.html(
        "/",
        "Archive",
        paragraphs([prose.paragraph()])
        + listing(
            [
                link("/survey/", "The great survey"),
                link("/methods/", "How we count"),
                link(PORTAL, "Portal"),
                link("/counters/", "Who counts"),
                link("/finds.ttl", "Finds of the year"),
            ]
        ),
    )
    data = host.url("/finds.ttl#data")
    _counts(host, prose, "/finds.ttl", (data, "void:sparqlEndpoint", _SPARQL))
    _survey(host, prose)
    _methods(host, prose)
    _portal(host, prose)
    _counters(host, prose)
    _void(host, prose)
    _annals(host, prose)
    _endpoint(host, prose)
    return host


def _counts(host: Host, prose: Prose, path: str, *more: Statement) -> str:
    """Add a document of counts and further statements; return its address."""
    rows = list(more)
    for number, place in enumerate(PLACES[:5], 1):
        subject = host.url(f"{path}#{number}")
        rows += [
            (subject, "rdf:type", "sfs:Sighting"),
            (subject, "rdfs:label", place),
            (subject, "sfs:count", prose.number(1, 900)),
        ]
    return host.rdf(path, rows, RdfFormat.TURTLE)


def _survey(host: Host, prose: Prose) -> None:
    """Add a page whose embedded data alone names a file."""
    address = _counts(host, prose, "/store?file=survey")
    data = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": "The great survey",
        "distribution": {
            "@type": "DataDownload",
            "contentUrl": address,
            "encodingFormat": _TURTLE,
        },
    }
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>\n'
    content = paragraphs([prose.paragraph()])
    host.html("/survey/", "The great survey", content, head=script, embedded=6)


def _methods(host: Host, prose: Prose) -> None:
    """Add a page whose header names a document of links."""
    address = _counts(host, prose, "/store?file=methods")
    linkset = {
        "linkset": [
            {
                "anchor": host.url("/methods/"),
                "describedby": [{"href": address, "type": _TURTLE}],
            }
        ]
    }
    kind = "application/linkset+json"
    host.html(
        "/methods/",
        "How we count",
        paragraphs([prose.paragraph()]),
        headers=[("Link", f'</methods/links>; rel="linkset"; type="{kind}"')],
    )
    host.body("/methods/links", ResourceKind.OTHER, json.dumps(linkset).encode(), kind)


def _portal(host: Host, prose: Prose) -> None:
    """Add a CKAN portal with two pages of DCAT and CKAN's API."""
    sign = '<meta name="generator" content="ckan 2.10.4">\n'
    root = f'<p data-site-root="{PORTAL}">Search our data sets.</p>'
    host.html(PORTAL, "Portal", root, head=sign)
    catalogue = host.url(f"{PORTAL}catalog.ttl")
    for number, query in ((1, ""), (2, "?page=2")):
        address = _counts(host, prose, f"{PORTAL}sets/{number}")
        dataset = f"{catalogue}{query}#dataset"
        rows: list[Statement] = [
            (dataset, "rdf:type", "dcat:Dataset"),
            (dataset, "dcterms:title", prose.title()),
            (dataset, "dcat:distribution", f"_:d{number}"),
            # a literal, as in many catalogues
            (f"_:d{number}", "dcat:downloadURL", ox.Literal(address, datatype=iri(_ANY_URI))),
            (f"_:d{number}", "dcat:mediaType", _TURTLE),
        ]
        if number == 1:
            next_page = iri(f"{catalogue}?page=2")
            rows.append((catalogue, "http://www.w3.org/ns/hydra/core#next", next_page))
        host.rdf(f"{PORTAL}catalog.ttl{query}", rows, RdfFormat.TURTLE)
    address = _counts(host, prose, f"{PORTAL}sets/3")
    resource = {"url": address, "format": "TTL", "name": "Counts"}
    answer = {"success": True, "result": {"count": 1, "results": [{"resources": [resource]}]}}
    host.body(
        f"{PORTAL}api/3/action/package_search?rows=100",
        ResourceKind.OTHER,
        json.dumps(answer).encode(),
        "application/json",
    )


def _counters(host: Host, prose: Prose) -> None:
    """Add people, each as a page and as RDF at one address."""
    host.html(
        "/counters/", "Who counts", listing(link(f"/counters/{n}", n.title()) for n in COUNTERS)
    )
    for name in COUNTERS:
        subject = host.url(f"/counters/{name}#it")
        data = triples(
            [
                (subject, "rdf:type", "foaf:Person"),
                (subject, "foaf:name", name.title()),
                (subject, "sfs:count", prose.number(1, 900)),
            ]
        )
        vary = ("Vary", "Accept")
        text = page(SITE, name.title(), paragraphs([prose.sentence()])).encode()
        host.put(
            f"/counters/{name}",
            ResourceKind.HTML,
            (_HTML, Response(200, (("Content-Type", f"{_HTML}; charset=utf-8"), vary), text)),
            (
                _TURTLE,
                Response(200, (("Content-Type", _TURTLE), vary), serialise(data, RdfFormat.TURTLE)),
            ),
            quads=len(data),
        )


def _void(host: Host, prose: Prose) -> None:
    """Add a VoID description of the host at its well-known address."""
    dump = _counts(host, prose, "/store?file=everything")
    web = host.url("/.well-known/void#web")
    host.rdf(
        "/.well-known/void",
        [(web, "rdf:type", "void:Dataset"), (web, "void:dataDump", dump)],
        RdfFormat.TURTLE,
    )


def _annals(host: Host, prose: Prose) -> None:
    """Add a page that only the sitemap lists, with a document."""
    data = _counts(host, prose, "/annals/1898.ttl")
    content = paragraphs([prose.paragraph()]) + link(data, "Counts of 1898")
    address = host.html("/annals/1898", "Annals of 1898", content)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{address}</loc><lastmod>2024-05-01</lastmod></url></urlset>\n"
    )
    host.body("/sitemap.xml", ResourceKind.OTHER, text.encode(), "application/xml")


def _endpoint(host: Host, prose: Prose) -> None:
    """Add an endpoint with a default graph and two others, and its description."""
    graphs = {name: triples(_log(name, prose)) for name in GRAPHS}
    endpoint = Endpoint(graphs)
    host.answerers[_SPARQL] = endpoint.answer
    for name, rows in graphs.items():
        address = _graph_page(name)
        if page := endpoint.answer(urlsplit(address).query):
            host.put(address, ResourceKind.RDF, ("", page), quads=len(rows))
    service = f"{_SPARQL}#service"
    host.rdf(
        ENDPOINT,
        [
            (service, "rdf:type", f"{_SERVICE}Service"),
            (service, f"{_SERVICE}endpoint", _SPARQL),
            (service, "dcterms:title", "Logs of the archive"),
        ],
        RdfFormat.TURTLE,
    )


def _log(name: str, prose: Prose) -> list[Statement]:
    """Return the statements of a graph whose entries are blank nodes."""
    log = f"{name or _SPARQL}#log"
    rows: list[Statement] = [(log, "rdf:type", "sfs:Log"), (log, "rdfs:label", prose.title())]
    for place in PLACES[:4]:
        entry = f"_:{slug(f'{name[-4:]} {place}')}"
        rows += [
            (log, "sfs:entry", entry),
            (entry, "sfs:place", place),
            (entry, "sfs:count", prose.number(1, 900)),
        ]
    return rows
