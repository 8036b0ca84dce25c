"""Reads Turtle, TriG and N3: what is sound fast, what is not to the triple.

The text goes to pyoxigraph in pieces of whole statements. A piece that it parses without an error
is right: the grammar leaves no choice, and a piece cut at a wrong place, inside a statement, is an
error. Where it finds an error, it would take parts of tokens for terms, and lose the rest of the
statement and its graph. There :class:`StatementReader` reads the statement. What that writes,
pyoxigraph reads again as N-Triples or N-Quads.
"""

from __future__ import annotations

import numpy as np
import pyoxigraph

from semcrawl.rdf.limits import ErrorLog, LimitReached, PlacedErrors, position_of
from semcrawl.rdf.sink import (
    NO_LANGUAGE,
    HeldLines,
    QuadSink,
    TooMuch,
    guard_triple_terms,
    has_pair,
)
from semcrawl.rdf.streams import Readable
from semcrawl.rdf.syntaxes._turtlestatements import StatementReader
from semcrawl.rdf.syntaxes.ntriples import parse_lines
from semcrawl.rdf.syntaxes.turtletokens import Terms, Window

Format = pyoxigraph.RdfFormat

#: bytes of a piece, and of the longest one, for a statement that is longer
_PIECE = 1 << 20
_LONGEST_PIECE = 1 << 25
_SHORTEST_PIECE = 1 << 10
#: bytes of lines that are held until their piece is known to be sound
_MOST_LINES = 1 << 24
#: bytes that are read statement by statement after an error; doubled at each further one
_FIRST_REACH, _LONGEST_REACH = 1 << 12, 1 << 26
#: closes a graph after a piece; the statement, which is left out again, needs a dot before
_LAST = b"\n<a:b> <a:b> <a:b> }"
_UNEXPECTED_END = "Unexpected end"


def parse(
    data: bytes,
    syntax: pyoxigraph.RdfFormat,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    max_depth: int,
) -> None:
    """Read a whole document of Turtle, TriG or N3. Raises :class:`LimitReached`."""
    _Reader(Window(data), syntax, base, sink, errors, max_depth).read()


def parse_file(
    file: Readable,
    syntax: pyoxigraph.RdfFormat,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    max_depth: int,
) -> None:
    """Read a document of any size in bounded memory. Raises :class:`LimitReached`."""
    _Reader(Window(b"", file), syntax, base, sink, errors, max_depth).read()


class _Reader:
    """Reads one document, piece by piece."""

    def __init__(
        self,
        window: Window,
        syntax: pyoxigraph.RdfFormat,
        base: str,
        sink: QuadSink,
        errors: ErrorLog,
        max_depth: int,
    ) -> None:
        self._window = window
        self._syntax = syntax
        self._sink = sink
        self._errors = errors
        self._max_depth = max_depth
        self._target = Format.N_QUADS if sink.has_graphs else Format.N_TRIPLES
        # in TriG what follows an IRI that is not closed may belong to another graph
        self._terms = Terms(base, {}, n3=syntax == Format.N3, spaces=syntax != Format.TRIG)
        #: the opening of the graph at the start of the window; empty: none is open
        self._block = b""
        self._size = _PIECE
        self._reach = 0

    def read(self) -> None:
        """Read all of the document."""
        window, sink = self._window, self._sink
        sink.flush()
        while True:
            while len(window.data) - window.start < self._size and not window.ended:
                window.more(window.start)
            if window.start >= len(window.data):
                break
            self._read_piece()
            self._errors.check_time()

    def _read_piece(self) -> None:
        window = self._window
        start = window.start
        rest = len(window.data) - start
        whole = window.ended and rest <= self._size
        end = (
            len(window.data) if whole and not self._block else self._cut(start, start + self._size)
        )
        if end <= start:
            # a long graph, or one that begins here
            self._read_slowly(start + self._size if self._block else start)
            return
        fault = self._parse(start, end)
        if fault is None:
            if window.start > start:
                self._reach = 0
                self._size = min(max(2 * self._size, _FIRST_REACH), _PIECE)
            return
        message, line = fault
        lines = self._line_starts(start, end)
        cut_inside = message.startswith(_UNEXPECTED_END) or line > len(lines)
        if cut_inside and not whole and self._syntax != Format.TRIG:
            if self._size < _LONGEST_PIECE:
                self._size *= 2  # a statement longer than the piece
                return
            line = 0
        wrong = int(lines[min(line, len(lines)) - 1]) if line else start
        before = self._cut(start, wrong)
        if start < before <= wrong and self._parse(start, before) is None:
            start = before
        self._read_slowly((end - 1 if not line else wrong) + self._reach)
        self._reach = min(max(2 * self._reach, _FIRST_REACH), _LONGEST_REACH)

    def _cut(self, start: int, end: int) -> int:
        """Return the end of the last line before ``end`` that seems to end a statement, or 0.

        In an open graph that is also open at the end, no brace may be before. Else it is closed.
        """
        data = self._window.data
        if self._syntax != Format.TRIG:
            return _last_line(data, b".", start, end)
        closed = data.rfind(b"}", start, end)
        if self._block and closed < 0 and data.find(b"{", start, end) < 0:
            return _last_line(data, b".", start, end)
        opened = data.rfind(b"{", start, end)
        if opened > closed or self._block:
            return _last_line(data, b"}", start, min(end, closed + 2))
        return max(_last_line(data, b".", start, end), _last_line(data, b"}", start, end))

    def _parse(self, start: int, end: int) -> tuple[str, int] | None:
        """Parse a part of the window and consume it; return the error and its line if there is one.

        The line is counted from 1 at ``start``, and 0 if it is not known.
        """
        window, terms = self._window, self._terms
        piece = window.data[start:end]
        if has_pair(piece, b"<", b"<"):
            try:
                guard_triple_terms(piece, self._max_depth)
            except LimitReached as limit:
                return str(limit), 0
        if terms.base is None:
            return "", 0
        head = self._head()
        stays_open = bool(self._block) and b"}" not in piece
        text = b"".join((head, piece, _LAST if stays_open else b""))
        source = pyoxigraph.parse(text, self._syntax, base_iri=terms.base)
        output = HeldLines(_MOST_LINES)
        try:
            pyoxigraph.serialize(source, output.file, self._target)
        except TooMuch:
            self._size //= 4
            return ("", 0) if self._size < _SHORTEST_PIECE else None
        except SyntaxError as error:
            message, line, _ = position_of(error)
            return message, max(line - head.count(b"\n"), 0)
        pieces = output.pieces
        if stays_open:
            last, before = b"", -1
            while pieces and before < 0:
                last = pieces.pop() + last
                before = last.rfind(b"\n", 0, -1)
            pieces.append(last[: before + 1])
        if self._syntax == Format.N3 and NO_LANGUAGE.search(b"".join(pieces)):
            return "", 0
        sink = self._sink
        # a brace that is the last sign of sound text closes the graph that is open
        in_one = stays_open or (
            b"{" not in piece and piece.count(b"}") == 1 and piece.rstrip().endswith(b"}")
        )
        sink.all_named = in_one and len(self._block) > 2
        for lines in pieces:
            sink.write(lines)
        sink.flush()
        window.start = end
        if not stays_open:
            self._block = b""
        terms.set(source.base_iri or terms.base, source.prefixes)
        return None

    def _head(self) -> bytes:
        """Return one line that repeats the declarations and reopens the graph."""
        names = "".join(
            f"@prefix {name}: <{iri}> . "
            for name, iri in self._terms.prefixes.items()
            if iri is not None
        )
        return names.encode() + self._block + b"\n" if names or self._block else b""

    def _line_starts(self, start: int, end: int) -> np.ndarray:
        """Return the positions where the lines of a part of the window begin."""
        octets = np.frombuffer(self._window.data, np.uint8, end - start, start)
        ends = octets == ord("\n")
        returns = octets == ord("\r")
        returns[:-1] &= ~ends[1:]
        return np.concatenate(([start], np.flatnonzero(ends | returns) + 1 + start))

    def _read_slowly(self, until: int) -> None:
        """Read statements to the index ``until`` of the window."""
        window, sink = self._window, self._sink
        sink.all_named = False
        reader = StatementReader(
            window,
            self._terms,
            self._errors,
            self._write,
            graphs=self._syntax == Format.TRIG,
            n3=self._syntax == Format.N3,
            max_depth=self._max_depth,
        )
        if self._block:
            reader.enter(self._block)
        reader.run(window.base + max(until, window.start) + 1)
        self._block = reader.block

    def _write(self, lines: bytes, places: list[int]) -> None:
        """Let the strict parser read the lines of statements."""
        window = self._window
        log = PlacedErrors(self._errors, lambda line: window.position(places[line - 1]))
        parse_lines(lines, self._target, self._sink, log, self._max_depth + 1)


def _last_line(data: bytes, sign: bytes, start: int, end: int) -> int:
    """Return the end of the last line in a part of ``data`` that ends with ``sign``; 0: none."""
    end = min(end, len(data))
    found = max(
        data.rfind(sign + b"\n", start, end),
        data.rfind(sign + b"\r\n", start, end) + 1,
        data.rfind(sign + b" \n", start, end) + 1,
        data.rfind(sign + b"\r", start, end) if b"\n" not in data[start : start + 4096] else -1,
    )
    return found + len(sign) + 1 if found > start else 0
