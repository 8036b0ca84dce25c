"""Reads the quads embedded in an HTML page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import pyoxigraph
from lxml import etree

from semcrawl.rdf.detection import Detection, to_utf8
from semcrawl.rdf.documentreader import DocumentReader, Reading
from semcrawl.rdf.embedded import microdata, rdfa
from semcrawl.rdf.embedded._extruct_kinds import dublin_core, microformats
from semcrawl.rdf.embedded.triples import Triple
from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.options import Embedded, ReadOptions
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.syntaxes.turtle import resume
from semcrawl.rdf.terms import iri_term
from semcrawl.web.htmltree import is_empty, with_rest
from semcrawl.web.vocabulary import Kind

_SCRIPTS = etree.XPath("descendant-or-self::*[local-name() = 'script' and @type]")
_BASE = etree.XPath("descendant-or-self::*[local-name() = 'base']/@href")
_META_CHARSET = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_AS_PAGE = Detection(Kind.HTML, None, 1.0, "read as a page")
_XHTML = re.compile(rb"\A\s*(?:<\?xml|<!doctype\s+html\s+public\s+\"-//W3C//DTD XHTML)", re.I)


def read_embedded(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    *,
    contexts: Mapping[str, bytes] | None = None,
) -> Reading:
    """Read the data embedded in the HTML page ``body`` with the final URL ``url``.

    ``url`` is the graph name; the base is the page's. Each script and each other kind of data is
    read separately, so an error in one does not affect the others. Never raises because of the
    content.
    """
    text = _text(body, content_type)
    kinds = possible_kinds(text, options)
    if not kinds:  # true of most pages
        return Reading(_AS_PAGE, embedded=True, _url=url, _options=options)
    document = DocumentReader(url, options, contexts)
    errors, sink = document.errors, document.sink
    counts: dict[str, int] = {}
    try:
        root = _tree(text, content_type, errors)
        if root is not None:
            base = _base(root, document.graph)
            readers: dict[Embedded, Callable[[], Iterable[Triple]]] = {
                Embedded.RDFA: lambda: rdfa.RdfaProcessor(
                    root, url, roles=options.rdfa_roles, limit=options.max_page_triples
                ).triples(),
                Embedded.MICRODATA: lambda: microdata.MicrodataProcessor(
                    root, options.max_page_triples, options.microdata_expansions
                ).triples(),
                Embedded.MICROFORMATS: lambda: microformats(text.decode("utf-8", "replace"), url),
                Embedded.DUBLIN_CORE: lambda: dublin_core(text.decode("utf-8", "replace")),
            }
            for kind in (kind for kind in Embedded if kind in kinds):
                before = sink.quads
                try:
                    if kind is Embedded.JSON_LD:
                        _scripts(root, base, document)
                    else:
                        _triples(readers[kind](), base, sink, errors)
                except (LimitReached, MemoryError):
                    raise
                except Exception as error:
                    # a bug of ours or of a library must not cost the other kinds
                    errors.add(f"{kind.value}: {type(error).__name__}: {error}")
                sink.flush()
                if sink.quads > before:
                    counts[kind.value] = sink.quads - before
    except (LimitReached, ValueError, MemoryError) as limit:
        errors.add_final(str(limit))
    reading = document.finish(_AS_PAGE)
    reading.embedded = True
    reading.counts = counts
    return reading


def _text(body: bytes, content_type: str | None) -> bytes:
    """Return the page in UTF-8. Without other evidence, a ``meta`` element names the encoding."""
    text, encoding = to_utf8(body, content_type)
    if encoding.evidence == "not UTF-8" and (declared := _META_CHARSET.search(body[:4096])):
        name = declared[1].decode("ascii").lower()
        if name not in ("utf-8", "utf8"):
            return to_utf8(body, f"text/html; charset={name}")[0]
    return text


def _tree(text: bytes, content_type: str | None, errors: ErrorLog) -> etree._Element | None:
    """Parse a page as XML if it is declared and well-formed XHTML, else as HTML."""
    text = text.replace(b"\0", b"")
    if "xhtml+xml" in (content_type or "").lower() or _XHTML.match(text):
        strict = etree.XMLParser(
            encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False,
            huge_tree=False,
        )  # fmt: skip
        try:
            root = etree.fromstring(text, strict)
        except etree.XMLSyntaxError:
            pass
        else:
            if root.tag == "{http://www.w3.org/1999/xhtml}html":
                return _without_namespace(root)
    # by default libxml2 drops what is nested 256 deep, and texts of ten megabytes
    lax = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        root = with_rest(etree.fromstring(text, lax))
    except (etree.XMLSyntaxError, ValueError) as error:
        if not is_empty(error):
            errors.add(f"the page cannot be parsed: {error}")
        return None
    last = lax.error_log.last_error
    if last is not None and last.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        errors.add("the page is not read to its end: its elements are nested too deep", last.line)
    return root


def _without_namespace(root: etree._Element) -> etree._Element:
    prefix = "{http://www.w3.org/1999/xhtml}"
    for element in root.iter(prefix + "*"):
        element.tag = element.tag[len(prefix) :]
    return root


def _base(root: etree._Element, url: str) -> str:
    """Return the page's base IRI: its ``base`` element resolved against its URL."""
    for href in _BASE(root):
        try:
            quad = next(
                pyoxigraph.parse(
                    f"{iri_term(str(href))} a <x:y> .",
                    pyoxigraph.RdfFormat.TURTLE,
                    base_iri=url,
                )
            )
        except (SyntaxError, ValueError):
            return url
        subject = quad.subject
        return subject.value if isinstance(subject, pyoxigraph.NamedNode) else url
    return url


def _scripts(root: etree._Element, base: str, document: DocumentReader) -> None:
    for script in _SCRIPTS(root):
        media = script.get("type", "").partition(";")[0].strip().lower()
        if not re.fullmatch(r"application/(?:[\w.+-]*\+)?ld\+json", media):
            continue
        text = (script.text or "").encode("utf-8", "replace")
        if not text.strip():
            continue
        try:
            document.parse_jsonld(text, base, script.sourceline or 1)
        except LimitReached as limit:
            document.errors.check_time()
            document.errors.add(str(limit), script.sourceline or 0)


def _triples(triples: Iterable[Triple], base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Let the Turtle parser resolve and check the triples; record the bad ones as errors."""
    sink.flush()
    sink.has_graphs = False
    lines: dict[str, int] = {}
    try:
        for triple in triples:
            statement = f"{triple.subject} {triple.predicate} {triple.object} .\n"
            lines.setdefault(statement, triple.line)
    except LimitReached as limit:
        errors.add(str(limit))
    if lines:
        data = "".join(lines).encode("utf-8", "replace")
        log = _PageErrors(errors, list(lines.values()))
        resume(pyoxigraph.parse(data, pyoxigraph.RdfFormat.TURTLE, base_iri=base), sink, log)


class _PageErrors(ErrorLog):
    """Reports errors in generated Turtle at the lines of the page."""

    def __init__(self, errors: ErrorLog, lines: list[int]) -> None:
        self._errors = errors
        self._lines = lines

    def add(self, message: str, line: int = 0, column: int = 0) -> None:
        place = self._lines[line - 1] if 0 < line <= len(self._lines) else 0
        self._errors.add(message, place)

    def check_time(self) -> None:
        self._errors.check_time()


#: characters that may follow an attribute's name
_AFTER = b" \t\n\r\f\v=>"
_JSON_LD = re.compile(rb"application/(?:[\w.+-]*\+)?ld\+json|ld(?:\+|&#43;|&#x2b;)json")
#: a page states nothing in RDFa without one of these or ``rel``
_RDFA_ATTRIBUTES = (b"property", b"typeof", b"vocab", b"rev")
_REL = re.compile(rb"rel\s*=\s*[\"']?[^\"'>]*(?::|\blicense\b|\bdescribedby\b)")
_MICROFORMAT = re.compile(rb"\b(?:h-(?:card|adr|geo|event)|vcard|vevent)\b")
_DUBLIN_CORE = re.compile(rb"[\"'=\s]dc(?:terms)?\.[a-z]|schema\.[a-z]+[\"'\s]")
_ROLE = re.compile(rb"\srole\s*=")


def possible_kinds(body: bytes, options: ReadOptions) -> set[Embedded]:
    """Return the kinds of data that a cheap search of the bytes does not rule out."""
    page = body.lower()
    found = set()
    for kind in options.embedded:
        if kind is Embedded.JSON_LD:
            possible = b"json" in page and _JSON_LD.search(page) is not None
        elif kind is Embedded.MICRODATA:
            possible = _has_attribute(page, b"itemscope", _AFTER + b"/")
        elif kind is Embedded.MICROFORMATS:
            possible = _MICROFORMAT.search(page) is not None
        elif kind is Embedded.DUBLIN_CORE:
            possible = _DUBLIN_CORE.search(page) is not None
        else:
            possible = _has_rdfa(page, roles=options.rdfa_roles)
        if possible:
            found.add(kind)
    return found


def _has_rdfa(page: bytes, *, roles: bool) -> bool:
    if any(_has_attribute(page, name) for name in _RDFA_ATTRIBUTES) or b"xhtml+rdfa" in page:
        return True
    if roles and b"role" in page and _ROLE.search(page):
        return True
    at = page.find(b"rel")
    while at >= 0:
        if page[at - 1 : at].isspace() and _REL.match(page, at):
            return True
        at = page.find(b"rel", at + 3)
    return False


def _has_attribute(page: bytes, name: bytes, after: bytes = _AFTER) -> bool:
    """Whether ``name`` appears after white space and before one of the bytes ``after``."""
    at = page.find(name)
    while at >= 0:
        end = at + len(name)
        if page[at - 1 : at].isspace() and end < len(page) and page[end] in after:
            return True
        at = page.find(name, end)
    return False
