"""Reads TriX: triples in XML, one element per term."""

from __future__ import annotations

from collections.abc import Callable

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.mending import label, resolved
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.sink import LONGEST_LINE, QuadSink
from semcrawl.rdf.sniffing import TRIX_NAMESPACES
from semcrawl.rdf.streams import Readable
from semcrawl.rdf.syntaxes.xmlevents import XmlEvents
from semcrawl.rdf.terms import RDF, XSD, Scoped, canonical, language_tag

_PIECE = 1 << 20
_TERMS = frozenset({"uri", "id", "plainLiteral", "typedLiteral"})
_STRING = XSD + "string"
_NEED_LANGUAGE = frozenset({f"{RDF}langString", f"{RDF}dirLangString"})
_NAMESPACES = frozenset(name.decode() for name in TRIX_NAMESPACES) | {""}


class _Element:
    """An open element: its name in TriX, and what is in scope."""

    __slots__ = ("attributes", "base", "is_inside", "language", "local", "namespaces")

    def __init__(self, base: str | None) -> None:
        self.local = ""
        #: whether it is inside a term
        self.is_inside = False
        self.namespaces = Scoped[str | None]()
        self.base = base
        #: ``None``: not certain
        self.language: str | None = ""
        self.attributes: dict[str, str | None] = {}


class _TrixReader:
    """Collects terms into triples, and writes each to the sink."""

    def __init__(self, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions) -> None:
        self._sink = sink
        self._errors = errors
        self._elements = [_Element(base)]
        self._pieces: list[str] = []
        self.text: Callable[[str], None] = self._pieces.append
        #: the graph's name with a space before it; ``None``: not certain
        self._graph: str | None = ""
        #: terms of the open triple, ``None`` where one is not certain
        self._terms: list[str | None] | None = None
        self._is_spoiled = False
        self.events = XmlEvents(self, errors, options)

    def start(self, name: str, attributes: list[str | None]) -> None:
        """Begin an element."""
        element = self._enter(name, attributes)
        in_term = self._elements[-1].local in _TERMS and element.local not in ("graph", "triple")
        self._elements.append(element)
        if in_term:
            element.local = self._elements[-2].local  # all of it ends with the term
            element.is_inside = True
            if not self._is_spoiled:
                self._errors.add("markup in a term", *self.events.place())
            self._is_spoiled = True
        elif element.local == "graph":
            self._graph = ""
        elif element.local == "triple":
            if self._terms is not None:
                self._end_triple()
            self._terms, self._is_spoiled = [], False
        self._pieces.clear()

    def end(self) -> None:
        """End the innermost element."""
        element = self._elements.pop()
        if element.is_inside:
            pass
        elif element.local in _TERMS:
            self._end_term(element)
        elif element.local == "triple" and self._terms is not None:
            self._end_triple()
        elif element.local == "graph":
            self._graph = ""
        self._pieces.clear()

    def unclosed(self, *, at_end: bool) -> int | None:
        """End the innermost element, whose end tag is missing."""
        if at_end:
            self._elements.pop()
            return None
        if self._elements[-1].local in _TERMS:
            self._is_spoiled = True
        self._errors.add_mended("an element without an end tag", *self.events.place())
        self.end()
        return None

    def comment(self, text: str) -> None:
        """Take a comment, which says nothing."""

    def instruction(self, target: str, data: str) -> None:
        """Take a processing instruction, which says nothing."""

    def spoil(self) -> None:
        """Take note that the triple, or the graph's name, cannot be read."""
        self._is_spoiled = True

    def pause(self) -> None:
        """Bound what is held."""
        self._pieces[:] = ["".join(self._pieces)]
        if len(self._pieces[0]) > LONGEST_LINE:
            self._pieces.clear()
            self._is_spoiled = True

    def _enter(self, name: str, attributes: list[str | None]) -> _Element:
        outer = self._elements[-1]
        element = _Element(outer.base)
        element.language, element.namespaces = outer.language, outer.namespaces
        declared: dict[str, str | None] = {}
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            if key == "xml:lang":
                element.language = self._language(value)
            elif key == "xml:base":
                base, _ = resolved(value or "", outer.base) if value is not None else ("", True)
                element.base = base or None
            elif key and (key == "xmlns" or key.startswith("xmlns:")):
                declared[key[6:]] = value
            elif key is not None:
                element.attributes[key] = value
        if declared:
            element.namespaces = outer.namespaces.extended(declared)
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        if (element.namespaces.get(prefix) or "") in _NAMESPACES:
            element.local = local
        return element

    def _language(self, value: str | None) -> str | None:
        if not value:
            return value
        tag, mended = language_tag(value)
        if mended:
            self._errors.add_mended(f"the language {value} is mended", *self.events.place())
        return tag or None

    def _end_term(self, element: _Element) -> None:
        term = self._term(element, "".join(self._pieces))
        if self._terms is not None:
            self._terms.append(term)
        elif self._is_spoiled or term is None or term.startswith('"'):
            self._graph, self._is_spoiled = None, False
        else:
            self._graph = f" {term}"

    def _term(self, element: _Element, text: str) -> str | None:
        """Return a term as N-Quads write it."""
        if element.local == "uri":
            return self._iri(text.strip(), element.base)
        if element.local == "id":
            return f"_:{label(text.strip())[0]}"  # TriX has no rule for names of nodes
        text = canonical(text)
        if element.local == "typedLiteral":
            datatype = element.attributes.get("datatype", "")
            term = self._iri(datatype, element.base) if datatype else None
            if term is None:
                return None
            if term[1:-1] not in _NEED_LANGUAGE:
                return f'"{text}"' if term[1:-1] == _STRING else f'"{text}"^^{term}'
            if not element.language:
                self._errors.add(f"a literal of {term} without a language", *self.events.place())
                return None
        if element.language is None:
            self._errors.add("a literal whose language is not certain", *self.events.place())
            return None
        return f'"{text}"@{element.language}' if element.language else f'"{text}"'

    def _iri(self, reference: str, base: str | None) -> str | None:
        iri, mended = resolved(reference, base)
        if not iri:
            self._errors.add(f"{reference[:80]} is no IRI", *self.events.place())
            return None
        if mended:
            self._errors.add_mended(
                f"{reference[:80]} is no IRI, and is mended", *self.events.place()
            )
        return f"<{iri}>"

    def _end_triple(self) -> None:
        terms, self._terms = self._terms or [], None
        is_spoiled, self._is_spoiled = self._is_spoiled, False
        if is_spoiled or None in terms:
            return  # what is wrong is recorded
        fault = ""
        if len(terms) != 3:
            fault = f"a triple of {len(terms)} terms"
        elif str(terms[0]).startswith('"'):
            fault = "a literal as subject"
        elif not str(terms[1]).startswith("<"):
            fault = "a predicate that is no IRI"
        elif self._graph is None:
            fault = "a triple of a graph whose name is not certain"
        if fault:
            self._errors.add(fault, *self.events.place())
            return
        subject, predicate, object_ = terms
        line = f"{subject} {predicate} {object_}{self._graph} .\n"
        self._sink.write(line.encode("utf-8", "replace"))


def parse_trix(
    file: Readable, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
) -> None:
    """Read a document of any size, in UTF-8. Raises :class:`LimitReached`."""
    sink.has_graphs = True
    reader = _TrixReader(base, sink, errors, options)
    while data := file.read(_PIECE):
        reader.events.feed(data)
    reader.events.feed(b"", final=True)
