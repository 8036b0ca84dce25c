"""What a triple store must do, and the statements that are sent.

Compares statements of a graph in a store with those of a document.
Stores rename blank nodes and may rewrite typed literals (``"01"^^xsd:integer`` as 1). So any two
blank nodes, and any two typed literals, count as equal. Texts and IRIs must be the same.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any, Protocol, TypeAlias

import pyoxigraph

from semcrawl.errors import StoreError
from semcrawl.rdf.sink import graph_of, is_all_in, line_ending, whole_lines

#: a statement in comparable form: stores do not change it
Statement: TypeAlias = tuple[str, str, str]

_BLANK = "_:"
_TYPED = '""^^'
_PLAIN = frozenset(
    {
        "http://www.w3.org/2001/XMLSchema#string",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    }
)


def is_part_of(there: Iterable[Statement], lines: Iterable[bytes]) -> bool:
    """Whether all the statements of a graph are among those of N-Triples lines.

    It is false for lines that cannot be parsed.
    """
    left = set(there)
    if not left:
        return True
    try:
        for piece in lines:
            left.difference_update(statements_of(piece))
            if not left:
                return True
    except (SyntaxError, ValueError):
        return False
    return False


def holds(store: GraphStore, content: GraphContent) -> bool:
    """Whether a store's graph has exactly its content, as far as stores do not change it.

    Of a graph with more than :data:`MOST_STATEMENTS`, so many are compared, and the number. Raises
    :class:`StoreUnavailable`, and ``SyntaxError`` or ``ValueError`` for lines that are invalid.
    """
    # hashes, as a document may have millions of statements
    wanted = {hash(each) for lines in content.triples() for each in statements_of(lines)}
    there = {hash(each) for each in store.statements(content.name)}
    if len(wanted) < MOST_STATEMENTS:
        return there == wanted
    return len(there) > 0 and there <= wanted and store.count(content.name) >= len(wanted)


def first_of(there: Iterable[Statement]) -> str:
    """Return the first statement as a line without its end; empty if there is none."""
    return "\t".join(next(iter(there), ())).replace("\\", "\\\\").replace("\n", "\\n")


def statements_of(ntriples: bytes) -> Iterator[Statement]:
    """Yield the statements of N-Triples; raise ``SyntaxError`` or ``ValueError`` if invalid."""
    for quad in pyoxigraph.parse(BytesIO(ntriples), pyoxigraph.RdfFormat.N_TRIPLES, lenient=True):
        yield statement(quad.subject, quad.predicate, quad.object)


def statement(*terms: object) -> Statement:
    """Return the comparable form of a statement's three terms."""
    subject, predicate, value = map(_plain, terms)
    return subject, predicate, value


def _plain(term: object) -> str:
    if isinstance(term, pyoxigraph.NamedNode):
        return f"<{term.value}>"
    if isinstance(term, pyoxigraph.BlankNode):
        return _BLANK
    if isinstance(term, pyoxigraph.Literal):
        return _literal(term.value, term.language or "", term.datatype.value)
    return _TYPED  # a statement about a statement


def of_binding(binding: Mapping[str, Any]) -> Statement:
    """Return the statement in a row of SPARQL's JSON results with variables s, p and o."""
    subject, predicate, value = (_of_json(binding[name]) for name in "spo")
    return subject, predicate, value


def _of_json(term: Mapping[str, Any]) -> str:
    kind = term["type"]
    # Virtuoso sometimes returns blank nodes as IRIs
    if kind == "bnode" or term["value"].startswith("nodeID://"):
        return _BLANK
    if kind == "uri":
        return f"<{term['value']}>"
    if kind in ("literal", "typed-literal"):
        return _literal(term["value"], term.get("xml:lang", ""), term.get("datatype", ""))
    return _TYPED


def _literal(value: str, language: str, datatype: str) -> str:
    if language or not datatype or datatype in _PLAIN:
        return f'"{value}"@{language.lower()}'
    return _TYPED


CHUNK_SIZE = 1 << 20
#: most runs of lines whose places are remembered for a document (16 bytes each)
_MOST_RUNS = 4_000_000


@dataclass(slots=True)
class Span:
    """The lines of one document in a file of quads.

    A document may have statements in tens of thousands of graphs. For the second graph, the places
    of all graphs' lines are noted, so that the lines are not read once per graph.
    """

    #: opened for reading
    file: IO[bytes]
    url: str
    #: bytes
    offset: int
    length: int
    quads: int = 0
    #: whether the document is known to have lines of several graphs
    _mixed: bool = field(default=False, init=False, repr=False)
    #: by graph, offset and length of each run of its lines; empty if there are too many runs
    _runs: dict[str, array[int]] | None = field(default=None, init=False, repr=False)

    def lines(self, graph: str) -> Iterator[bytes]:
        """Yield whole lines of a graph; ``""`` is the default graph."""
        if self._mixed and self._runs is None:
            self._find_runs()
        if self._runs:
            yield from _gathered(self._lines_of(self._runs.get(graph, array("Q"))))
            return
        ending = line_ending(graph)
        for lines in whole_lines(self._pieces(self.offset, self.length)):
            if graph and is_all_in(lines, graph):
                yield lines
                continue
            self._mixed = True
            of_graph = (
                line
                for line in lines.splitlines(keepends=True)
                if (line.endswith(ending) if graph else not graph_of(line))
            )
            if found := b"".join(of_graph):
                yield found

    def _lines_of(self, places: array[int]) -> Iterator[bytes]:
        for offset, length in zip(places[::2], places[1::2], strict=True):
            yield from whole_lines(self._pieces(offset, length))

    def _find_runs(self) -> None:
        """Note where the lines of each graph are, unless there are too many runs."""
        runs: dict[str, array[int]] = {}
        at, count, graph, ending = self.offset, 0, "", b""
        places: array[int] = array("Q")
        for lines in whole_lines(self._pieces(self.offset, self.length)):
            for line in lines.splitlines(keepends=True):
                if not (ending and line.endswith(ending)):
                    graph = graph_of(line)
                    ending = line_ending(graph) if graph else b""
                    places = runs.setdefault(graph, array("Q"))
                if places and places[-2] + places[-1] == at:
                    places[-1] += len(line)
                else:
                    places.extend((at, len(line)))
                    count += 1
                at += len(line)
            if count > _MOST_RUNS:
                runs = {}
                break
        self._runs = runs

    def _pieces(self, offset: int, length: int) -> Iterator[bytes]:
        left = min(length, self.offset + self.length - offset)
        while left > 0:
            piece = os.pread(self.file.fileno(), min(CHUNK_SIZE, left), offset)
            if not piece:
                return
            yield piece
            offset += len(piece)
            left -= len(piece)


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join pieces into chunks, so that the caller need not send single lines."""
    some: list[bytes] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size >= CHUNK_SIZE:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)


#: statements of a graph that are read to find out who made it
MOST_STATEMENTS = 10_000


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the server
    """The store is down or refuses everything; a later try may work."""


class StoreRefused(StoreError):  # noqa: N818 - the store's word on one batch
    """The store works, but refuses these statements."""


@dataclass(slots=True)
class GraphContent:
    """The content that a graph must have: lines of one document, under its name in the store."""

    #: the graph's name in the store, an IRI as N-Quads writes it
    name: str
    #: places of lines, each with the graph name in the lines; empty for the default graph
    parts: list[tuple[Span, str]] = field(default_factory=list)
    #: statements of our own about graphs, lines of N-Triples
    about: bytes = b""
    #: whether the store holds no graph of this name
    is_new: bool = False

    @property
    def is_as_written(self) -> bool:
        """Whether all content is lines that have the graph's name in the store already."""
        return not self.about and all(stated == self.name for _, stated in self.parts)

    @property
    def size(self) -> int:
        """Bytes to read, at least as many as the graph has."""
        return len(self.about) + sum(span.length for span in self._spans())

    @property
    def quads(self) -> int:
        """Statements to read, at least as many as the graph has."""
        return self.about.count(b"\n") + sum(span.quads for span in self._spans())

    def is_empty(self) -> bool:
        """Whether the graph has no statements."""
        return next(self.triples(), None) is None

    def witness(self) -> str:
        """Return a statement of the graph, in comparable form; empty if there is none."""
        line = next(self.triples(), b"").partition(b"\n")[0]
        try:
            return first_of(statements_of(line))
        except (SyntaxError, ValueError):
            return ""

    def has_blank_nodes(self) -> bool:
        """Whether the statements may have blank nodes."""
        return any(b"_:" in lines for lines in self.triples())

    def triples(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Triples."""
        yield from self._lines(b" .\n")

    def quad_lines(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Quads."""
        yield from self._lines(line_ending(self.name))

    def _lines(self, ending: bytes) -> Iterator[bytes]:
        """Yield whole lines with this ending instead of their own graph name."""
        for span, stated in self.parts:
            stated_ending = line_ending(stated) if stated else b" .\n"
            for lines in span.lines(stated):
                yield lines if stated_ending == ending else lines.replace(stated_ending, ending)
        if self.about:
            yield self.about.replace(b" .\n", ending)

    def _spans(self) -> list[Span]:
        return list({id(span): span for span, _ in self.parts}.values())


class GraphStore(Protocol):
    """A triple store."""

    #: name of the store in the ledger: without a password, and the same in every run
    target: str

    def existing(self, names: Collection[str]) -> set[str]:
        """Return which of the graphs the store holds, whoever made them.

        Raises :class:`StoreUnavailable` if it is down or does not tell.
        """
        ...

    def statements(self, name: str, limit: int = MOST_STATEMENTS) -> Iterator[Statement]:
        """Yield at most ``limit`` statements of a graph; raise :class:`StoreUnavailable`."""
        ...

    def count(self, name: str) -> int:
        """Return how many statements a graph has; raise :class:`StoreUnavailable`."""
        ...

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content; drop graphs without content.

        It may be repeated if the contents are no longer marked as new. Raises
        :class:`StoreUnavailable` if the store is down, and :class:`StoreRefused` if it works but
        refuses these statements.
        """
        ...

    def update(self, text: str) -> None:
        """Run a SPARQL Update; raise as :meth:`replace` does."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...
