"""data: a DCAT catalogue with dumps in several syntaxes, compressed or not."""

from __future__ import annotations

from collections.abc import Callable

from pyoxigraph import RdfFormat

from semcrawl.lab.demo.model import (
    PLACES,
    SUBJECTS,
    Host,
    Prose,
    ResourceKind,
    Statement,
    alternate,
    link,
    listing,
    paragraphs,
    slug,
)

HOST = "data.demo.example"
SITE = "Saltmarsh data"
DATASETS = 20
#: sightings in an ordinary dump, and in the one large dump
SIGHTINGS, MANY_SIGHTINGS = 6, 600


def build(prose: Prose, crawl_delay: float) -> Host:
    """Build the host."""
    host = Host(HOST, site=SITE, crawl_delay=crawl_delay)
    catalogue = host.url("/catalogue.ttl#catalogue")
    statements: list[Statement] = [
        (catalogue, "rdf:type", "dcat:Catalog"),
        (catalogue, "dcterms:title", SITE),
    ]
    rows = []
    for number in range(DATASETS):
        subject, place = SUBJECTS[number % len(SUBJECTS)], PLACES[number % len(PLACES)]
        title = f"{subject.capitalize()} at {place}"
        name = slug(title)
        _dataset(host, prose, number, name, title)
        statements.append((catalogue, "dcat:dataset", host.url(f"/datasets/{name}/dcat#dataset")))
        rows.append(link(f"/datasets/{name}/", title))
    host.html(
        "/",
        "Data catalogue",
        paragraphs([prose.paragraph()]) + listing(rows),
        head=alternate("/catalogue.ttl", "text/turtle", "DCAT catalogue"),
    )
    host.rdf("/catalogue.ttl", statements, RdfFormat.TURTLE)
    return host


def _dataset(host: Host, prose: Prose, number: int, name: str, title: str) -> None:
    path, text, add = _dump(host, number, name)
    size = MANY_SIGHTINGS if number == 0 else SIGHTINGS
    add(_sightings(host, prose, name, size))
    host.html(
        f"/datasets/{name}/",
        title,
        paragraphs([prose.paragraph()])
        + listing(
            [
                link(path, text),
                link(f"/datasets/{name}/dcat", "Metadata", type="text/turtle"),
                link(f"/tables/{name}.csv", "Table (CSV)"),
                link("/", "Catalogue"),
            ]
        ),
    )
    dataset = host.url(f"/datasets/{name}/dcat#dataset")
    statements: list[Statement] = [
        (dataset, "rdf:type", "dcat:Dataset"),
        (dataset, "dcterms:title", title),
        (dataset, "dcterms:description", prose.sentence()),
        (dataset, "dcat:landingPage", host.url(f"/datasets/{name}/")),
        (dataset, "dcat:distribution", "_:dump"),
        ("_:dump", "dcat:downloadURL", host.url(path)),
    ]
    host.rdf(f"/datasets/{name}/dcat", statements, RdfFormat.TURTLE)
    host.body(f"/tables/{name}.csv", ResourceKind.OTHER, b"date,count\n", "text/csv")


def _dump(
    host: Host, number: int, name: str
) -> tuple[str, str, Callable[[list[Statement]], object]]:
    """Return a dump's path, its link text, and the function that adds it to the host."""
    graph = host.url(f"/graphs/{name}")
    match number % 6:
        case 0:
            path = f"/dumps/{name}.nt.gz"
            return (
                path,
                "Dump (N-Triples, gzip)",
                lambda rows: host.rdf(
                    path, rows, RdfFormat.N_TRIPLES, content_type="application/gzip", compress=True
                ),
            )
        case 1:
            path = f"/dumps/{name}.nq"
            return (
                path,
                "Dump (N-Quads)",
                lambda rows: host.rdf(path, rows, RdfFormat.N_QUADS, graph=graph),
            )
        case 2:
            path = f"/export?dataset={name}&format=rdf"
            return path, "Export as RDF", lambda rows: host.rdf(path, rows, RdfFormat.RDF_XML)
        case 3:
            path = f"/dumps/{name}.jsonld"
            return (
                path,
                "Dump (JSON-LD)",
                lambda rows: host.rdf(
                    path, rows, RdfFormat.JSON_LD, content_type="application/json"
                ),
            )
        case 4:
            path = f"/dumps/{name}.trig"
            return (
                path,
                "Dump (TriG)",
                lambda rows: host.rdf(path, rows, RdfFormat.TRIG, graph=graph),
            )
        case _:
            path = f"/dumps/{name}.nt"
            return (
                path,
                "Dump (N-Triples)",
                lambda rows: host.rdf(path, rows, RdfFormat.N_TRIPLES, content_type="text/plain"),
            )


def _sightings(host: Host, prose: Prose, name: str, count: int) -> list[Statement]:
    rows: list[Statement] = []
    for number in range(1, count + 1):
        # with fragments, so that one document describes them all
        sighting = host.url(f"/datasets/{name}/#sighting-{number}")
        rows += [
            (sighting, "rdf:type", "sfs:Sighting"),
            (sighting, "sfs:count", prose.number(1, 900)),
            (sighting, "sfs:observedAt", f"20{prose.number(10, 25)}-06-{prose.number(10, 30)}"),
            (sighting, "rdfs:comment", prose.sentence()),
        ]
    return rows
