"""Worlds: sites of known answers, from folders and descriptions.

A closed piece of the web for testing strategies, with the same answer to a URL every time.
A :class:`World` is made by the folder reader, the thesis's generator or a recorded crawl. The
offline simulator asks it directly, the live runner serves it over loopback HTTP.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from random import Random
from typing import Protocol, runtime_checkable
from urllib.parse import unquote, urlsplit

from semcrawl.errors import UsageError
from semcrawl.web.hosts import host_of
from semcrawl.web.urls import normalise, path_of
from semcrawl.web.vocabulary import Kind

REDIRECTS: frozenset[int] = frozenset({300, 301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a world to a URL, without its body (see :meth:`World.body`)."""

    status: int
    #: the ``Content-Type`` header as sent, parameters included; empty = none sent
    content_type: str = ""
    #: real type of the body; ``None`` when there is no usable one (redirects, errors)
    kind: Kind | None = None
    #: absolute target of a redirect
    location: str = ""
    #: identity of the document: two URLs that serve the same document share it
    document: str = ""
    #: further response headers that matter: ``Link``, ``Vary``, ``Refresh``
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def is_success(self) -> bool:
        """Whether its status says that it gives what was asked for."""
        return 200 <= self.status < 300

    def header_values(self, name: bytes) -> list[bytes]:
        """Return all values of a header, as they are sent."""
        wanted = name.decode("ascii").lower()
        if wanted == "content-type":
            return [self.content_type.encode("utf-8", "replace")] if self.content_type else []
        return [
            value.encode("utf-8", "replace")
            for header, value in self.headers
            if header.lower() == wanted
        ]

    @property
    def redirect(self) -> bool:
        """Whether it is a redirect with a location."""
        return self.status in REDIRECTS and bool(self.location)


@runtime_checkable
class World(Protocol):
    """A closed piece of the web. Every method is a pure function of its argument."""

    #: a short name for tables and files
    name: str

    @property
    def hosts(self) -> Set[str]:
        """The crawl's scope: its host names, with any port that is not the default."""
        ...

    @property
    def starts(self) -> tuple[str, ...]:
        """Seed URLs, normalised."""
        ...

    def fetch(self, url: str) -> Answer:
        """Answer a URL; unknown URLs have status 404."""
        ...

    def body(self, url: str) -> bytes:
        """Return the bytes that the URL serves; ``b""`` for redirects and unknown URLs."""
        ...

    def robots(self, host: str) -> str:
        """Return the text of the host's robots.txt; empty = it has none."""
        ...


@runtime_checkable
class Labelled(Protocol):
    """A generated world that knows what its pages are about; optional.

    Crawls are measured by this truth, but not steered by it.
    """

    @property
    def about(self) -> str:
        """The topic as a value of ``SEMCRAWL_ABOUT``."""
        ...

    @property
    def topic(self) -> str:
        """The topic in words."""
        ...

    @property
    def requests(self) -> int:
        """The default number of requests of a crawl."""
        ...

    def topical(self, url: str) -> bool:
        """Whether the page is about the topic."""
        ...


@runtime_checkable
class Negotiating(Protocol):
    """A world with addresses that have another answer for requests that prefer RDF."""

    def form_of(self, url: str, *, rdf_first: bool) -> str:
        """Return the name of the answer, with ``#as-rdf`` if it is the RDF form."""
        ...


@runtime_checkable
class Aimed(Protocol):
    """A generated world for crawls with targets other than pages; optional."""

    #: a value of ``SEMCRAWL_TARGETS``
    targets: str


def status_class(status: int) -> str:
    """Return ``success``, ``redirect``, ``refused`` (401, 403) or ``error``."""
    if status == 200:
        return "success"
    if 300 <= status < 400:
        return "redirect"
    return "refused" if status in (401, 403) else "error"


#: Content types by extension, as a plain web server sends them.
RDF_TYPES: Mapping[str, str] = {
    ".rdf": "application/rdf+xml",
    ".owl": "application/rdf+xml",
    ".rdfs": "application/rdf+xml",
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".n3": "text/n3",
    ".jsonld": "application/ld+json",
    ".trig": "application/trig",
    ".nq": "application/n-quads",
}
OTHER_TYPES: Mapping[str, str] = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".xml": "application/xml",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".zip": "application/zip",
    ".gz": "application/gzip",
    ".ico": "image/x-icon",
    ".md": "text/markdown",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".webp": "image/webp",
    ".mp4": "video/mp4",
}
HTML_FILES: frozenset[str] = frozenset({".html", ".htm", ".xhtml", ".shtml", ".php"})
INDEX_FILES = ("index.html", "index.htm", "index.xhtml", "default.htm", "Overview.html")
HTML_TYPE = "text/html; charset=utf-8"

_HEAD = 6000  # bytes by which a file's type is detected


@dataclass(frozen=True)
class FolderSite:
    """How a folder is served. URLs with paths outside the folder answer 404."""

    host: str
    root: Path
    #: path prefix of the folder on its host
    base: str = "/"
    #: start page below ``base``
    start: str = ""
    #: pairs of a ``host/path`` prefix and the folder inside ``root`` that it serves
    aliases: tuple[tuple[str, str], ...] = ()
    #: content types by extension, with its dot, that replace the usual ones
    types: Mapping[str, str] = field(default_factory=dict)
    robots: str = ""


class FolderWorld:
    """A folder of files as a world. Files are read on each request; contents are not cached.

    A directory answers with its index file, after a redirect to the address with a slash. A name
    without a file answers with the ``.html`` file of that name. Query strings are ignored.
    ``https`` links to its own hosts are served as ``http``.
    """

    def __init__(self, site: FolderSite, name: str = "") -> None:
        if not site.root.is_dir():
            raise UsageError(f"no such folder: {site.root}")
        self.site = site
        self.name = name or site.host
        self._root = os.path.realpath(site.root)
        base = site.base.strip("/")
        self._base = f"/{base}/" if base else "/"
        self._aliases = sorted(site.aliases, key=lambda alias: -len(alias[0]))
        self._own = {site.host.lower(), f"www.{site.host.lower()}"}
        self._hosts = frozenset(
            self._own | {prefix.split("/")[0].lower() for prefix, _ in self._aliases}
        )
        names = b"|".join(re.escape(host.encode()) for host in sorted(self._hosts))
        self._https = re.compile(rb"https://(" + names + rb")(?=[/\"'<\s#?)])", re.IGNORECASE)
        self._kinds: dict[str, tuple[Kind, str]] = {}

    @property
    def hosts(self) -> frozenset[str]:
        """The host, its ``www.`` twin and the aliases' hosts."""
        return self._hosts

    @property
    def starts(self) -> tuple[str, ...]:
        """The start page."""
        url = normalise(f"http://{self.site.host}{self._base}{self.site.start}")
        return (url,) if url is not None else ()

    def robots(self, host: str) -> str:
        """Return the one robots.txt of all its hosts."""
        return self.site.robots

    def fetch(self, url: str) -> Answer:
        """Answer as a plain file server does."""
        host, path = host_of(url), path_of(url)
        relative = self._relative(host, path)
        if relative is None:
            return Answer(404, "text/html")
        file, slash = self._resolve(relative)
        if slash:
            return Answer(301, location=f"http://{host}{path}/")
        if file is None:
            return Answer(404, "text/html")
        kind, content_type = self._kind(file)
        return Answer(200, content_type, kind, document=os.path.relpath(file, self._root))

    def body(self, url: str) -> bytes:
        """Return the URL's file; ``https`` links to own hosts become ``http`` in pages."""
        relative = self._relative(host_of(url), path_of(url))
        file, slash = (None, False) if relative is None else self._resolve(relative)
        if file is None or slash:
            return b""
        data = Path(file).read_bytes()
        if self._kind(file)[0] is Kind.HTML:
            data = self._https.sub(rb"http://\1", data)
        return data

    def _relative(self, host: str, path: str) -> str | None:
        """Return the path inside the folder; ``None`` for other addresses."""
        address = host + path
        for prefix, folder in self._aliases:
            if address.startswith(prefix) or f"{address}/" == prefix:
                return folder + unquote(address[len(prefix) :].lstrip("/"))
        if host in self._own:
            if path.startswith(self._base):
                return unquote(path[len(self._base) :])
            if f"{path}/" == self._base:
                return ""
        return None

    def _resolve(self, relative: str) -> tuple[str | None, bool]:
        """Return the file, and whether the address needs a slash first."""
        relative = re.sub("/+", "/", relative).lstrip("/")
        if "\0" in relative:
            return None, False
        path = os.path.normpath(os.path.join(self._root, relative))
        inside = path == self._root or path.startswith(self._root + os.sep)
        if not inside or f"{os.sep}.git{os.sep}" in path + os.sep:
            return None, False
        if os.path.isfile(path):
            return path, False
        if os.path.isdir(path):
            for index in INDEX_FILES:
                file = os.path.join(path, index)
                if os.path.isfile(file):
                    return file, bool(relative) and not relative.endswith("/")
        elif os.path.isfile(f"{path}.html") and not relative.endswith("/"):
            return f"{path}.html", False
        return None, False

    def _kind(self, file: str) -> tuple[Kind, str]:
        """Return a file's kind and the content type it is served with."""
        known = self._kinds.get(file)
        if known is None:
            extension = os.path.splitext(file)[1].lower()
            with open(file, "rb") as stream:
                kind, content_type = tell_kind(extension, stream.read(_HEAD))
            known = kind, self.site.types.get(extension, content_type)
            self._kinds[file] = known
        return known


def tell_kind(extension: str, head: bytes) -> tuple[Kind, str]:
    """Return a file's kind and usual content type, by its extension and first bytes.

    >>> tell_kind(".ttl", b"@prefix x: <urn:x> .")
    (<Kind.RDF: 'rdf'>, 'text/turtle')
    """
    head = head.lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    page = head.startswith((b"<!doctype html", b"<html"))
    page = page or (head.startswith(b"<?xml") and b"<html" in head)
    if page or extension in HTML_FILES:
        return Kind.HTML, HTML_TYPE
    xml = b"<rdf:rdf" in head
    turtle = head.startswith(b"@prefix")
    if extension in (".owl", ".rdf"):
        rdf = xml or turtle or b"rdf-syntax-ns" in head or b"@prefix" in head
        return (Kind.RDF if rdf else Kind.OTHER), RDF_TYPES[".ttl" if turtle else extension]
    if extension in RDF_TYPES:
        return Kind.RDF, RDF_TYPES[extension]
    if extension == ".json" and b'"@context"' in head:
        return Kind.RDF, OTHER_TYPES[extension]
    if extension == ".xml" and xml:
        return Kind.RDF, OTHER_TYPES[extension]
    if extension not in OTHER_TYPES and (xml or turtle):
        return Kind.RDF, RDF_TYPES[".rdf" if xml else ".ttl"]
    return Kind.OTHER, OTHER_TYPES.get(extension, "application/octet-stream")


RDF_XML = "application/rdf+xml"

_RDF_BODY = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<rdf:Description rdf:about="{url}"><dc:title>{title}</dc:title>{links}</rdf:Description>
</rdf:RDF>
"""
_XML_BODY = (
    '<?xml version="1.0" encoding="utf-8"?>\n<record id="{url}"><name>{title}</name></record>\n'
)


@dataclass(slots=True)
class Document:
    """One URL of a built site."""

    path: str
    status: int = 200
    content_type: str = ""
    kind: Kind | None = None
    title: str = ""
    #: target of a redirect
    location: str = ""
    #: markup of the links in the head and of the items in the body; of an RDF document, the
    #: statements about other documents
    head: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)


class SiteBuilder:
    """Builds a site. Paths start with ``/``; each names one document."""

    def __init__(self, host: str, seed: int = 0) -> None:
        self.host = host
        self.random = Random(f"{host} {seed}")
        self.documents: dict[str, Document] = {}

    def page(self, path: str, title: str = "") -> Document:
        """Add an HTML page."""
        return self._add(Document(path, 200, HTML_TYPE, Kind.HTML, title or _title(path)))

    def rdf(self, path: str, content_type: str = RDF_XML) -> Document:
        """Add an RDF/XML document."""
        return self._add(Document(path, 200, content_type, Kind.RDF, _title(path)))

    def other(self, path: str, content_type: str) -> Document:
        """Add a document that is neither HTML nor RDF."""
        return self._add(Document(path, 200, content_type, Kind.OTHER, _title(path)))

    def moved(self, path: str, location: str) -> Document:
        """Add a redirect (303) to a path of this site or to a URL elsewhere."""
        if location.startswith("/"):
            location = f"http://{self.host}{location}"
        return self._add(Document(path, 303, location=location))

    def error(self, path: str, status: int = 404) -> Document:
        """Add a URL that answers with an error."""
        return self._add(Document(path, status, HTML_TYPE))

    def without_document(self, path: str, how: str, status: int = 404) -> Document:
        """Add a ``redirect`` to another host, or a ``refused`` or ``error`` URL of the census.

        ``status`` is the status of an ``error``.
        """
        if how == "redirect":
            return self.moved(path, f"http://elsewhere.example{path}")
        return self.error(path, 403 if how == "refused" else status)

    def item(
        self,
        parent: Document,
        path: str,
        mark: str,
        pages: list[Document] | None = None,
        status: int = 404,
    ) -> None:
        """Link a page (``success``), or what :meth:`without_document` adds.

        The page is appended to ``pages``. The link's text is the last segment of its path.
        """
        if mark != "success":
            target = self.without_document(path, mark, status)
        else:
            target = self.page(path)
            if pages is not None:
                pages.append(target)
        self.link(parent, target, path.rpartition("/")[2])

    def missing(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Return how many URLs of each status class are missing."""
        have = Counter(status_class(d.status) for d in self.documents.values())
        return {status: count - have[status] for status, count in wanted.items()}

    def shuffled(self, counts: Mapping[str, int]) -> list[str]:
        """Return the names in random order, each as often as its count."""
        names = [name for name, count in counts.items() for _ in range(count)]
        self.random.shuffle(names)
        return names

    def _add(self, document: Document) -> Document:
        if document.path in self.documents:
            raise ValueError(f"{document.path} was added before")
        self.documents[document.path] = document
        return document

    def link(
        self,
        page: Document,
        to: Document | str,
        anchor: str = "",
        *,
        before: str = "",
        after: str = "",
        title: str = "",
        media_type: str = "",
    ) -> None:
        """Add a list item with an ``a`` element to the page."""
        path = to if isinstance(to, str) else to.path
        text = anchor or (to.title if isinstance(to, Document) and to.title else _title(path))
        page.items.append(
            f"<li>{escape(before)}<a href={_quoted(path)}{_attributes(title, media_type)}>"
            f"{escape(text)}</a>{escape(after)}</li>"
        )

    def alternate(
        self, page: Document, to: Document, media_type: str = RDF_XML, title: str = ""
    ) -> None:
        """Add a ``link rel="alternate"`` element to the page's head."""
        attributes = _attributes(title, media_type)
        page.head.append(f'<link rel="alternate" href={_quoted(to.path)}{attributes}>')

    def see_also(self, document: Document, to: Document) -> None:
        """Add a link from an RDF document."""
        url = _quoted(f"http://{self.host}{to.path}")
        document.items.append(f"<rdfs:seeAlso rdf:resource={url}/>")

    def build(self, name: str, start: str = "/") -> BuiltWorld:
        """Return the world; do not use the builder afterwards."""
        return BuiltWorld(name, self.host, self.documents, start)


class BuiltWorld:
    """A world built by a :class:`SiteBuilder`."""

    def __init__(
        self, name: str, host: str, documents: dict[str, Document], start: str = "/"
    ) -> None:
        self.name = name
        self.documents = documents
        self._host = host
        self._start = start

    @property
    def hosts(self) -> frozenset[str]:
        """Its only host."""
        return frozenset({self._host})

    @property
    def starts(self) -> tuple[str, ...]:
        """The home page."""
        return (f"http://{self._host}{self._start}",)

    def robots(self, host: str) -> str:
        """Return an empty robots.txt: refused URLs answer 403."""
        return ""

    def fetch(self, url: str) -> Answer:
        """Answer a path of the site."""
        document = self._find(url)
        if document is None:
            return Answer(404, HTML_TYPE)
        return Answer(
            document.status,
            document.content_type,
            document.kind,
            document.location,
            document=document.path if document.kind is not None else "",
        )

    def body(self, url: str) -> bytes:
        """Render the document; RDF and XML documents state their own address and title."""
        document = self._find(url)
        if document is None or document.kind is None:
            return b""
        if document.kind is Kind.HTML:
            return _render(document).encode()
        template = _RDF_BODY if document.kind is Kind.RDF else _XML_BODY
        links = "\n".join(document.items)
        return template.format(url=escape(url), title=escape(document.title), links=links).encode()

    def _find(self, url: str) -> Document | None:
        parts = urlsplit(url)
        if parts.hostname != self._host:
            return None
        path = parts.path or "/"
        return self.documents.get(f"{path}?{parts.query}" if parts.query else path)


def _render(page: Document) -> str:
    title = escape(page.title)
    return (
        f"<!DOCTYPE html>\n<html><head><title>{title}</title>\n"
        + "\n".join(page.head)
        + f"\n</head><body>\n<h1>{title}</h1>\n<ul>\n"
        + "\n".join(page.items)
        + f"\n</ul>\n<p>{escape(page.path)}</p>\n</body></html>\n"
    )


def _attributes(title: str, media_type: str) -> str:
    found = f" title={_quoted(title)}" if title else ""
    return found + (f" type={_quoted(media_type)}" if media_type else "")


def _quoted(text: str) -> str:
    return f'"{escape(text)}"'


def _title(path: str) -> str:
    """Return a readable title from a path's last segment."""
    last = path.rstrip("/").rpartition("/")[2]
    return last.partition(".")[0].replace("-", " ").capitalize() or "Home"
