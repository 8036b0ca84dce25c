"""Reads the quads embedded in an HTML page.

Maps the microformats and the Dublin Core that extruct finds to triples.
Microformats (h-card, h-event and their older forms) become vCard in RDF and the iCalendar ontology
of the W3C's RDF calendar group, as Apache Any23 maps them. Other microformats have no agreed
vocabulary and are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyoxigraph
from lxml import etree

from semcrawl.rdf.detection import Detection, format_of_type
from semcrawl.rdf.documentreader import DocumentReader, Reading
from semcrawl.rdf.embedded import microdata, rdfa
from semcrawl.rdf.embedded.rdfa import xml_content
from semcrawl.rdf.embedded.triples import PageTree, Triple, address, literal, parse_page, statements
from semcrawl.rdf.limits import ErrorLog, LimitReached, PlacedErrors
from semcrawl.rdf.options import Embedded, ReadOptions
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.syntaxes import islands, turtle
from semcrawl.rdf.terms import RDF, date_datatype, iri_of, iri_term, literal_term
from semcrawl.web.charsets import Form, to_utf8
from semcrawl.web.vocabulary import Kind, RdfFormat, WordSearch

_TYPE = f"<{RDF}type>"
_VCARD = "http://www.w3.org/2006/vcard/ns#"
_ICAL = "http://www.w3.org/2002/12/cal/icaltzd#"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+\Z")
#: microformat → class, namespace of class and properties
_CLASSES = {
    "h-card": ("VCard", _VCARD),
    "h-adr": ("Address", _VCARD),
    "h-geo": ("Location", _VCARD),
    "h-event": ("Vevent", _ICAL),
}
#: properties that have another name in the vocabulary
_PROPERTIES = {
    _VCARD: {"name": "fn", "honorific-prefix": "honorific-prefix", "job-title": "title"},
    _ICAL: {"name": "summary", "start": "dtstart", "end": "dtend", "category": "categories"},
}
_KNOWN = {
    _VCARD: frozenset(
        "name honorific-prefix given-name additional-name family-name honorific-suffix nickname"
        " email logo photo url uid category adr post-office-box extended-address street-address"
        " locality region postal-code country-name label geo latitude longitude tel note bday key"
        " org job-title title role sound rev tz".split()
    ),
    _ICAL: frozenset(
        "name summary start end duration description url category location geo uid"
        " attendee organizer status".split()
    ),
}
#: properties whose values may be IRIs
_ADDRESSES = frozenset({"email", "logo", "photo", "url", "uid", "key", "sound", "tel"})
#: deepest nesting of items that is read
_MAX_DEPTH = 20


def microformats(page: str, url: str) -> Iterator[Triple]:
    """Yield the statements of the cards, addresses and events of the page at ``url``.

    Each item is a blank node. Raises ``ImportError`` without extruct.
    """
    from extruct.microformat import MicroformatExtractor

    reader = _Reader()
    for item in MicroformatExtractor().extract(page, base_url=url):
        yield from reader.read(item)


class _Reader:
    """Reads the items of one page and numbers their blank nodes."""

    def __init__(self) -> None:
        self._items = 0

    def read(self, item: Mapping[str, Any], depth: int = 0) -> Iterator[Triple]:
        """Yield the statements of an item and of the items inside it."""
        known = next((_CLASSES[kind] for kind in item.get("type", ()) if kind in _CLASSES), None)
        if known is None:
            children = [item for values in item.get("properties", {}).values() for item in values]
            for child in (*children, *item.get("children", ())):
                if isinstance(child, dict) and "type" in child and depth < _MAX_DEPTH:
                    yield from self.read(child, depth + 1)
            return
        name, namespace = known
        self._items += 1
        subject = f"_:f{self._items}"
        yield Triple(subject, _TYPE, iri_term(namespace + name), 0)
        for key, values in item.get("properties", {}).items():
            implied = key == "name" and name in ("Address", "Location")
            if implied or key not in _KNOWN[namespace]:
                continue
            predicate = iri_term(namespace + _PROPERTIES[namespace].get(key, key))
            for value in values:
                if isinstance(value, dict) and "type" in value and depth < _MAX_DEPTH:
                    inner = f"_:f{self._items + 1}"
                    said = list(self.read(value, depth + 1))
                    if said and said[0].subject == inner:
                        yield Triple(subject, predicate, inner, 0)
                        yield from said
                        continue
                yield Triple(subject, predicate, _term(key, value), 0)
        for child in item.get("children", ()):
            if depth < _MAX_DEPTH:
                yield from self.read(child, depth + 1)


def _term(key: str, value: Any) -> str:
    """Return a value as a term. Markup and pictures are dictionaries with a ``value``."""
    text = str(value.get("value", "") if isinstance(value, dict) else value).strip()
    if key in _ADDRESSES and _IRI.match(text):
        return iri_term(text)
    return literal_term(text, datatype=date_datatype(text))


_ELEMENTS = "http://purl.org/dc/elements/1.1/"
_TERMS = "http://purl.org/dc/terms/"


def dublin_core(page: str) -> Iterator[Triple]:
    """Yield the Dublin Core statements about a page; IRIs may be relative.

    ``DC.title`` is a property of Elements 1.1 and ``DCTERMS.title`` one of DCMI Terms, unless the
    page declares other namespaces ("Expressing Dublin Core metadata using HTML/XHTML meta and link
    elements", DCMI, 2008). Raises ``ImportError`` without extruct.
    """
    from extruct.dublincore import DublinCoreExtractor

    for found in DublinCoreExtractor().extract(page):
        namespaces = {"dc": _ELEMENTS, "dcterms": _TERMS}
        namespaces.update((name.lower(), iri) for name, iri in found["namespaces"].items())
        for entry in (*found["elements"], *found["terms"]):
            prefix, dot, _ = (entry.get("name") or entry.get("rel") or "").partition(".")
            namespace = namespaces.get(prefix.lower())
            # extruct takes ``<meta name="description">`` for Dublin Core as well
            if not dot or namespace is None:
                continue
            term = iri_term(namespace + entry["URI"].rpartition("/")[2])
            if (target := entry.get("href")) is not None:
                yield Triple("<>", term, iri_term(target), 0)
            elif text := (entry.get("content") or "").strip():
                datatype = date_datatype(text)
                yield Triple("<>", term, literal(text, entry.get("lang", ""), datatype), 0)


_SCRIPTS = etree.XPath("descendant-or-self::*[local-name() = 'script' and @type]")
_BASE = etree.XPath("descendant-or-self::*[local-name() = 'base']/@href")
_OF_XML = frozenset({RdfFormat.RDF_XML, RdfFormat.TRIX, RdfFormat.OWL_XML})
#: how a script is hidden from old browsers, or from XML
_WRAPPINGS = (("<!--", "-->"), ("<![CDATA[", "]]>"))
_XML_DECLARATION = re.compile(r"\A\s*<\?xml\s[^>]*\?>")
_AS_PAGE = Detection(Kind.HTML, None, 1.0, "read as a page")


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
    # browsers ignore zero bytes
    decoded = to_utf8(body, content_type, Form.PAGE)
    text = decoded.data.replace(b"\0", b"")
    kinds = possible_kinds(text, options)
    if not kinds:  # true of most pages
        return Reading(_AS_PAGE, embedded=True, _url=url, _options=options)
    document = DocumentReader(url, options, contexts)
    document.budget.packed = len(text)
    document.utf8(decoded, page=True)
    errors, sink = document.errors, document.sink
    counts: dict[str, int] = {}
    try:
        tree = parse_page(text, content_type, errors)
        if tree is not None:
            root = tree.root
            base = _base(root, document.graph, errors)
            readers: dict[Embedded, Callable[[], Iterable[Triple]]] = {
                Embedded.RDFA: lambda: rdfa.RdfaProcessor(
                    tree,
                    url,
                    roles=options.rdfa_roles,
                    limit=options.max_page_triples,
                    size=options.max_page_triples_size,
                ).triples(),
                Embedded.MICRODATA: lambda: microdata.MicrodataProcessor(
                    tree,
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
                    if kind in (Embedded.JSON_LD, Embedded.RDF):
                        _scripts(tree, base, document, kind)
                        if kind is Embedded.RDF:
                            for line, island in islands.find(text):
                                name = f"rdf-{line}"
                                document.parse_part(name, island, RdfFormat.RDF_XML, base, line)
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


def _base(root: etree._Element, url: str, errors: ErrorLog) -> str:
    """Return the page's base IRI: its ``base`` element resolved against its URL."""
    for href in _BASE(root):
        try:
            quad = next(
                pyoxigraph.parse(
                    f"<{iri_of(address(str(href))[1:-1])}> a <x:y> .",
                    pyoxigraph.RdfFormat.TURTLE,
                    base_iri=url,
                )
            )
        except (SyntaxError, ValueError):
            errors.add_mended(f"the base {str(href)!r} is no address; that of the page counts")
            return url
        subject = quad.subject
        return subject.value if isinstance(subject, pyoxigraph.NamedNode) else url
    return url


def _scripts(tree: PageTree, base: str, document: DocumentReader, kind: Embedded) -> None:
    """Read the scripts of JSON-LD, or those of the other RDF syntaxes. Each is a document."""
    for number, script in enumerate(_SCRIPTS(tree.root)):
        syntax = format_of_type(script.get("type"))
        if syntax is None or (syntax is RdfFormat.JSON_LD) != (kind is Embedded.JSON_LD):
            continue
        text, line = _script_text(tree, script, syntax), script.sourceline or 1
        if not text.strip():
            continue
        if syntax is not RdfFormat.JSON_LD:
            document.parse_part(f"script-{number}", text, syntax, base, line)
            continue
        try:
            document.parse_jsonld(text, base, line)
        except LimitReached as limit:
            document.errors.check_time()
            document.errors.add(str(limit), line)


def _script_text(tree: PageTree, script: etree._Element, syntax: RdfFormat) -> bytes:
    """Return a script's text. In XHTML it may have elements, or hide in a comment."""
    if syntax in _OF_XML and any(isinstance(child.tag, str) for child in script):
        around = {prefix or "": iri for prefix, iri in script.nsmap.items()}
        return xml_content(tree, script, around).encode()
    pieces = [script.text or ""]
    for child in script:
        hidden = child.text if child.tag is etree.Comment else ""
        pieces += [hidden or "", child.tail or ""]
    text = "".join(pieces)
    if syntax is not RdfFormat.JSON_LD:
        text = _unwrapped(text)
    if syntax in _OF_XML:  # before the declaration nothing may stand
        text = _XML_DECLARATION.sub("", text)
    return text.encode("utf-8", "replace")


def _unwrapped(text: str) -> str:
    """Return a script without the comment or the CDATA section around all of it."""
    for begin, end in _WRAPPINGS:
        inner = text.strip().removeprefix("//").lstrip()
        if inner.startswith(begin) and inner.endswith(end) and inner.count(end) == 1:
            lines = text[: text.index(begin)].count("\n")
            return "\n" * lines + inner[len(begin) : -len(end)].rstrip().removesuffix("//")
    return text


def _triples(triples: Iterable[Triple], base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Let the Turtle parser resolve and check the triples; record the bad ones as errors."""
    sink.flush()
    sink.has_graphs = False
    lines: dict[bytes, int] = {}
    try:
        for statement, line in statements(triples, errors):
            lines.setdefault(statement.encode("utf-8", "replace"), line)
    except LimitReached as limit:
        errors.add(str(limit))
    if lines:
        data = b"".join(lines)
        places = [*lines.values(), 0]
        log = PlacedErrors(errors, lambda line: (places[line - 1], 0))
        lines.clear()  # they may take as much memory as the data
        turtle.parse(data, pyoxigraph.RdfFormat.TURTLE, base, sink, log, 256)


_SCRIPT = re.compile(
    rb"[<:]script(?=[\s/])(?:[^>=]++|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?|[^\s>\"'][^\s>]*+)?+)*+"
)
#: the value of each ``type``, also of what only looks like this attribute
_MEDIA_TYPE = re.compile(
    rb"(?<=[\s\"'/])type\s*+=\s*+"
    rb"(?:\"\s*+(?=([^\"]{0,200}))|'\s*+(?=([^']{0,200}))|(?=([^\s>\"'][^\s>]{0,199})))"
)
#: bytes of a tag, and of a value, that are examined; beyond them, all may be
_MOST_OF_TAG = 4000
_MOST_OF_VALUE = 200


def _of_script(page: bytes, at: int) -> Iterable[Embedded]:
    """Return the kinds of data that the script at ``at`` may have by its type."""
    tag = _SCRIPT.match(page, at, at + _MOST_OF_TAG)
    if tag is None:
        return ()
    found = set()
    for values in _MEDIA_TYPE.findall(tag[0]):
        media = b"".join(values).decode("utf-8", "replace")
        if "&" in media or len(media) >= _MOST_OF_VALUE:
            return _BY_SCRIPT
        if syntax := format_of_type(media):
            found.add(Embedded.JSON_LD if syntax is RdfFormat.JSON_LD else Embedded.RDF)
    return _BY_SCRIPT if tag.end() == at + _MOST_OF_TAG else found


_Sign = tuple[frozenset[Embedded], Callable[[bytes, int], Iterable[Embedded]]]
_BY_SCRIPT = frozenset({Embedded.JSON_LD, Embedded.RDF})


def _sign(kind: Embedded, sign: str) -> _Sign:
    """Pair a kind with a function that returns it where a pattern matches."""
    match = re.compile(sign.encode()).match
    kinds = frozenset({kind})
    return kinds, lambda page, at: kinds if match(page, at) else ()


def _attribute(name: str, value: str = "") -> str:
    """Match an attribute by name and by what its value contains; a reference may hide it.

    Attributes follow white space, a slash or a quote.
    """
    before = rf"(?<=[\s\"'/]){name}"
    if not value:
        return before + r"[\s=>/]"
    value = rf"(?:{value}|&)"
    most = _MOST_OF_VALUE
    values = "|".join(
        rf"{quote}(?:[{inside}]{{{most}}}|[{inside}]{{0,{most}}}?{value})"
        for quote, inside in (('\\"', '^\\"'), ("'", "^'"), ("", r"^\s>"))
    )
    return rf"{before}\s*+=\s*+(?:{values})"


_MICROFORMAT = _sign(Embedded.MICROFORMATS, r"\b(?:h-(?:card|adr|geo|event)|vcard|vevent)\b")
_DUBLIN_CORE = _sign(
    Embedded.DUBLIN_CORE, r"(?<=[\"'=\s])dc(?:terms)?\.[a-z]|schema\.[a-z]+[\"'\s]"
)
#: words of pages, and functions that return the kinds of data that each may belong to where it
#: begins. The page is in lower case
_SIGNS: dict[bytes, _Sign] = {
    b"<script": (_BY_SCRIPT, _of_script),
    b":script": (_BY_SCRIPT, _of_script),
    b"<rdf": _sign(Embedded.RDF, r"<rdf[\s>/]"),
    b":rdf": _sign(Embedded.RDF, r":rdf[\s>/]"),
    b"itemscope": _sign(Embedded.MICRODATA, _attribute("itemscope")),
    # a page states nothing in RDFa without one of these
    **{
        name.encode(): _sign(Embedded.RDFA, _attribute(name))
        for name in ("property", "typeof", "vocab", "rev")
    },
    b"rel": _sign(Embedded.RDFA, _attribute("rel", r":|\blicense\b|\bdescribedby\b|\brole\b")),
    b"xhtml+rdfa": _sign(Embedded.RDFA, "xhtml"),
    b"version": _sign(Embedded.RDFA, _attribute("version", r"xhtml\+rdfa")),
    **dict.fromkeys((b"h-card", b"h-adr", b"h-geo", b"h-event", b"vcard", b"vevent"), _MICROFORMAT),
    **dict.fromkeys((b"dc.", b"dcterms.", b"schema."), _DUBLIN_CORE),
}
_WORDS = WordSearch(*_SIGNS)
#: with the option of roles
_ROLE = re.compile(_attribute("role").encode())


def possible_kinds(body: bytes, options: ReadOptions) -> set[Embedded]:
    """Return the kinds of data that a cheap search of the bytes does not rule out."""
    page = body.lower()
    if b"<!entity" in page:  # its value may be any markup, in references
        return set(options.embedded)
    found: set[Embedded] = set()
    if options.rdfa_roles and _ROLE.search(page):
        found.add(Embedded.RDFA)
    for word, at in _WORDS.matches(page):
        kinds, shown = _SIGNS[word]
        if kinds <= found:
            continue
        found.update(shown(page, at))
        if found >= options.embedded:
            break
    return found & options.embedded
