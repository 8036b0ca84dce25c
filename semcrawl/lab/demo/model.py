"""What made hosts are made of: pages, answers and words."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import struct
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from http import HTTPStatus
from random import Random
from typing import Self
from urllib.parse import urljoin, urlsplit

import pyoxigraph as ox


@dataclass(frozen=True, slots=True)
class Request:
    """One request: method, host name (lower-case), path with query, headers (lower-case names)."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, method: str, target: str, headers: Mapping[str, str]) -> Self:
        """Take a target as to a server or as to a proxy; raises ``ValueError`` for nonsense."""
        url = urlsplit(target)
        host = url.hostname or urlsplit("//" + headers.get("host", "")).hostname or ""
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        return cls(method, host.lower(), path, headers)


class Stream:
    """Writes one answer and counts it for the log."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.status = 0  #: of the answer; 0 until its head is written
        self.sent = 0  #: bytes of the body sent
        self.closing = False  #: whether the connection must end with this answer

    async def head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Write the status line and the headers unchanged."""
        self.status = status
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in headers)]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        await self._writer.drain()

    async def body(self, data: bytes) -> None:
        """Write a piece of the body and wait until the buffer has room again."""
        self._writer.write(data)
        await self._writer.drain()
        self.sent += len(data)

    async def whole(
        self,
        status: int,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        *,
        omit_body: bool = False,
    ) -> None:
        """Write a whole answer with its Content-Length; without the body for HEAD."""
        await self.head(status, [("Content-Length", str(len(body))), *headers])
        if not omit_body:
            await self.body(body)

    def reset(self) -> None:
        """Cut the connection with a TCP reset."""
        self.closing = True
        connection = self._writer.get_extra_info("socket")
        # closing with a linger time of 0 sends RST instead of FIN
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


#: Answers a request.
Handler = Callable[[Request, Stream], Awaitable[None]]

_NAVIGATION = (
    ("http://www.demo.example/", "Home"),
    ("http://members.demo.example/", "Members"),
    ("http://data.demo.example/", "Data"),
    ("http://vocab.demo.example/", "Vocabulary"),
    ("http://blog.demo.example/", "Blog"),
)


def page(site: str, title: str, content: str, *, head: str = "") -> str:
    """Return an HTML page with the web's navigation around ``content`` (HTML)."""
    navigation = " ".join(link(url, text) for url, text in _NAVIGATION)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)} – {escape(site)}</title>\n"
        '<link rel="stylesheet" href="http://www.demo.example/style.css">\n'
        f"{head}</head>\n<body>\n<header><nav>{navigation}</nav></header>\n"
        f"<main>\n<h1>{escape(title)}</h1>\n{content}\n</main>\n"
        "<footer><p>Saltmarsh Field Society, a demonstration. Nobody here exists.</p></footer>\n"
        "</body>\n</html>\n"
    )


def link(url: str, text: str, **attributes: str) -> str:
    """Return an ``a`` element; ``text`` and values are escaped."""
    more = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f'<a href="{escape(url)}"{more}>{escape(text)}</a>'


def alternate(url: str, content_type: str, title: str = "") -> str:
    """Return a ``link rel=alternate`` element for the head."""
    named = f' title="{escape(title)}"' if title else ""
    return f'<link rel="alternate" type="{content_type}" href="{escape(url)}"{named}>\n'


def listing(items: Iterable[str]) -> str:
    """Return an unordered list of pieces of HTML."""
    return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>"


def paragraphs(texts: Iterable[str]) -> str:
    """Return paragraphs of plain text."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


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


GIVEN_NAMES = (
    "Ada", "Bram", "Cleo", "Dunja", "Elif", "Farid", "Greta", "Hanno", "Ines", "Jonas", "Kaya",
    "Lorcan", "Mirja", "Nadia", "Otis", "Pilar", "Quinn", "Rosa", "Samir", "Tilda", "Ugo",
    "Vera", "Wanda", "Xenia", "Yusuf", "Zoë", "Anselm", "Birgit", "Casper", "Dorte",
)  # fmt: skip
FAMILY_NAMES = (
    "Albright", "Brandt", "Castellan", "Dunmore", "Eklund", "Farrow", "Gantz", "Holloway",
    "Iversen", "Jarvis", "Kestrel", "Lindqvist", "Marsh", "Novak", "Osei", "Pryce", "Quist",
    "Rowan", "Saltern", "Thorne", "Underhill", "Varga", "Whitby", "Yilmaz",
)  # fmt: skip
PLACES = (
    "Heron Creek", "Long Sluice", "Gannet Point", "the old saltworks", "Cuckold's Spit",
    "Mill Dyke", "Samphire Flat", "the east breakwater", "Lowtide Bridge", "Curlew Bank",
    "the reed beds", "Whin Hill",
)  # fmt: skip
SUBJECTS = (
    "tide heights", "wading birds", "salt meadow plants", "water temperature", "ship arrivals",
    "eel counts", "storm surges", "dune erosion", "bat passages", "shellfish beds",
    "sea ice days", "harbour noise", "moth traps", "rainfall", "seal haul-outs",
    "visitor counts", "plankton samples", "mud cores",
)  # fmt: skip
_OPENERS = (
    "We set out before sunrise towards {place}",
    "After three weeks of fog, {place} was clear again",
    "The count at {place} took longer than planned",
    "Nobody expected much of {place} this season",
    "A new gauge now stands at {place}",
    "The volunteers met at {place} as they do every month",
)
_MIDDLES = (
    "and the figures for {subject} were the highest since {year}",
    "where {person} noted {number} records of {subject}",
    "and the notebook on {subject} filled up within {number} minutes",
    "although the series on {subject} had a gap in {year}",
    "so that {person} could compare {subject} with those of {year}",
    "while the instruments for {subject} were being cleaned",
)
_CLOSERS = (
    "We shall go back in spring.",
    "The raw numbers are in the catalogue.",
    "If you can read {person}'s handwriting, please come and help.",
    "Corrections are welcome, as always.",
    "It rained, of course.",
    "The next walk starts at {place}.",
    "Thanks to everybody who carried the boards.",
)


def slug(text: str) -> str:
    """Return ``text`` as one lower-case path segment of ASCII letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


class Prose:
    """A source of varied text; the same ``random`` state gives the same text."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def people(self, count: int) -> list[str]:
        """Return ``count`` different full names (at most 720)."""
        names = [f"{given} {family}" for given in GIVEN_NAMES for family in FAMILY_NAMES]
        return self._random.sample(names, count)

    def person(self) -> str:
        """Return one full name."""
        return f"{self._random.choice(GIVEN_NAMES)} {self._random.choice(FAMILY_NAMES)}"

    def place(self) -> str:
        """Return the name of a place."""
        return self._random.choice(PLACES)

    def number(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return self._random.randint(low, high)

    def sentence(self) -> str:
        """Return one sentence."""
        opener, middle = self._random.choice(_OPENERS), self._random.choice(_MIDDLES)
        return self._fill(f"{opener}, {middle}.")

    def paragraph(self, sentences: int = 3) -> str:
        """Return a paragraph of ``sentences`` sentences and a closing one."""
        body = [self.sentence() for _ in range(sentences)]
        return " ".join([*body, self._fill(self._random.choice(_CLOSERS))])

    def title(self) -> str:
        """Return a headline."""
        return self._fill(
            self._random.choice(
                (
                    "{number} notes on {subject}",
                    "What {subject} tell us about {place}",
                    "A morning at {place}",
                    "Counting {subject} with {person}",
                    "Looking back at {year}: {subject}",
                    "Who looks after {place}?",
                )
            )
        )

    def _fill(self, template: str) -> str:
        choice = self._random.choice
        return template.format(
            place=choice(PLACES),
            subject=choice(SUBJECTS),
            person=choice(GIVEN_NAMES),
            year=self._random.randint(1978, 2024),
            number=self._random.randint(3, 90),
        )
