"""Describes a crawl as a dataset with PROV-O, VoID and DCAT.

Each attempt is a ``prov:Activity``. Each document is a ``void:Dataset`` that an attempt generated.
All documents together are a ``dcat:Dataset`` that the crawl generated. Terms that these
vocabularies lack are in :data:`NAMESPACE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pyoxigraph import Literal, NamedNode, Triple
from sqlalchemy import Connection, Engine, func, select
from w3lib.url import safe_url_string

from semcrawl import __version__
from semcrawl.metadata.records import Document, Fetch
from semcrawl.metadata.summary import is_robots

#: our own terms: ``outcome``, ``depth``, ``label``, ``rule``, ``foundOn``, ``finalUrl``,
#: ``errors``, ``errorCount``, ``sha256``, and in triple stores ``graph`` and ``lastVisit``
NAMESPACE = "https://github.com/semcrawl/semcrawl/ns#"

PREFIXES = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "formats": "http://www.w3.org/ns/formats/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "http": "http://www.w3.org/2011/http#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "semcrawl": NAMESPACE,
    "void": "http://rdfs.org/ns/void#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

#: names in the W3C's list of formats (https://www.w3.org/ns/formats/), by our names
_FORMATS = {
    "rdfxml": "RDF_XML",
    "turtle": "Turtle",
    "n3": "N3",
    "ntriples": "N-Triples",
    "trig": "TriG",
    "nquads": "N-Quads",
    "jsonld": "JSON-LD",
    "embedded": "RDFa",
}


_MEDIA_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}(?=\s*(?:;|\Z))", re.ASCII)


@dataclass(frozen=True, slots=True)
class DescriptionOptions:
    """Options of a description."""

    #: IRI of the dataset; empty = a ``urn:uuid:`` made from the crawl's first attempt
    base: str = ""
    #: download URL of ``quads.nq``; empty = none
    download_url: str = ""
    #: whether to describe every attempt, or only those that gave a document
    attempts: bool = True


def describe(engine: Engine, options: DescriptionOptions) -> Iterator[Triple]:
    """Yield the description; nothing if the database has no attempts."""
    with engine.execution_options(read_only=True).connect() as connection:
        base = options.base or own_iri(connection)
        if not base:
            return
        yield from _dataset(connection, base, options)
        yield from _attempts(connection, base, options.attempts)
        yield from _documents(connection, base)


def own_iri(connection: Connection) -> str:
    """Return a name for a crawl, made from its first attempt; empty if it has none."""
    query = select(Fetch.url, Fetch.started_at).order_by(Fetch.id).limit(1)
    first = connection.execute(query).first()
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'{first.started_at!r} {first.url}')}" if first else ""


def _dataset(connection: Connection, base: str, options: DescriptionOptions) -> Iterator[Triple]:
    dataset, crawl = iri_node(base), iri_node(f"{base}#crawl")
    start, end = connection.execute(
        select(func.min(Fetch.started_at), func.max(Fetch.started_at + Fetch.elapsed))
    ).one()
    documents, quads, size = connection.execute(
        select(
            func.count(),
            func.coalesce(func.sum(Document.quads), 0),
            func.coalesce(func.sum(Document.length), 0),
        ).where(Document.gone_at.is_(None))
    ).one()
    for kind in ("dcat:Dataset", "void:Dataset", "prov:Entity"):
        yield _is_a(dataset, kind)
    yield Triple(dataset, _term("dcterms:title"), Literal("RDF found by semcrawl", language="en"))
    yield Triple(dataset, _term("dcterms:issued"), time_literal(end))
    yield Triple(dataset, _term("void:documents"), Literal(int(documents)))
    yield Triple(dataset, _term("void:triples"), Literal(int(quads)))
    yield Triple(dataset, _term("prov:wasGeneratedBy"), crawl)
    distribution = iri_node(f"{base}#quads")
    yield Triple(dataset, _term("dcat:distribution"), distribution)
    yield _is_a(distribution, "dcat:Distribution")
    yield Triple(distribution, _term("dcterms:format"), _term("formats:N-Quads"))
    yield Triple(distribution, _term("dcat:mediaType"), _media_type("application/n-quads"))
    if size:  # it is 0 in a database that workers share, which does not know their files
        yield Triple(distribution, _term("dcat:byteSize"), Literal(int(size)))
    if options.download_url:
        url = iri_node(options.download_url)
        yield Triple(distribution, _term("dcat:downloadURL"), url)
        yield Triple(dataset, _term("void:dataDump"), url)
    yield from describe_crawl(base)
    yield Triple(crawl, _term("prov:startedAtTime"), time_literal(start))
    yield Triple(crawl, _term("prov:endedAtTime"), time_literal(end))
    for seed, outcome in connection.execute(
        select(Fetch.url, func.min(Fetch.outcome))
        .where(Fetch.depth == 0, Fetch.parent_url.is_(None))
        .group_by(Fetch.url)
    ):
        if not is_robots(seed, outcome):
            yield Triple(crawl, _term("prov:used"), iri_node(seed))


def describe_crawl(base: str) -> Iterator[Triple]:
    """Yield that a crawl is the work of semcrawl; nothing of it changes while the crawl goes on."""
    crawl, agent = iri_node(f"{base}#crawl"), iri_node(f"{base}#semcrawl")
    yield _is_a(crawl, "prov:Activity")
    yield Triple(crawl, _term("prov:wasAssociatedWith"), agent)
    yield _is_a(agent, "prov:SoftwareAgent")
    yield Triple(agent, _term("foaf:name"), Literal("semcrawl"))
    yield Triple(agent, _term("dcterms:hasVersion"), Literal(__version__))


def _attempts(connection: Connection, base: str, every: bool) -> Iterator[Triple]:
    rows = connection.execution_options(yield_per=1000).execute(
        select(Fetch).order_by(Fetch.id)
        if every
        else select(Fetch).where(Fetch.quads > 0).order_by(Fetch.id)
    )
    for row in rows:
        yield from describe_attempt(base, row)


def attempt_node(base: str, number: int) -> NamedNode:
    """Return the name of an attempt, by its number in ``fetch``."""
    return iri_node(f"{base}#fetch-{number}")


def describe_attempt(base: str, row: Any) -> Iterator[Triple]:
    """Yield the description of an attempt, a row of ``fetch``."""
    attempt, crawl = attempt_node(base, row.id), iri_node(f"{base}#crawl")
    yield _is_a(attempt, "prov:Activity")
    yield Triple(attempt, _term("dcterms:isPartOf"), crawl)
    yield Triple(attempt, _term("prov:used"), iri_node(row.url))
    yield Triple(attempt, _term("prov:startedAtTime"), time_literal(row.started_at))
    yield Triple(attempt, _term("prov:endedAtTime"), time_literal(row.started_at + row.elapsed))
    yield Triple(attempt, _own("outcome"), _own(row.outcome))
    yield Triple(attempt, _own("depth"), Literal(row.depth))
    if row.status is not None:
        yield Triple(attempt, _term("http:statusCodeValue"), Literal(row.status))
    if row.final_url and row.final_url != row.url:
        yield Triple(attempt, _own("finalUrl"), iri_node(row.final_url))
    if row.parent_url:
        yield Triple(attempt, _own("foundOn"), iri_node(row.parent_url))
    if row.label:
        yield Triple(attempt, _own("label"), Literal(row.label))
    for rule in row.rules.split():
        yield Triple(attempt, _own("rule"), Literal(rule))
    if row.errors:
        yield Triple(attempt, _own("errors"), Literal(row.errors))


def _documents(connection: Connection, base: str) -> Iterator[Triple]:
    dataset = iri_node(base)
    generated_by = (
        select(func.max(Fetch.id))
        .where(Fetch.final_url == Document.url, Fetch.quads == Document.quads)
        .correlate(Document)
        .scalar_subquery()
    )
    rows = connection.execution_options(yield_per=1000).execute(
        select(Document, generated_by.label("fetch")).order_by(Document.id)
    )
    for found in rows:
        document = iri_node(f"{base}#document-{found.id}")
        if found.gone_at is None:
            yield Triple(dataset, _term("void:subset"), document)
        attempt = None if found.fetch is None else attempt_node(base, found.fetch)
        yield from describe_document(document, found, attempt)


def describe_document(
    document: NamedNode, found: Any, attempt: NamedNode | None
) -> Iterator[Triple]:
    """Yield the description of a document, a row of ``document``.

    ``attempt``: the one that its content comes from; ``None`` if it is not known.
    """
    for kind in ("void:Dataset", "prov:Entity"):
        yield _is_a(document, kind)
    if found.gone_at is not None:
        yield Triple(document, _term("prov:invalidatedAtTime"), time_literal(found.gone_at))
    yield Triple(document, _term("void:dataDump"), iri_node(found.url))
    yield Triple(document, _term("prov:hadPrimarySource"), iri_node(found.url))
    yield Triple(document, _term("void:triples"), Literal(found.quads))
    yield Triple(document, _term("prov:generatedAtTime"), time_literal(found.fetched_at))
    if found.format in _FORMATS:
        yield Triple(document, _term("void:feature"), _term(f"formats:{_FORMATS[found.format]}"))
    if media_type := _MEDIA_TYPE.match(found.content_type):
        yield Triple(document, _term("dcterms:format"), _media_type(media_type[0].lower()))
    if (modified := _http_time(found.last_modified)) is not None:
        yield Triple(document, _term("dcterms:modified"), time_literal(modified))
    if found.content_hash:
        yield Triple(document, _own("sha256"), Literal(found.content_hash))
    if attempt is not None:
        yield Triple(document, _term("prov:wasGeneratedBy"), attempt)
    if found.parent_url:
        yield Triple(document, _own("foundOn"), iri_node(found.parent_url))
    if found.error_count:
        yield Triple(document, _own("errorCount"), Literal(found.error_count))


def _term(name: str) -> NamedNode:
    prefix, _, local = name.partition(":")
    return NamedNode(PREFIXES[prefix] + local)


def _http_time(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _own(local: str) -> NamedNode:
    return NamedNode(NAMESPACE + local)


def _is_a(node: NamedNode, kind: str) -> Triple:
    return Triple(node, _term("rdf:type"), _term(kind))


def _media_type(name: str) -> NamedNode:
    return NamedNode(f"https://www.iana.org/assignments/media-types/{name}")


def iri_node(iri: str) -> NamedNode:
    """Return the IRI; percent-encode characters that no IRI may have."""
    try:
        return NamedNode(iri)
    except ValueError:
        return NamedNode(safe_url_string(iri).replace("|", "%7C").replace("^", "%5E"))


def time_literal(seconds: float) -> Literal:
    """Return a time (seconds since the epoch) as an ``xsd:dateTime`` in UTC."""
    moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return Literal(moment.replace("+00:00", "Z"), datatype=_term("xsd:dateTime"))
