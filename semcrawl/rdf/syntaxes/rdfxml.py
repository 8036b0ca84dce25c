"""Reads RDF/XML in pieces of whole nodes: with pyoxigraph where it is right, else with our reader.

Both ways give the same statements. The memory is bounded by the size of a piece.
"""

from __future__ import annotations

from io import BytesIO
from xml.sax.saxutils import quoteattr

import pyoxigraph

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.packed.streams import Readable
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import HeldLines, QuadSink, TooMuch
from semcrawl.rdf.syntaxes._plainrdfxml import Tags, find_nodes, plain
from semcrawl.rdf.syntaxes._rdfxmlreader import ITS, RdfXmlReader
from semcrawl.rdf.terms import RDF

#: bytes of a document that our reader reads sooner than it takes to look at it
_SMALL = 1 << 12
#: bytes of nodes that are read at once, and of the longest node that is held
_PIECE = 1 << 20
_LONGEST_NODE = 1 << 24
#: times the size of their text that statements are held at once
_MOST_GROWTH = 16
_ROOT = re.compile(rb"<[^<>\"'/]++(?:\"[^\"<]*+\"[^<>\"'/]*+|'[^'<]*+'[^<>\"'/]*+)*+>")
_IDENTIFIER = re.compile(rb"rdf:ID\s*+=\s*+\"([^\"]*+)\"")
#: what an entity must not contain to mean the same to every parser
_NOT_SIMPLE = re.compile(r"[<>&\"'%\x00-\x20]")


def parse(data: bytes, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions) -> None:
    """Read a document in UTF-8. Raises :class:`LimitReached`."""
    parse_file(BytesIO(data), base, sink, errors, options)


def parse_file(
    file: Readable, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
) -> None:
    """Read a document of any size, in UTF-8. Raises :class:`LimitReached`."""
    document = _Document(file, base, sink, errors, options)
    try:
        document.read()
    finally:
        document.reader.flush()


class _Document:
    """One document, read from its start to its end."""

    def __init__(
        self, file: Readable, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
    ) -> None:
        self._file = file
        self._sink = sink
        self._errors = errors
        self._deepest = options.max_depth - 1
        self.reader = RdfXmlReader(base, sink, errors, options)
        self._base = base
        #: text that is not yet read, and its offset and line, from 0
        self._text = b""
        self._offset = self._line = 0
        self._is_whole = False
        self._head: bytes | None = None

    def read(self) -> None:
        """Read the document."""
        self._fill(_PIECE)
        if len(self._text) > _SMALL and self._begin():
            while self._next_nodes():
                pass
        events = self.reader.events
        while True:
            text, self._text = self._text, b""
            events.feed(text, final=self._is_whole)
            if self._is_whole:
                return
            self._fill(_PIECE)

    def _fill(self, size: int) -> None:
        """Have ``size`` bytes of text, or all that is left."""
        pieces = [self._text]
        missing = size - len(self._text)
        while missing > 0 and not self._is_whole:
            data = self._file.read(missing)
            self._is_whole = not data
            pieces.append(data)
            missing -= len(data)
        text = b"".join(pieces) if len(pieces) > 1 else self._text
        if b"\r" in text:  # XML 1.0, section 2.11
            if text.endswith(b"\r") and not self._is_whole:
                text += self._file.read(1)
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._text = text

    def _advance(self, size: int) -> bytes:
        """Return the next ``size`` bytes of the text, which is shorter then."""
        piece, self._text = self._text[:size], self._text[size:]
        self._offset += size
        self._line += piece.count(b"\n")
        return piece

    def _begin(self) -> bool:
        """Read the start tag of ``rdf:RDF``; return False if the document has another form."""
        events = self.reader.events
        at = events.find_root(self._text)
        root = None if at is None else _ROOT.match(self._text, at)
        if at is None or root is None:
            self._text = b""
            return False
        self._advance(at)
        offset, line = self._offset, self._line
        events.jump(self._advance(len(root[0])), offset, line)
        if not events.is_between or self.reader.root_scope is None:
            return False
        self._head = self._plain_head()
        return True

    def _plain_head(self) -> bytes | None:
        """Return what nodes need before them for pyoxigraph; None if it would read them wrong."""
        scope = self.reader.root_scope
        declared = self.reader.events.document_type
        if scope is None or declared.has_defaults:
            return None
        namespaces, base, language, version = scope
        if base is None or language is None or version != "1.1":
            return None
        self._base = base
        values = [iri or "" for iri in namespaces.values()]
        if namespaces.get("rdf") != RDF or values.count(RDF) > 1 or ITS in values:
            return None
        entities = [e for e in declared.entities.items() if not _NOT_SIMPLE.search(e[1])]
        if len(entities) < len(declared.entities):
            return None
        head = [f'<!ENTITY {name} "{value}">' for name, value in entities]
        head = ["<!DOCTYPE x [", *head, "]>"] if head else []
        head.append("<rdf:RDF")
        for prefix, iri in namespaces.items():
            if prefix != "xml" and iri is not None:
                name = f"xmlns:{prefix}" if prefix else "xmlns"
                head.append(f" {name}={quoteattr(iri)}")
        if language:
            head.append(f" xml:lang={quoteattr(language)}")
        return "".join([*head, ">"]).encode()

    def _next_nodes(self) -> bool:
        """Read the next whole nodes; return False if there are none in sight."""
        self._errors.check_time()
        size = _PIECE
        self._fill(size)
        while not (found := find_nodes(self._text))[0]:
            if self._is_whole or size >= _LONGEST_NODE:
                self.reader.events.jump(b"", self._offset, self._line)
                return False
            size *= 2
            self._fill(size)
        events = self.reader.events
        offset, line = self._offset, self._line
        end, tags = found
        nodes = self._advance(end)
        events.count_entities(nodes)
        if self._read_plain(nodes, tags):
            return True
        self.reader.flush()
        events.jump(nodes, offset, line)
        return events.is_between

    def _read_plain(self, nodes: bytes, tags: Tags | None) -> bool:
        """Read nodes with pyoxigraph; return False, with nothing written, if that is not sure."""
        text = None if self._head is None else plain(nodes, tags, self._deepest)
        if text is None or self._head is None:
            return False
        identifiers = set()
        if b"rdf:ID" in text:
            found = _IDENTIFIER.findall(text)
            identifiers = {(self._base, name.decode("utf-8", "replace")) for name in found}
            known = self.reader.identifiers
            if b"xml:base" in text or not identifiers.isdisjoint(known):
                return False
        out = HeldLines(_MOST_GROWTH * len(nodes) + _PIECE)
        try:
            source = pyoxigraph.parse(
                b"".join([self._head, text, b"</rdf:RDF>"]),
                pyoxigraph.RdfFormat.RDF_XML,
                base_iri=self._base,
            )
            pyoxigraph.serialize(source, out.file, pyoxigraph.RdfFormat.N_TRIPLES)
        except (SyntaxError, ValueError, TooMuch):  # ValueError: no base
            return False
        self.reader.identifiers |= identifiers
        for lines in out.pieces:
            self._sink.write(lines)
        return True
