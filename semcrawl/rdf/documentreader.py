"""Reads a body or a file into quads: the entry point for all syntaxes and archives."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO

import pyoxigraph

from semcrawl.items import DocumentError
from semcrawl.rdf.detection import HEAD, Detection, detect
from semcrawl.rdf.limits import Budget, ErrorLog, LimitReached
from semcrawl.rdf.links import RdfLink, find_links
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.packed import walk
from semcrawl.rdf.sink import QuadSink, has_pair
from semcrawl.rdf.streams import Readable, SafeFile, Utf8File
from semcrawl.rdf.syntaxes import islands, ntriples, owlxml, rdfxml, trix, turtle
from semcrawl.rdf.syntaxes.escaped import ESCAPED, UnescapedFile, is_all_escaped, unescaped
from semcrawl.rdf.syntaxes.jsonld import parse_jsonld, parse_jsonld_value, with_context
from semcrawl.rdf.syntaxes.rdfjson import parse_rdfjson
from semcrawl.rdf.terms import iri_of
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import NOT_UTF8, Encoding, Form, Utf8Text, find_encoding, to_utf8
from semcrawl.web.vocabulary import Kind, RdfFormat

_OXIGRAPH: dict[RdfFormat, pyoxigraph.RdfFormat] = {
    RdfFormat.TURTLE: pyoxigraph.RdfFormat.TURTLE,
    RdfFormat.N3: pyoxigraph.RdfFormat.N3,
    RdfFormat.N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    RdfFormat.TRIG: pyoxigraph.RdfFormat.TRIG,
    RdfFormat.N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
}
_LINE_FORMATS = frozenset({RdfFormat.N_TRIPLES, RdfFormat.N_QUADS})
_WITH_GRAPHS = frozenset({RdfFormat.N3, RdfFormat.TRIG, RdfFormat.N_QUADS})
_XML = frozenset({RdfFormat.RDF_XML, RdfFormat.TRIX, RdfFormat.OWL_XML})
_ALL_LABELLED = frozenset(
    {RdfFormat.N_TRIPLES, RdfFormat.N_QUADS, RdfFormat.TRIX, RdfFormat.RDF_JSON}
)
_HEAD = 1 << 16
#: bytes of quads in a file that are read at a time
_PIECE = 1 << 20
_REPLACEMENT, _ESCAPED_REPLACEMENT = "\ufffd".encode(), b"%EF%BF%BD"
#: words in media types that name a compression or an archive
_PACKINGS = ("zip", "tar", "bzip", "xz", "zstd", "brotli", "octet-stream")


@dataclass(frozen=True, slots=True)
class Member:
    """What was read from one file of an archive."""

    name: str
    detection: Detection
    quads: int
    errors: int


@dataclass(slots=True)
class Reading:
    """What was read from one document.

    The quads are in ``nquads`` as whole lines of UTF-8. Many quads are in the file ``spool``
    instead, which belongs to the caller.
    """

    detection: Detection
    nquads: bytes = b""
    spool: Path | None = None
    quads: int = 0
    #: the first errors; the message names the archive's member
    errors: list[DocumentError] = field(default_factory=list)
    error_count: int = 0
    #: whether the quads come from data embedded in a page
    embedded: bool = False
    #: URLs of JSON-LD contexts that the document needs and the caller did not pass
    contexts_needed: tuple[str, ...] = ()
    #: quads by kind of embedded data (values of :class:`Embedded`)
    counts: dict[str, int] = field(default_factory=dict)
    #: the files of the archive that were examined
    members: list[Member] = field(default_factory=list)
    _url: str = ""
    _options: ReadOptions = field(default_factory=ReadOptions)
    _links: list[RdfLink] | None = None

    @property
    def links(self) -> list[RdfLink]:
        """The IRIs that the options choose as links, extracted at the first access."""
        return [link for link in self._found_links if link.left_out is None]

    @property
    def links_left_out(self) -> list[RdfLink]:
        """Further IRIs that might be links, up to a bound, each with the reason."""
        return [link for link in self._found_links if link.left_out is not None]

    def statements(self) -> Iterator[bytes]:
        """Yield the quads in pieces of whole lines."""
        if self.spool is None:
            yield self.nquads
            return
        with self.spool.open("rb") as file:
            while lines := file.readlines(_PIECE):
                yield b"".join(lines)

    def beginning(self, size: int) -> bytes:
        """Return the quads, or the first ``size`` bytes of those in a file."""
        if self.spool is None:
            return self.nquads
        with self.spool.open("rb") as file:
            return file.read(size)

    @property
    def _found_links(self) -> list[RdfLink]:
        if self._links is None:
            self._links = list(find_links(self.statements(), self._url, self._options))
        return self._links


def read(
    source: bytes | IO[bytes],
    url: str,
    content_type: str | None = None,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    *,
    contexts: Mapping[str, bytes] | None = None,
    detection: Detection | None = None,
    links: bool = False,
    link_contexts: Sequence[str] = (),
) -> Reading:
    """Read the RDF document with the final URL ``url`` from its body or a file.

    ``url`` is the base and the default graph name. Errors are recorded with line and column, and
    the valid statements before and after them are kept. A body that is not RDF gives no quads.
    Files, archives and compressed bodies go to :func:`read_stream`. ``contexts`` are JSON-LD
    contexts by URL. A known ``detection`` is not repeated. With ``links`` the links are extracted
    at once. ``link_contexts`` are the contexts that ``Link`` headers name for JSON. Never raises
    because of the content.
    """
    found = detection
    if found is None and isinstance(source, bytes):
        found = detect(source, content_type, url, link_contexts=link_contexts)
    if not isinstance(source, bytes) or found is None or found.compression is not None:
        file = BytesIO(source) if isinstance(source, bytes) else source
        reading = read_stream(
            file=file,
            url=url,
            content_type=content_type,
            options=options,
            contexts=contexts,
            detection=detection,
            link_contexts=link_contexts,
        )
    else:
        document = DocumentReader(url, options, contexts, link_contexts)
        document.budget.packed = len(source)
        if found.kind is Kind.RDF and found.format is not None:
            try:
                document.parse(source, content_type, found.format)
            except (LimitReached, ValueError) as limit:  # ValueError: the URL is no base
                document.errors.add_final(str(limit))
            except MemoryError as error:  # the parser has no room for a term
                document.errors.add_final(str(error) or "too little memory")
        reading = document.finish(found)
    if links:
        _ = reading.links
    return reading


def read_stream(
    file: IO[bytes],
    url: str,
    content_type: str | None = None,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    *,
    contexts: Mapping[str, bytes] | None = None,
    detection: Detection | None = None,
    link_contexts: Sequence[str] = (),
) -> Reading:
    """Read a dump of any size, packed or not, in bounded memory.

    Works like :func:`read`; :attr:`Reading.members` lists the files of an archive. Members share no
    blank nodes. With ``options.member_graphs`` the default graph of a member is ``url#name``, else
    ``url``. The ``detection`` of an unpacked file is not repeated. Never raises because of the
    content.
    """
    document = DocumentReader(url, options, contexts, link_contexts)
    errors, sink = document.errors, document.sink
    members: list[Member] = []
    first: list[Detection] = []

    def visit(name: str, content: SafeFile) -> None:
        label = content_type if not name and not _is_packing(content_type) else None
        plain = detection if not name and detection and detection.compression is None else None
        found = plain or detect(
            content.peek(HEAD * 4), label, name or url, link_contexts=() if name else link_contexts
        )
        first.append(found)
        count, faults = sink.quads, errors.count
        errors.member = name
        if found.kind is Kind.RDF and found.format is not None and found.compression is None:
            if name:
                sink.enter_member(name)
            try:
                document.parse_file(content, label, found.format)
            except MemoryError as error:
                errors.add(str(error) or "too little memory")
            finally:
                sink.flush()
        if name and len(members) < options.max_members:
            members.append(Member(name, found, sink.quads - count, errors.count - faults))
        errors.member = ""

    try:
        walk(file, url.partition("?")[0], document.budget, visit, errors.add)
    except (LimitReached, ValueError) as limit:
        errors.add_final(str(limit))
    best = next((d for d in first if d.kind is Kind.RDF), None) or (
        first[0] if first else Detection(Kind.OTHER, None, 0.3, "nothing could be unpacked")
    )
    reading = document.finish(best)
    reading.members = members
    return reading


def _is_packing(content_type: str | None) -> bool:
    """Whether a media type names only the compression or archive."""
    media = media_type(content_type)
    return any(word in media for word in _PACKINGS)


class DocumentReader:
    """Reads one document into one sink, with its errors, limits and contexts."""

    def __init__(
        self,
        url: str,
        options: ReadOptions,
        contexts: Mapping[str, bytes] | None = None,
        link_contexts: Sequence[str] = (),
    ) -> None:
        """Begin the document at ``url``."""
        self._link_contexts = link_contexts
        self._url = url
        self._options = options
        self._contexts = contexts
        #: name of the default graph, and the base
        self.graph = iri_of(url)
        self.errors = ErrorLog(options)
        self.budget = Budget(options)
        self.sink = QuadSink(self.graph, options)
        self.sink.report = self.errors.add
        self.sink.text = self.budget.text
        #: places where bytes that mean nothing in its encoding became U+FFFD
        self._replaced = 0
        self._encoding = ""
        self._is_page = False
        #: URLs of the missing JSON-LD contexts, in order
        self.contexts_needed: dict[str, None] = {}

    def parse(
        self,
        body: bytes,
        content_type: str | None,
        syntax: RdfFormat,
        base: str = "",
    ) -> None:
        """Read a whole unpacked body or part; ``base`` is the document's address if empty.

        Raises :class:`LimitReached`.
        """
        base = base or self.graph
        sink, errors, depth = self.sink, self.errors, self._options.max_depth
        if syntax in _LINE_FORMATS and find_encoding(body[:_HEAD], content_type).is_utf8:
            # the parser checks the encoding line by line; only bad lines are lost
            data = body.removeprefix(codecs.BOM_UTF8)
        else:
            data = self.utf8(to_utf8(body, content_type, _form_of(syntax)))
        # finding one byte is ten times as fast as finding four
        escaped = syntax in _OXIGRAPH and b"&" in data and b"&lt;" in data
        if escaped and (plain := unescaped(data)) is not None:
            errors.add(ESCAPED, data.count(b"\n", 0, data.find(b"&lt;")) + 1)
            data = plain
        self._prepare(syntax)
        sink.may_have_labels = syntax in _ALL_LABELLED or _may_say_labels(data, syntax)
        if syntax is RdfFormat.JSON_LD and len(self._link_contexts) > 1:
            errors.add_final(f"{len(self._link_contexts)} Link headers name a context")
        elif syntax is RdfFormat.JSON_LD:
            for context in self._link_contexts:
                data = with_context(data, context)
            self.parse_jsonld(data, base)
        elif syntax is RdfFormat.RDF_JSON:
            parse_rdfjson(data, sink, errors, self._options)
        elif syntax is RdfFormat.YAML_LD:
            from semcrawl.rdf.syntaxes import yamlld  # few documents need a reader of YAML

            for line, value in yamlld.documents(data, errors, self._options):
                needed = parse_jsonld_value(
                    value, base, sink, errors, self._options, self._contexts, line
                )
                self.contexts_needed.update(dict.fromkeys(needed))
        elif syntax is RdfFormat.RDF_XML and not islands.is_alone(data):
            for line, island in islands.find(data):
                self.parse_part(f"rdf-{line}", island, syntax, base, line)
        elif syntax in _XML:
            if syntax is RdfFormat.OWL_XML:
                data = owlxml.to_rdfxml(data, base, errors, self._options)
            if syntax is RdfFormat.TRIX:
                trix.parse_trix(BytesIO(data), base, sink, errors, self._options)
            else:
                rdfxml.parse(data, base, sink, errors, self._options)
        elif syntax in _LINE_FORMATS:
            ntriples.parse_lines(data, _OXIGRAPH[syntax], sink, errors, depth)
        else:
            turtle.parse(data, _OXIGRAPH[syntax], base, sink, errors, depth)

    def parse_part(
        self, name: str, text: bytes, syntax: RdfFormat, base: str, first_line: int
    ) -> None:
        """Read a part of the document with its own blank nodes. Its errors end no other part."""
        self.sink.enter_part(name)
        before, self.errors.lines_before = self.errors.lines_before, first_line - 1
        try:
            self.parse(text, "; charset=utf-8", syntax, base)
        except LimitReached as limit:
            self.errors.check_time()
            self.errors.add(str(limit), 1)
        finally:
            self.errors.lines_before = before
            self.sink.enter_part("")

    def parse_jsonld(self, data: bytes, base: str, first_line: int = 1) -> None:
        """Read JSON-LD in UTF-8. Raises :class:`LimitReached`."""
        needed = parse_jsonld(
            data, base, self.sink, self.errors, self._options, self._contexts, first_line
        )
        self.contexts_needed.update(dict.fromkeys(needed))

    def parse_file(self, file: SafeFile, content_type: str | None, syntax: RdfFormat) -> None:
        """Read unpacked content of any size in bounded memory. Raises :class:`LimitReached`.

        Content of up to ``max_in_memory`` bytes is read whole. Beyond that, JSON-LD and OWL/XML are
        refused, as they cannot be read in pieces.
        """
        whole = file.read_all(self._options.max_in_memory)
        if whole is not None:
            self.parse(whole, content_type, syntax)
            return
        head = file.peek(_HEAD)
        encoding = find_encoding(head, content_type, _form_of(syntax))
        self._note_guess(encoding)
        utf8 = Utf8File(file, encoding)
        text: Readable = utf8
        self._prepare(syntax)
        self.sink.may_have_labels = True  # not known before the end
        if syntax in _OXIGRAPH and is_all_escaped(file.peek(_HEAD)):
            self.errors.add(ESCAPED, 1)
            text = UnescapedFile(text)
        depth = self._options.max_depth
        if syntax in _LINE_FORMATS:
            ntriples.parse_file(text, _OXIGRAPH[syntax], self.sink, self.errors, depth)
        elif syntax in _OXIGRAPH:
            turtle.parse_file(text, _OXIGRAPH[syntax], self.graph, self.sink, self.errors, depth)
        elif syntax is RdfFormat.RDF_XML:
            rdfxml.parse_file(text, self.graph, self.sink, self.errors, self._options)
        elif syntax is RdfFormat.TRIX:
            trix.parse_trix(text, self.graph, self.sink, self.errors, self._options)
        else:
            raise LimitReached(f"{syntax.value} of more than {self._options.max_in_memory} bytes")
        self._replaced += utf8.replaced
        self._encoding = encoding.name

    def utf8(self, text: Utf8Text, *, page: bool = False) -> bytes:
        """Return a text of the document; note what was wrong with its encoding.

        Most of a ``page`` is no data, and what is wrong there is not recorded.
        """
        self._is_page = page
        self._replaced += text.replaced
        self._encoding = text.encoding.name
        if text.replaced:
            written = _ESCAPED_REPLACEMENT
            self.sink.unreadable = (
                (_REPLACEMENT,) if written in text.data else (_REPLACEMENT, written)
            )
        self._note_guess(text.encoding)
        return text.data

    def _note_guess(self, encoding: Encoding) -> None:
        if encoding.evidence == NOT_UTF8 and not self._is_page:
            self.errors.add_mended("its bytes are not UTF-8, and are read as Windows-1252")

    def _prepare(self, syntax: RdfFormat) -> None:
        self.sink.flush()
        self.sink.has_graphs = syntax in _WITH_GRAPHS
        self.sink.all_named = False
        self.sink.names.all_labelled = syntax in _ALL_LABELLED

    def finish(self, found: Detection) -> Reading:
        """Close the sink and return the reading."""
        sink = self.sink
        try:
            nquads = sink.finish()
        except LimitReached as limit:
            self.errors.add_final(str(limit))
            nquads = sink.finish()
        if self._replaced and (not self._is_page or _has_replacement(nquads, sink.spool)):
            self.errors.add_mended(f"bytes that mean nothing in {self._encoding} became U+FFFD")
        return Reading(
            found, nquads, sink.spool, sink.quads, self.errors.kept, self.errors.count,
            contexts_needed=tuple(self.contexts_needed), _url=self._url, _options=self._options,
        )  # fmt: skip


def _form_of(syntax: RdfFormat) -> Form:
    return Form.XML if syntax in _XML else Form.TEXT


def _has_replacement(nquads: bytes, spool: Path | None) -> bool:
    """Whether U+FFFD occurs in the quads."""
    if spool is None:
        return _REPLACEMENT in nquads
    with spool.open("rb") as lines:
        return any(_REPLACEMENT in line for line in lines)


def _may_say_labels(data: bytes, syntax: RdfFormat) -> bool:
    """Whether the terms of ``data`` may contain ``_:``, escaped or not."""
    if syntax in (RdfFormat.RDF_XML, RdfFormat.OWL_XML):
        return has_pair(data, b"_", b":&<]") or (
            b"&" in data and (has_pair(data, b"&", b"#") or b"<!ENTITY" in data)
        )
    return has_pair(data, b"_", b":") or has_pair(data, b"\\", b"uU")
