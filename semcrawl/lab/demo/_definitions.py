"""vocab: a vocabulary whose terms redirect with 303 and whose whole is negotiated."""

from __future__ import annotations

from pyoxigraph import RdfFormat

from semcrawl.lab.demo.model import (
    PREFIXES,
    Host,
    Prose,
    ResourceKind,
    Response,
    Statement,
    alternate,
    link,
    listing,
    page,
    paragraphs,
    serialise,
    triples,
)

HOST = "vocab.demo.example"
SITE = "Saltmarsh vocabulary"
CLASSES = (
    "Place", "Gauge", "Season", "Sighting", "Species", "Transect", "Volunteer", "Boat", "Tide",
    "Notebook",
)  # fmt: skip
PROPERTIES = (
    "latitude", "height", "memberSince", "livesNear", "observedBy", "count", "observedAt",
    "species",
)  # fmt: skip


def build(prose: Prose, crawl_delay: float) -> Host:
    """Build the host."""
    host = Host(HOST, site=SITE, crawl_delay=crawl_delay)
    base = PREFIXES["sfs"]
    terms = [(name, "rdfs:Class") for name in CLASSES]
    terms += [(name, "rdf:Property") for name in PROPERTIES]
    whole: list[Statement] = [
        (base, "rdf:type", "owl:Ontology"),
        (base, "dcterms:title", "Words of the Saltmarsh Field Society"),
    ]
    for number, (name, kind) in enumerate(terms):
        comment = prose.sentence()
        whole += [(base + name, "rdf:type", kind), (base + name, "rdfs:isDefinedBy", base)]
        related = terms[(number + 1) % len(terms)][0]
        host.html(
            f"/doc/{name}.html",
            name,
            paragraphs([comment])
            + listing(
                [
                    link(f"/ns/{name}", f"{base}{name}"),
                    link(f"/doc/{related}.html", related),
                    link("/", "All terms"),
                ]
            ),
            head=alternate(f"/data/{name}.ttl", "text/turtle"),
        )
        statements: list[Statement] = [
            (base + name, "rdf:type", kind),
            (base + name, "rdfs:label", name),
            (base + name, "rdfs:comment", comment),
            (base + name, "rdfs:seeAlso", base + related),
        ]
        host.rdf(f"/data/{name}.ttl", statements, RdfFormat.TURTLE)
        host.negotiated_redirect(
            f"/ns/{name}",
            ("text/html", host.url(f"/doc/{name}.html")),
            ("text/turtle", host.url(f"/data/{name}.ttl")),
        )
    _whole(host, whole, terms)
    return host


def _whole(host: Host, statements: list[Statement], terms: list[tuple[str, str]]) -> None:
    """Add the overview, and the vocabulary as one document negotiated at its own address."""
    overview = listing(link(f"/doc/{name}.html", name) for name, _ in terms)
    host.html(
        "/",
        "Vocabulary",
        overview + f"<p>{link('/ns/', 'Whole vocabulary')}</p>",
        head=alternate("/ns/", "text/turtle"),
    )
    data = triples(statements)

    def answer(content_type: str, body: bytes) -> tuple[str, Response]:
        headers = (("Content-Type", content_type), ("Vary", "Accept"))
        return content_type.partition(";")[0], Response(200, headers, body)

    host.put(
        "/ns/",
        ResourceKind.RDF,
        answer("text/html; charset=utf-8", page(SITE, "Vocabulary", overview).encode()),
        answer("text/turtle; charset=utf-8", serialise(data, RdfFormat.TURTLE)),
        answer("application/rdf+xml", serialise(data, RdfFormat.RDF_XML)),
        quads=len(data),
    )
