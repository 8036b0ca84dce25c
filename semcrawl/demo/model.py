"""The model of the demonstration web: responses, resources, hosts."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urljoin

import pyoxigraph as ox

from semcrawl.demo.markup import page

#: Prefixes in the demonstration web's RDF.
PREFIXES: Mapping[str, str] = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "void": "http://rdfs.org/ns/void#",
    "sfs": "http://vocab.demo.example/ns/",
}


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP answer: status code, headers in order (without Content-Length), body."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the first header of that name (case ignored), or an empty string."""
        return next((v for k, v in self.headers if k.lower() == name.lower()), "")


#: Answers the query part of an address; ``None`` for no query.
Answerer = Callable[[str], Response | None]


class ResourceKind(StrEnum):
    """What a URL of the demonstration web is for a crawler."""

    HTML = "html"
    RDF = "rdf"
    OTHER = "other"  #: neither HTML nor RDF
    REDIRECT = "redirect"
    DEAD = "missing"  #: linked, but answered with an error
    DISALLOWED = "disallowed"  #: robots.txt forbids it
    ROBOTS = "robots"


@dataclass(frozen=True, slots=True)
class Resource:
    """One URL: its kind, and one response per media type.

    ``quads`` is the number of distinct statements of an RDF document, or of a page's RDF form;
    ``embedded`` is that of the data inside an HTML page.
    """

    url: str
    kind: ResourceKind
    variants: tuple[tuple[str, Response], ...]
    quads: int = 0
    embedded: int = 0


def iri(text: str) -> ox.NamedNode:
    """Make an IRI from an absolute one or a prefixed name (``foaf:name``)."""
    prefix, _, local = text.partition(":")
    if prefix in PREFIXES:
        return ox.NamedNode(PREFIXES[prefix] + local)
    return ox.NamedNode(text)


Statement = tuple[str, str, str | int | ox.NamedNode | ox.Literal]


def triples(statements: Iterable[Statement]) -> list[ox.Triple]:
    """Make triples from (subject, predicate, object) rows.

    Subjects and predicates are IRIs, prefixed names or ``_:label``. Strings as objects are literals
    unless they begin with ``http://`` or ``_:``, or are prefixed names with a known prefix.
    """
    result: dict[ox.Triple, None] = {}
    for subject, predicate, value in statements:
        node = ox.BlankNode(subject[2:]) if subject.startswith("_:") else iri(subject)
        result[ox.Triple(node, iri(predicate), _object(value))] = None
    return list(result)


def _object(
    value: str | int | ox.NamedNode | ox.Literal,
) -> ox.NamedNode | ox.Literal | ox.BlankNode:
    if isinstance(value, ox.NamedNode | ox.Literal):
        return value
    if isinstance(value, int):
        return ox.Literal(value)
    if value.startswith("_:"):
        return ox.BlankNode(value[2:])
    prefix, colon, local = value.partition(":")
    if value.startswith(("http://", "mailto:")) or (
        colon and prefix in PREFIXES and " " not in local
    ):
        return iri(value)
    return ox.Literal(value)


def serialise(data: Sequence[ox.Triple], syntax: ox.RdfFormat, graph: str = "") -> bytes:
    """Write triples in a syntax, with this module's prefixes."""
    rows: list[ox.Triple] | list[ox.Quad] = list(data)
    if graph:
        name = ox.NamedNode(graph)
        rows = [ox.Quad(t.subject, t.predicate, t.object, name) for t in data]
    used = {
        prefix: base
        for prefix, base in PREFIXES.items()
        if any(base in str(term) for triple in data for term in triple)
    }
    return ox.serialize(rows, format=syntax, prefixes=used) or b""


class Host:
    """Collects the resources of one host, by absolute paths with queries."""

    def __init__(
        self,
        name: str,
        *,
        site: str,
        crawl_delay: float,
        disallow: Sequence[str] = (),
        sitemaps: Sequence[str] = (),
    ):
        """Begin a host; ``site`` is in every page's title, ``crawl_delay`` in seconds."""
        self.name = name
        self.site = site
        self._disallow = tuple(disallow)
        self._resources: dict[str, Resource] = {}
        #: address without its query → what answers queries there
        self.answerers: dict[str, Answerer] = {}
        rules = [f"Disallow: {path}" for path in disallow] or ["Disallow:"]
        named = [f"Sitemap: {sitemap}" for sitemap in sitemaps]
        text = "\n".join(["User-agent: *", *rules, f"Crawl-delay: {crawl_delay:g}", *named, ""])
        self.body("/robots.txt", ResourceKind.ROBOTS, text.encode(), "text/plain; charset=utf-8")

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the resources in order of addition."""
        return iter(self._resources.values())

    def url(self, path: str) -> str:
        """Return the absolute URL of a path."""
        return urljoin(f"http://{self.name}/", path)

    def put(
        self,
        path: str,
        kind: ResourceKind,
        *variants: tuple[str, Response],
        quads: int = 0,
        embedded: int = 0,
    ) -> str:
        """Add a resource and return its URL. A URL may be added only once."""
        url = self.url(path)
        if url in self._resources:
            raise ValueError(f"two resources at {url}")
        if any(path.startswith(prefix) for prefix in self._disallow):
            kind = ResourceKind.DISALLOWED
        self._resources[url] = Resource(url, kind, variants, quads, embedded)
        return url

    def body(
        self,
        path: str,
        kind: ResourceKind,
        body: bytes,
        content_type: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        quads: int = 0,
        embedded: int = 0,
    ) -> str:
        """Add a resource that answers 200 with these bytes."""
        response = Response(200, (("Content-Type", content_type), *headers), body)
        return self.put(path, kind, ("", response), quads=quads, embedded=embedded)

    def html(
        self,
        path: str,
        title: str,
        content: str,
        *,
        head: str = "",
        headers: Sequence[tuple[str, str]] = (),
        embedded: int = 0,
    ) -> str:
        """Add an HTML page."""
        body = page(self.site, title, content, head=head).encode()
        return self.body(
            path,
            ResourceKind.HTML,
            body,
            "text/html; charset=utf-8",
            headers=headers,
            embedded=embedded,
        )

    def rdf(
        self,
        path: str,
        statements: Iterable[Statement],
        syntax: ox.RdfFormat,
        *,
        content_type: str = "",
        compress: bool = False,
        graph: str = "",
    ) -> str:
        """Add an RDF document, with the syntax's content type by default.

        ``graph`` is the graph name (TriG and N-Quads only).
        """
        data = triples(statements)
        body = serialise(data, syntax, graph)
        if compress:
            body = gzip.compress(body, mtime=0)
        return self.body(
            path, ResourceKind.RDF, body, content_type or syntax.media_type, quads=len(data)
        )

    def redirect(self, path: str, target: str, status: int = 302) -> str:
        """Add a redirect to an absolute or relative URL."""
        response = Response(status, (("Location", target),))
        return self.put(path, ResourceKind.REDIRECT, ("", response))

    def negotiated_redirect(self, path: str, *targets: tuple[str, str]) -> str:
        """Add a 303 redirect that depends on Accept; targets are (media type, URL)."""
        variants = [
            (media_type, Response(303, (("Location", target), ("Vary", "Accept"))))
            for media_type, target in targets
        ]
        return self.put(path, ResourceKind.REDIRECT, *variants)

    def dead(self, path: str, status: int = 404) -> str:
        """Add a URL that answers with an error."""
        body = page(self.site, f"Error {status}", "<p>There is no such page.</p>").encode()
        response = Response(status, (("Content-Type", "text/html; charset=utf-8"),), body)
        return self.put(path, ResourceKind.DEAD, ("", response))
