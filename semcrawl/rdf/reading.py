"""From a body to finished quads: the one entrance to all syntaxes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph

from semcrawl.items import DocumentError
from semcrawl.rdf import linewise, rdfxml, trix
from semcrawl.rdf.detection import Detection, detect
from semcrawl.rdf.encoding import to_utf8
from semcrawl.rdf.errors import ErrorLog, LimitReached
from semcrawl.rdf.guards import guard_triple_terms, guard_xml
from semcrawl.rdf.jsonld import parse_jsonld
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.rdflinks import RdfLink, find_links
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.terms import iri_of
from semcrawl.vocabulary import Kind, RdfFormat

_OXIGRAPH: dict[RdfFormat, pyoxigraph.RdfFormat] = {
    RdfFormat.RDF_XML: pyoxigraph.RdfFormat.RDF_XML,
    RdfFormat.TURTLE: pyoxigraph.RdfFormat.TURTLE,
    RdfFormat.N3: pyoxigraph.RdfFormat.N3,
    RdfFormat.N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    RdfFormat.TRIG: pyoxigraph.RdfFormat.TRIG,
    RdfFormat.N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
    RdfFormat.JSON_LD: pyoxigraph.RdfFormat.JSON_LD,
}
_WITH_GRAPHS = frozenset({RdfFormat.N3, RdfFormat.TRIG, RdfFormat.N_QUADS, RdfFormat.JSON_LD})
_ALL_LABELLED = frozenset({RdfFormat.N_TRIPLES, RdfFormat.N_QUADS, RdfFormat.TRIX})
_LAST_TOKEN = re.compile(rb"[^\s;,()\[\]]*+\Z")


@dataclass(slots=True)
class Reading:
    """What one document gave.

    The quads are in ``nquads`` (UTF-8, whole lines) or, when many, in the file ``spool``, which
    the caller owns.
    """

    detection: Detection
    nquads: bytes = b""
    spool: Path | None = None
    quads: int = 0
    errors: list[DocumentError] = field(default_factory=list)
    error_count: int = 0
    #: whether the quads come out of data embedded in a page
    embedded: bool = False
    #: JSON-LD contexts that were asked for and not at hand
    contexts_needed: tuple[str, ...] = ()
    #: quads by kind of embedded data (values of :class:`Embedded`)
    counts: dict[str, int] = field(default_factory=dict)
    _url: str = ""
    _options: ReadOptions = field(default_factory=ReadOptions)
    _links: list[RdfLink] | None = None

    @property
    def links(self) -> list[RdfLink]:
        """IRIs worth a fetch, as the options choose them; looked for when first asked."""
        if self._links is None:
            if self.spool is None:
                self._links = list(find_links([self.nquads], self._url, self._options))
            else:
                with self.spool.open("rb") as lines:
                    self._links = list(find_links(lines, self._url, self._options))
        return self._links


def read(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    *,
    contexts: Mapping[str, bytes] | None = None,
    detection: Detection | None = None,
) -> Reading:
    """Read the RDF document ``body`` that was fetched from the final URL ``url``.

    Base and default graph name are ``url``. Errors are recorded in the reading, with line and
    column, and what is good before and after them is kept. A body that is no RDF gives no quad.
    ``detection`` saves looking again. Never raises for what the body holds.
    """
    found = detection or detect(body, content_type, url)
    errors = ErrorLog(options)
    graph = iri_of(url)
    sink = QuadSink(graph, options)
    needed: tuple[str, ...] = ()
    if found.kind is Kind.RDF and found.format is not None and found.compression is None:
        try:
            data, _ = to_utf8(body, content_type)
            needed = _parse(data, found.format, graph, sink, errors, options, contexts)
        except LimitReached as limit:
            errors.count += 1
            errors.kept.append(DocumentError(str(limit)))
    reading = finish(found, url, sink, errors, options)
    reading.contexts_needed = needed
    return reading


def finish(
    found: Detection, url: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
) -> Reading:
    """Close the sink and put all that was found together."""
    nquads = sink.finish()
    return Reading(
        found, nquads, sink.spool, sink.quads, errors.kept, errors.count,
        _url=url, _options=options,
    )  # fmt: skip


def _parse(
    data: bytes,
    syntax: RdfFormat,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None,
) -> tuple[str, ...]:
    sink.has_graphs = syntax in _WITH_GRAPHS
    sink.names.all_labelled = syntax in _ALL_LABELLED
    if syntax is RdfFormat.JSON_LD:
        return parse_jsonld(data, base, sink, errors, options, contexts)
    if syntax in (RdfFormat.RDF_XML, RdfFormat.TRIX):
        data = rdfxml.guard_entities(data, options.max_entity_bytes)
        guard_xml(data, options.max_depth)
        if syntax is RdfFormat.RDF_XML:
            rdfxml.parse(data, base, sink, errors)
        else:
            trix.parse_trix(data, base, sink, errors)
        return ()
    guard_triple_terms(data, options.max_depth)
    if syntax in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS):
        linewise.parse_lines(data, _OXIGRAPH[syntax], sink, errors)
    else:
        data = without_cut_token(data)
        resume(pyoxigraph.parse(data, _OXIGRAPH[syntax], base_iri=base), sink, errors)
    return ()


def without_cut_token(data: bytes) -> bytes:
    """Return Turtle text without a last token that may be half of one.

    A statement that is not closed at the end of a document is kept when its last token is whole. A
    name, a number or a string directly before the end may be the first part of a longer one (or
    lack its language or datatype), and would make a statement that the document does not hold.
    """
    if not data or data[-1:] in b" \t\r\n.>]);,}" or data.rstrip()[-1:] == b".":
        return data
    last_line = data[data.rfind(b"\n") + 1 :]
    if b"#" in last_line or last_line.lstrip()[:8].lower() in (b"version ", b"@version"):
        return data
    token = _LAST_TOKEN.search(data, max(len(data) - 4096, 0))
    return data[: token.start()] if token else data


def resume(source: pyoxigraph.QuadParser, sink: QuadSink, errors: ErrorLog) -> None:
    """Serialise all that ``source`` gives, going on after each error."""
    target = pyoxigraph.RdfFormat.N_QUADS if sink.has_graphs else pyoxigraph.RdfFormat.N_TRIPLES
    while True:
        try:
            pyoxigraph.serialize(source, sink.file, target)
        except SyntaxError as error:
            errors.add_syntax(error)
            errors.check_time()
            continue
        return
