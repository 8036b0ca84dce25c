"""From an HTML page to the quads embedded in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import pyoxigraph
from lxml import etree

from semcrawl.rdf.detecting.detection import Detection
from semcrawl.rdf.detecting.encoding import find_encoding, to_utf8
from semcrawl.rdf.embedded import microdata, rdfa
from semcrawl.rdf.embedded.dublincore import dublin_core
from semcrawl.rdf.embedded.gates import gates
from semcrawl.rdf.embedded.microformats import microformats
from semcrawl.rdf.embedded.triples import Triple
from semcrawl.rdf.errors import ErrorLog, LimitReached
from semcrawl.rdf.options import Embedded, ReadOptions
from semcrawl.rdf.output.sink import QuadSink
from semcrawl.rdf.reading import Reading, finish
from semcrawl.rdf.syntaxes.jsonld import parse_jsonld
from semcrawl.rdf.syntaxes.restarting import resume
from semcrawl.rdf.terms import iri_of, iri_term
from semcrawl.web.htmltree import is_empty, with_rest
from semcrawl.web.vocabulary import Kind

_SCRIPTS = etree.XPath("descendant-or-self::*[local-name() = 'script' and @type]")
_BASE = etree.XPath("descendant-or-self::*[local-name() = 'base']/@href")
_META_CHARSET = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XHTML = re.compile(rb"\A\s*(?:<\?xml|<!doctype\s+html\s+public\s+\"-//W3C//DTD XHTML)", re.I)


def read_embedded(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    *,
    contexts: Mapping[str, bytes] | None = None,
) -> Reading:
    """Read the data in the HTML page ``body`` that was fetched from the final URL ``url``.

    Graph name is ``url``; the base is that of the page. Each script, and each of the other kinds,
    is read by itself: what is wrong with one never costs the others. Never raises for what the body
    holds.
    """
    errors = ErrorLog(options)
    graph = iri_of(url)
    sink = QuadSink(graph, options)
    sink.report = errors.add
    detection = Detection(Kind.HTML, None, 1.0, "read as a page")
    needed: dict[str, None] = {}
    counts: dict[str, int] = {}
    try:
        text = _text(body, content_type)
        kinds = gates(text, options)
        root = _tree(text, content_type, errors) if kinds else None
        if root is not None:
            base = _base(root, graph)
            readers: dict[Embedded, Callable[[], None]] = {
                Embedded.JSON_LD: lambda: _scripts(
                    root, base, sink, errors, options, contexts, needed
                ),
                Embedded.RDFA: lambda: _triples(
                    rdfa.RdfaProcessor(
                        root, url, roles=options.rdfa_roles, limit=options.max_page_triples
                    ).triples(),
                    base, sink, errors,
                ),
                Embedded.MICRODATA: lambda: _triples(
                    microdata.MicrodataProcessor(
                        root, options.max_page_triples, options.microdata_expansions
                    ).triples(),
                    base, sink, errors,
                ),
                Embedded.MICROFORMATS: lambda: _triples(
                    microformats(text.decode("utf-8", "replace"), url), base, sink, errors
                ),
                Embedded.DUBLIN_CORE: lambda: _triples(
                    dublin_core(text.decode("utf-8", "replace")), base, sink, errors
                ),
            }  # fmt: skip
            for kind in Embedded:
                if kind in kinds:
                    before = sink.quads
                    try:
                        readers[kind]()
                    except (LimitReached, MemoryError):
                        raise
                    except Exception as error:
                        # a fault of ours, or of a library, must not cost the other kinds either
                        errors.add(f"{kind.value}: {type(error).__name__}: {error}")
                    sink.flush()
                    if sink.quads > before:
                        counts[kind.value] = sink.quads - before
    except (LimitReached, ValueError, MemoryError) as limit:
        errors.add_final(str(limit))
    reading = finish(detection, url, sink, errors, options)
    reading.embedded = True
    reading.contexts_needed = tuple(needed)
    reading.counts = counts
    return reading


def _text(body: bytes, content_type: str | None) -> bytes:
    """Return the page in UTF-8; a ``meta`` element counts where header and content say nothing."""
    encoding = find_encoding(body, content_type)
    if encoding.evidence == "not UTF-8" and (declared := _META_CHARSET.search(body[:4096])):
        name = declared[1].decode("ascii").lower()
        if name not in ("utf-8", "utf8"):
            content_type = f"text/html; charset={name}"
    return to_utf8(body, content_type)[0]


def _tree(text: bytes, content_type: str | None, errors: ErrorLog) -> etree._Element | None:
    """Parse a page: as XML when it calls itself that and is, else as HTML."""
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
    # without its limits, libxml2 leaves out what is nested 256 deep and texts of ten megabytes
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
    """Return the page's base: its ``base`` element resolved against its URL."""
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


def _scripts(
    root: etree._Element,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None,
    needed: dict[str, None],
) -> None:
    for script in _SCRIPTS(root):
        media = script.get("type", "").partition(";")[0].strip().lower()
        if not re.fullmatch(r"application/(?:[\w.+-]*\+)?ld\+json", media):
            continue
        text = (script.text or "").encode("utf-8", "replace")
        if not text.strip():
            continue
        try:
            missing = parse_jsonld(
                text, base, sink, errors, options, contexts, script.sourceline or 1
            )
        except LimitReached as limit:
            errors.check_time()
            errors.add(str(limit), script.sourceline or 0)
            continue
        needed.update(dict.fromkeys(missing))


def _triples(triples: Iterator[Triple], base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Resolve and check the triples by way of the Turtle parser; a bad one is an error."""
    sink.flush()
    sink.has_graphs = False
    places: dict[str, int] = {}
    try:
        for triple in triples:
            statement = f"{triple.subject} {triple.predicate} {triple.object} .\n"
            places.setdefault(statement, triple.line)
    except LimitReached as limit:
        errors.add(str(limit))
    if places:
        data = "".join(places).encode("utf-8", "replace")
        log = _PlacedErrors(errors, list(places.values()))
        resume(pyoxigraph.parse(data, pyoxigraph.RdfFormat.TURTLE, base_iri=base), sink, log)


class _PlacedErrors(ErrorLog):
    """Errors of generated lines, reported at the lines of the page they come from."""

    def __init__(self, errors: ErrorLog, places: list[int]) -> None:
        self._errors = errors
        self._places = places

    def add(self, message: str, line: int = 0, column: int = 0) -> None:
        place = self._places[line - 1] if 0 < line <= len(self._places) else 0
        self._errors.add(message, place)

    def check_time(self) -> None:
        self._errors.check_time()
