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
from semcrawl.web.wordsearch import WordSearch

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
    document.budget.packed = len(text)
    errors, sink = document.errors, document.sink
    counts: dict[str, int] = {}
    try:
        root = _tree(text, content_type, errors)
        if root is not None:
            base = _base(root, document.graph)
            readers: dict[Embedded, Callable[[], Iterable[Triple]]] = {
                Embedded.RDFA: lambda: rdfa.RdfaProcessor(
                    root,
                    url,
                    roles=options.rdfa_roles,
                    limit=options.max_page_triples,
                    size=options.max_page_triples_size,
                ).triples(),
                Embedded.MICRODATA: lambda: microdata.MicrodataProcessor(
                    root,
                    options.max_page_triples,
                    options.microdata_expansions,
                    options.max_page_triples_size,
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
    lines: dict[bytes, int] = {}
    try:
        for triple in triples:
            statement = f"{triple.subject} {triple.predicate} {triple.object} .\n"
            lines.setdefault(statement.encode("utf-8", "replace"), triple.line)
    except LimitReached as limit:
        errors.add(str(limit))
    if lines:
        data = b"".join(lines)
        log = _PageErrors(errors, list(lines.values()))
        lines.clear()  # they may take as much memory as the data
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


def _attribute(name: str, after: str = r"[\s=>]") -> re.Pattern[bytes]:
    """Match an attribute's name: after white space, before what may follow it."""
    return re.compile(rf"(?<=\s){name}{after}".encode())


_REL = r"\s*=\s*[\"']?[^\"'>]*(?::|\blicense\b|\bdescribedby\b)"
_MICROFORMAT = re.compile(rb"\b(?:h-(?:card|adr|geo|event)|vcard|vevent)\b")
_DUBLIN_CORE = re.compile(rb"(?<=[\"'=\s])dc(?:terms)?\.[a-z]|schema\.[a-z]+[\"'\s]")
#: words of pages, the kind of data that each may belong to, and what has to match where it begins
_SIGNS = {
    b"json": (Embedded.JSON_LD, re.compile(rb"(?:(?<=ld\+)|(?<=ld&#43;)|(?<=ld&#x2b;))json")),
    b"itemscope": (Embedded.MICRODATA, _attribute("itemscope", r"[\s=>/]")),
    # a page states nothing in RDFa without one of these
    b"property": (Embedded.RDFA, _attribute("property")),
    b"typeof": (Embedded.RDFA, _attribute("typeof")),
    b"vocab": (Embedded.RDFA, _attribute("vocab")),
    b"rev": (Embedded.RDFA, _attribute("rev")),
    b"rel": (Embedded.RDFA, _attribute("rel", _REL)),
    b"role": (Embedded.RDFA, _attribute("role", r"\s*=")),
    b"xhtml+rdfa": (Embedded.RDFA, re.compile(rb"xhtml")),
    **dict.fromkeys(
        (b"h-card", b"h-adr", b"h-geo", b"h-event", b"vcard", b"vevent"),
        (Embedded.MICROFORMATS, _MICROFORMAT),
    ),
    **dict.fromkeys((b"dc.", b"dcterms.", b"schema."), (Embedded.DUBLIN_CORE, _DUBLIN_CORE)),
}
_WORDS = WordSearch(*_SIGNS)


def possible_kinds(body: bytes, options: ReadOptions) -> set[Embedded]:
    """Return the kinds of data that a cheap search of the bytes does not rule out."""
    page = body.lower()
    found: set[Embedded] = set()
    for word, at in _WORDS.matches(page):
        kind, sign = _SIGNS[word]
        if kind in found or kind not in options.embedded:
            continue
        if sign.match(page, at) and (word != b"role" or options.rdfa_roles):
            found.add(kind)
            if len(found) == len(options.embedded):
                break
    return found
