"""One content, packed no more, into the sink: each syntax by its own way."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from io import BytesIO
from typing import IO, cast

import pyoxigraph

from semcrawl.rdf.detecting.encoding import find_encoding, to_utf8
from semcrawl.rdf.detecting.escaped import ESCAPED, UnescapedFile, is_all_escaped, unescaped
from semcrawl.rdf.errors import ErrorLog, LimitReached
from semcrawl.rdf.guards import guard_triple_terms, guard_xml
from semcrawl.rdf.lines import linewise
from semcrawl.rdf.lines.linescan import has_pair
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.output.sink import QuadSink
from semcrawl.rdf.packed.streams import Budget, Readable, SafeFile, Utf8File
from semcrawl.rdf.syntaxes import owlxml, rdfxml, trix
from semcrawl.rdf.syntaxes.blocks import all_in_named_graphs
from semcrawl.rdf.syntaxes.jsonld import parse_jsonld
from semcrawl.rdf.syntaxes.restarting import parse_stream, parse_whole
from semcrawl.web.vocabulary import RdfFormat

_OXIGRAPH: dict[RdfFormat, pyoxigraph.RdfFormat] = {
    RdfFormat.RDF_XML: pyoxigraph.RdfFormat.RDF_XML,
    RdfFormat.TURTLE: pyoxigraph.RdfFormat.TURTLE,
    RdfFormat.N3: pyoxigraph.RdfFormat.N3,
    RdfFormat.N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    RdfFormat.TRIG: pyoxigraph.RdfFormat.TRIG,
    RdfFormat.N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
}
_LINE_FORMATS = frozenset({RdfFormat.N_TRIPLES, RdfFormat.N_QUADS})
_WITH_GRAPHS = frozenset({RdfFormat.N3, RdfFormat.TRIG, RdfFormat.N_QUADS})
_XML = frozenset({RdfFormat.RDF_XML, RdfFormat.TRIX, RdfFormat.OWL_XML})
_TURTLE_FAMILY = frozenset(_OXIGRAPH) - {RdfFormat.RDF_XML}
_ALL_LABELLED = frozenset({RdfFormat.N_TRIPLES, RdfFormat.N_QUADS, RdfFormat.TRIX})
_LAST_TOKEN = re.compile(rb"[^\s;,()\[\]]*+\Z")
_HELD_BACK = 4096
_HEAD = 1 << 16


class Parser:
    """Parses the contents of one document into one sink."""

    def __init__(
        self,
        sink: QuadSink,
        errors: ErrorLog,
        budget: Budget,
        contexts: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write to ``sink`` and ``errors``, within ``budget``."""
        self._sink = sink
        self._errors = errors
        self._budget = budget
        self._options: ReadOptions = budget.options
        self._contexts = contexts
        #: JSON-LD contexts that were not at hand
        self.contexts_needed: dict[str, None] = {}

    def parse(self, body: bytes, content_type: str | None, syntax: RdfFormat, base: str) -> None:
        """Read a whole content. Raises :class:`LimitReached`."""
        if syntax in _LINE_FORMATS and find_encoding(body[:_HEAD], content_type).name == "utf-8":
            # the parser checks every line, and a bad one costs itself only
            data = body.removeprefix(codecs.BOM_UTF8)
        else:
            data, _ = to_utf8(body, content_type)
        if syntax in _TURTLE_FAMILY and (plain := unescaped(data)) is not None:
            self._errors.add(ESCAPED, data.count(b"\n", 0, data.find(b"&lt;")) + 1)
            data = plain
        self._prepare(syntax)
        self._sink.may_have_labels = syntax in _ALL_LABELLED or _may_say_labels(data, syntax)
        if syntax is RdfFormat.JSON_LD:
            needed = parse_jsonld(
                data, base, self._sink, self._errors, self._options, self._contexts
            )
            self.contexts_needed.update(dict.fromkeys(needed))
        elif syntax in _XML:
            data = rdfxml.guard_entities(data, self._options.max_entity_bytes)
            guard_xml(data, self._options.max_depth)
            if syntax is RdfFormat.OWL_XML:
                data = owlxml.to_rdfxml(data, base)
            if syntax is not RdfFormat.TRIX:
                rdfxml.parse(data, base, self._sink, self._errors)
            else:
                trix.parse_trix(data, base, self._sink, self._errors)
        else:
            depth = self._options.max_depth
            if syntax in _LINE_FORMATS:
                linewise.parse_lines(data, _OXIGRAPH[syntax], self._sink, self._errors, depth)
            else:
                guard_triple_terms(data, depth)
                text = without_cut_token(data)
                if syntax is RdfFormat.N3:
                    self._parse_n3(text, base)
                else:
                    self._sink.all_named = syntax is RdfFormat.TRIG and all_in_named_graphs(text)
                    parse_whole(text, _OXIGRAPH[syntax], base, self._sink, self._errors)
                if len(text) < len(data):
                    self._tell_cut(data.count(b"\n") + 1)

    def _tell_cut(self, line: int) -> None:
        """Record that a document ends in a token, unless the parser has complained of its end."""
        if not self._errors.last.startswith("Unexpected end"):
            self._errors.add("the document ends inside a token", line)

    def _parse_n3(self, data: bytes, base: str) -> None:
        """Read N3 line by line: errors of what is beyond RDF tell no place."""
        file = SafeFile(BytesIO(b""), self._budget)

        def wrapped(text: bytes, lines_before: int) -> Readable:
            nonlocal file
            file = SafeFile(BytesIO(text), self._budget, counted=False)
            lines = _Lines(file)
            self._errors.line_now = lambda: lines.number + lines_before
            return lines

        try:
            parse_whole(data, _OXIGRAPH[RdfFormat.N3], base, self._sink, self._errors, wrapped)
        finally:
            self._errors.line_now = None
        if file.fault:
            raise LimitReached(file.fault)

    def parse_file(
        self, file: SafeFile, content_type: str | None, syntax: RdfFormat, base: str
    ) -> None:
        """Read a content of any size in bounded memory. Raises :class:`LimitReached`.

        What is small enough is read as a whole. Beyond that, RDF/XML ends at its first error, and
        JSON-LD and TriX are refused, as they cannot be read piece by piece.
        """
        whole = file.read_all(self._options.max_in_memory)
        if whole is not None:
            self.parse(whole, content_type, syntax, base)
            return
        encoding = find_encoding(file.peek(_HEAD), content_type)
        text: Readable = Utf8File(file, encoding.name, encoding.bom)
        self._prepare(syntax)
        self._sink.may_have_labels = True  # not known before the end
        if syntax in _TURTLE_FAMILY and is_all_escaped(file.peek(_HEAD)):
            self._errors.add(ESCAPED, 1)
            text = UnescapedFile(text)
        if syntax in _LINE_FORMATS:
            linewise.parse_file(
                text, _OXIGRAPH[syntax], self._sink, self._errors, self._options.max_depth
            )
        elif syntax in (RdfFormat.TURTLE, RdfFormat.N3, RdfFormat.TRIG):
            guarded = _Guarded(text, self._options.max_depth)
            parse_stream(guarded, _OXIGRAPH[syntax], base, self._sink, self._errors)
            if guarded.cut_line:
                self._tell_cut(guarded.cut_line)
        elif syntax is RdfFormat.RDF_XML:
            head = file.peek(_HEAD)
            if b"<!ENTITY" in head:
                rdfxml.guard_entities(head, self._options.max_entity_bytes)
            self._first_error_ends(text, base)
        else:
            raise LimitReached(f"{syntax.value} of more than {self._options.max_in_memory} bytes")

    def _prepare(self, syntax: RdfFormat) -> None:
        self._sink.flush()
        self._sink.has_graphs = syntax in _WITH_GRAPHS
        self._sink.all_named = False
        self._sink.names.all_labelled = syntax in _ALL_LABELLED

    def _first_error_ends(self, file: Readable, base: str) -> None:
        source = pyoxigraph.parse(
            cast(IO[bytes], file), _OXIGRAPH[RdfFormat.RDF_XML], base_iri=base
        )
        try:
            pyoxigraph.serialize(source, self._sink.file, pyoxigraph.RdfFormat.N_TRIPLES)
        except SyntaxError as error:
            self._errors.add_syntax(error)
            raise LimitReached("the rest after the error is not read") from None


def _may_say_labels(data: bytes, syntax: RdfFormat) -> bool:
    """Whether ``_:`` may stand anywhere in the terms of ``data``, be it by way of escapes."""
    if syntax in (RdfFormat.RDF_XML, RdfFormat.OWL_XML):
        return has_pair(data, b"_", b":&<]") or (
            b"&" in data and (has_pair(data, b"&", b"#") or b"<!ENTITY" in data)
        )
    return has_pair(data, b"_", b":") or has_pair(data, b"\\", b"uU")


def without_cut_token(data: bytes) -> bytes:
    """Return Turtle text without a last token that may be half of one.

    A statement that is not closed at the end of a document is kept when its last token is whole. A
    name, a number or a string directly before the end may be the first part of a longer one (or
    lack its language or datatype), and would make a statement that the document does not hold.
    """
    if not data or data[-1:] in b" \t\r\n.>]);,}":
        return data
    last_line = data[data.rfind(b"\n") + 1 :]
    if b"#" in last_line or last_line.lstrip()[:8].lower() in (b"version ", b"@version"):
        return data
    token = _LAST_TOKEN.search(data, max(len(data) - _HELD_BACK, 0))
    return data[: token.start()] if token else data


class _Lines:
    """A file that hands out a line at a time: errors of N3 beyond RDF tell no place."""

    def __init__(self, file: SafeFile) -> None:
        self._file = file
        self._held = b""
        self.number = 0

    def read(self, size: int = -1) -> bytes:
        if not self._held:
            self._held = self._file.read(1 << 16)
        end = self._held.find(b"\n") + 1 or len(self._held)
        if 0 <= size < end:
            end = size
        line, self._held = self._held[:end], self._held[end:]
        self.number += line.endswith(b"\n")
        return line


class _Guarded:
    """A big Turtle file: its end without a cut token, its triple terms not nested too deep."""

    def __init__(self, file: Readable, max_depth: int) -> None:
        self._file = file
        self._max_depth = max_depth
        self._ready = b""
        self._held = b""
        self._ended = False
        self._lines = 1
        #: the line in which the document ends inside a token; 0 if it does not
        self.cut_line = 0

    def read(self, size: int = -1) -> bytes:
        while not self._ready and not self._ended:
            data = self._file.read(1 << 20)
            self._lines += data.count(b"\n")
            if data:
                guard_triple_terms(data, self._max_depth)
                data = self._held + data
                self._ready, self._held = data[:-_HELD_BACK], data[-_HELD_BACK:]
            else:
                self._ended = True
                self._ready = without_cut_token(self._held)
                if len(self._ready) < len(self._held):
                    self.cut_line = self._lines
        if size is None or size < 0:
            size = 1 << 20
        result, self._ready = self._ready[:size], self._ready[size:]
        return result
