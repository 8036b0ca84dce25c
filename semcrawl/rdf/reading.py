"""From a body or a file to finished quads: the one entrance to all syntaxes and archives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO

from semcrawl.items import DocumentError
from semcrawl.rdf.detecting.detection import HEAD, Detection, detect
from semcrawl.rdf.errors import ErrorLog, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.output.rdflinks import RdfLink, find_links
from semcrawl.rdf.output.sink import QuadSink
from semcrawl.rdf.packed.archives import walk
from semcrawl.rdf.packed.streams import Budget, SafeFile
from semcrawl.rdf.parsing import Parser
from semcrawl.rdf.terms import iri_of
from semcrawl.web.vocabulary import Kind


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, as it was read."""

    name: str
    detection: Detection
    quads: int
    errors: int


@dataclass(slots=True)
class Reading:
    """The yield of one document.

    The quads are in ``nquads`` (UTF-8, whole lines) or, when many, in the file ``spool``, which
    the caller owns.
    """

    detection: Detection
    nquads: bytes = b""
    spool: Path | None = None
    quads: int = 0
    #: the first errors; a member of an archive is named in the message
    errors: list[DocumentError] = field(default_factory=list)
    error_count: int = 0
    #: whether the quads come out of data embedded in a page
    embedded: bool = False
    #: JSON-LD contexts that were asked for and not at hand
    contexts_needed: tuple[str, ...] = ()
    #: quads by kind of embedded data (values of :class:`Embedded`)
    counts: dict[str, int] = field(default_factory=dict)
    #: the files of an archive that were looked at
    members: list[Member] = field(default_factory=list)
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
    column, and what is good before and after them is kept. A body that is no RDF gives no quad;
    one that is compressed or an archive is read as :func:`read_stream` does. ``contexts`` are
    JSON-LD contexts by URL; ``detection`` saves looking again. Never raises for what the body
    holds.
    """
    found = detection or detect(body, content_type, url)
    if found.compression is not None:
        return read_stream(BytesIO(body), url, content_type, options, contexts=contexts)
    errors = ErrorLog(options)
    graph = iri_of(url)
    sink = QuadSink(graph, options)
    sink.report = errors.add
    parser = Parser(sink, errors, Budget(options), contexts)
    if found.kind is Kind.RDF and found.format is not None:
        try:
            parser.parse(body, content_type, found.format, graph)
        except (LimitReached, ValueError) as limit:  # ValueError: the URL is no base
            errors.add_final(str(limit))
        except MemoryError as error:  # so does the parser call a term that it has no room for
            errors.add_final(str(error) or "too little memory")
    reading = finish(found, url, sink, errors, options)
    reading.contexts_needed = tuple(parser.contexts_needed)
    return reading


def read_stream(
    file: IO[bytes],
    url: str,
    content_type: str | None = None,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    *,
    contexts: Mapping[str, bytes] | None = None,
    detection: Detection | None = None,
) -> Reading:
    """Read a dump of any size, compressed or an archive or neither, in bounded memory.

    As :func:`read`, and each file of an archive is told in :attr:`Reading.members`. Blank nodes of
    different members are different. With ``options.member_graphs`` the default graph of a member is
    named ``url#name``, else ``url``. ``detection`` saves detecting the type of a file that is not
    packed. Never raises for what the file holds.
    """
    errors = ErrorLog(options)
    graph = iri_of(url)
    sink = QuadSink(graph, options)
    sink.report = errors.add
    budget = Budget(options)
    parser = Parser(sink, errors, budget, contexts)
    members: list[Member] = []
    first: list[Detection] = []

    def visit(name: str, content: SafeFile) -> None:
        where = name or url
        label = content_type if not name and not _is_packing(content_type) else None
        plain = detection if not name and detection and detection.compression is None else None
        found = plain or detect(content.peek(HEAD * 4), label, where)
        first.append(found)
        count, faults = sink.quads, errors.count
        errors.member = name
        if found.kind is Kind.RDF and found.format is not None and found.compression is None:
            if name:
                sink.enter_member(name)
            try:
                parser.parse_file(content, label, found.format, graph)
            except MemoryError as error:
                errors.add(str(error) or "too little memory")
            finally:
                sink.flush()
        if name and len(members) < options.max_members:
            members.append(Member(name, found, sink.quads - count, errors.count - faults))
        errors.member = ""

    try:
        walk(file, url.partition("?")[0], budget, visit, errors.add)
    except (LimitReached, ValueError) as limit:
        errors.add_final(str(limit))
    best = next((d for d in first if d.kind is Kind.RDF), None) or (
        first[0] if first else Detection(Kind.OTHER, None, 0.3, "nothing could be unpacked")
    )
    reading = finish(best, url, sink, errors, options)
    reading.contexts_needed = tuple(parser.contexts_needed)
    reading.members = members
    return reading


def finish(
    found: Detection, url: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
) -> Reading:
    """Close the sink and put all that was found together."""
    try:
        nquads = sink.finish()
    except LimitReached as limit:
        errors.add_final(str(limit))
        nquads = sink.finish()
    return Reading(
        found, nquads, sink.spool, sink.quads, errors.kept, errors.count,
        _url=url, _options=options,
    )  # fmt: skip


def _is_packing(content_type: str | None) -> bool:
    """Whether a media type speaks of the packing only."""
    media = (content_type or "").partition(";")[0].strip().lower()
    return any(
        word in media for word in ("zip", "tar", "bzip", "xz", "zstd", "brotli", "octet-stream")
    )
