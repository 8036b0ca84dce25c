"""Reads TriX: triples in XML, one element per term."""

from __future__ import annotations

from xml.parsers import expat

import pyoxigraph

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.sniffing import TRIX_NAMESPACES

_LANG = "http://www.w3.org/XML/1998/namespace lang"
_TERMS = frozenset({"uri", "id", "plainLiteral", "typedLiteral"})
_RDF_LANG = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_NAMESPACES = frozenset(name.decode() for name in TRIX_NAMESPACES) | {""}

_Term = pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal


class _Handler:
    """Collects terms into triples and writes each to the sink."""

    def __init__(self, base: str, sink: QuadSink, errors: ErrorLog) -> None:
        self._base = base
        self._sink = sink
        self._errors = errors
        self._graph: _Term | None = None
        self._terms: list[_Term | None] | None = None
        self._text: list[str] = []
        self._attributes: dict[str, str] = {}
        self._language: list[str] = [""]
        self._depth = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append
        self.parser.buffer_text = True

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._language.append(attributes.get(_LANG, self._language[-1]))
        namespace, _, local = name.rpartition(" ")
        if namespace not in _NAMESPACES:
            return
        self._text.clear()
        self._attributes = attributes
        if local == "graph":
            self._graph = None
        elif local == "triple":
            self._terms = []

    def _end(self, name: str) -> None:
        language = self._language.pop()
        namespace, _, local = name.rpartition(" ")
        if namespace not in _NAMESPACES:
            return
        if local in _TERMS:
            term = self._term(local, "".join(self._text), language)
            if self._terms is not None:
                self._terms.append(term)
            elif not isinstance(term, pyoxigraph.Literal):
                self._graph = term
        elif local == "triple" and self._terms is not None:
            self._write(self._terms)
            self._terms = None
        elif local == "graph":
            self._graph = None
        self._text.clear()

    def _term(self, kind: str, text: str, language: str) -> _Term | None:
        try:
            if kind == "uri":
                return _resolve(text.strip(), self._base)
            if kind == "id":
                return pyoxigraph.BlankNode(text.strip())
            datatype = self._attributes.get("datatype")
            if kind == "typedLiteral" and datatype and datatype != _RDF_LANG:
                return pyoxigraph.Literal(text, datatype=_resolve(datatype, self._base))
            if language:
                return pyoxigraph.Literal(text, language=language)
            return pyoxigraph.Literal(text)
        except (ValueError, SyntaxError) as error:
            self._fail(str(error))
            return None

    def _write(self, terms: list[_Term | None]) -> None:
        if None in terms:
            return
        if len(terms) != 3:
            self._fail(f"a triple of {len(terms)} terms")
            return
        subject, predicate, object_ = terms
        if isinstance(subject, pyoxigraph.Literal) or subject is None:
            self._fail("a literal as subject")
        elif not isinstance(predicate, pyoxigraph.NamedNode):
            self._fail("a predicate that is no IRI")
        else:
            graph = "" if self._graph is None else f" {self._graph}"
            line = f"{subject} {predicate} {object_}{graph} .\n"
            self._sink.write(line.encode("utf-8", "replace"))

    def _fail(self, message: str) -> None:
        parser = self.parser
        self._errors.add(message, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)


def _resolve(iri: str, base: str) -> pyoxigraph.NamedNode:
    """Let the Turtle parser resolve and check an IRI."""
    if any(character in iri for character in '<>"{}|^`\\ \n\t\r'):
        raise ValueError(f"{iri[:80]} is no IRI")
    quad = next(pyoxigraph.parse(f"<{iri}> a <x:y> .", pyoxigraph.RdfFormat.TURTLE, base_iri=base))
    subject = quad.subject
    if not isinstance(subject, pyoxigraph.NamedNode):
        raise ValueError(f"{iri[:80]} is no IRI")
    return subject


def parse_trix(data: bytes, base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Read a TriX document into ``sink``, up to ill-formed XML."""
    sink.has_graphs = True
    handler = _Handler(base, sink, errors)
    try:
        for start in range(0, len(data), 1 << 20):
            handler.parser.Parse(data[start : start + (1 << 20)], False)
            errors.check_time()
        handler.parser.Parse(b"", True)
    except expat.ExpatError as error:
        errors.add(f"ill-formed XML: {expat.ErrorString(error.code)}", error.lineno,
                   error.offset + 1)  # fmt: skip
