"""Worlds built by a program, link by link; pages are rendered to HTML on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from random import Random
from urllib.parse import urlsplit

from semcrawl.evaluation.world import Answer, status_class
from semcrawl.web.vocabulary import Kind

RDF_XML = "application/rdf+xml"
HTML_TYPE = "text/html; charset=utf-8"

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
