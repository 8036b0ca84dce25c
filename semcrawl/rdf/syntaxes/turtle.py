"""Reads Turtle, TriG and N3, and resumes after an unterminated string.

After such a string the parser takes text for strings and strings for text. So it restarts, with the
declarations repeated, at a line that seems to begin a statement and follows a line that ends with a
dot.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import IO, cast

import pyoxigraph

from semcrawl.rdf.guards import guard_triple_terms
from semcrawl.rdf.limits import Budget, ErrorLog, LimitReached, position_of
from semcrawl.rdf.packed.streams import LineByLine, Readable, SafeFile
from semcrawl.rdf.patterns import re
from semcrawl.rdf.quadlines import has_pair
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.syntaxes.blocks import all_in_named_graphs

#: errors after which the parser may take strings for text
_STRING_FAULTS = ("Line jumps are not allowed in string literals", "Unexpected end of file")
_BEGINNING = rb"(?=<|_:|\[|[A-Za-z][\w.-]*:|:\w|@prefix|@base|(?i:prefix|base)\s"
_NEXT_STATEMENT = re.compile(rb"\.[ \t]*\r?\n\s*?^" + _BEGINNING + rb")", re.MULTILINE)
_NEXT_IN_BLOCKS = re.compile(
    rb"[.{}][ \t]*\r?\n\s*?^[ \t]*+" + _BEGINNING + rb"|[{}]|(?i:graph)\s)", re.MULTILINE
)
_BRACES = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+"""|'
    rb"'''(?:[^'\\]|\\.|'(?!''))*+'''|"
    rb'"(?:[^"\\\n\r]|\\.)*+"|'
    rb"'(?:[^'\\\n\r]|\\.)*+'|"
    rb"<[^<>\s\"{}]*+>|#[^\n\r]*+|(\{)|(\})",
    re.DOTALL,
)
_GRAPH_NAME = re.compile(
    rb"(<[^<>\s\"{}]*>|_:[^\s{}<>\"]+|[^\s{}<>\"\[\].;,]*:[^\s{}<>\"]*|\])\s*\Z"
)
_LONGEST_NAME = 4096
_MAX_RESTARTS = 100
_KEPT = 1 << 16
_READ = 1 << 20
#: bytes at the end of a file that may hold its last token
_HELD_BACK = 4096
_LAST_TOKEN = re.compile(rb"[^\s;,()\[\]]*+\Z")
_FARTHEST = 1 << 24

Format = pyoxigraph.RdfFormat


def parse(
    data: bytes,
    syntax: pyoxigraph.RdfFormat,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    budget: Budget,
) -> None:
    """Read a whole document of Turtle, TriG or N3. Raises :class:`LimitReached`."""
    if has_pair(data, b"<", b"<"):
        guard_triple_terms(data, budget.options.max_depth)
    text = without_cut_token(data)
    if syntax == Format.N3:
        _parse_n3(text, base, sink, errors, budget)
    else:
        sink.all_named = syntax == Format.TRIG and all_in_named_graphs(text)
        parse_whole(text, syntax, base, sink, errors)
    if len(text) < len(data):
        _note_cut(errors, data.count(b"\n") + 1)


def parse_file(
    file: Readable,
    syntax: pyoxigraph.RdfFormat,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    max_depth: int,
) -> None:
    """Read a document of any size in bounded memory. Raises :class:`LimitReached`."""
    guarded = _GuardedFile(file, max_depth)
    parse_stream(guarded, syntax, base, sink, errors)
    if guarded.cut_line:
        _note_cut(errors, guarded.cut_line)


def _note_cut(errors: ErrorLog, line: int) -> None:
    """Record that a document ends inside a token, unless the parser reported its end."""
    if not errors.last.startswith("Unexpected end"):
        errors.add("the document ends inside a token", line)


def _parse_n3(data: bytes, base: str, sink: QuadSink, errors: ErrorLog, budget: Budget) -> None:
    """Read N3 line by line, as the parser gives no position for statements that are not RDF."""
    file = SafeFile(BytesIO(b""), budget)

    def wrapped(text: bytes, lines_before: int) -> Readable:
        nonlocal file
        file = SafeFile(BytesIO(text), budget, counted=False)
        lines = LineByLine(file)
        errors.line_now = lambda: lines.number + lines_before
        return lines

    try:
        parse_whole(data, Format.N3, base, sink, errors, wrapped)
    finally:
        errors.line_now = None
    if file.fault:
        raise LimitReached(file.fault)


def resume(
    source: pyoxigraph.QuadParser,
    sink: QuadSink,
    errors: ErrorLog,
    first_line: int = 1,
    until: tuple[str, ...] = (),
) -> SyntaxError | None:
    """Serialise all of ``source``, across errors.

    Returns at the first error whose message begins with one of ``until``.
    """
    target = Format.N_QUADS if sink.has_graphs else Format.N_TRIPLES
    while True:
        try:
            pyoxigraph.serialize(source, sink.file, target)
        except SyntaxError as error:
            errors.add_syntax(error, first_line)
            errors.check_time()
            if sink.all_named:  # true up to here; an error may take the parser out of a graph
                sink.flush()
                sink.all_named = False
            if until and position_of(error)[0].startswith(until):
                return error
            continue
        return None


def parse_whole(
    data: bytes,
    syntax: pyoxigraph.RdfFormat,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    wrapped: Callable[[bytes, int], Readable] | None = None,
) -> None:
    """Read a whole document; an unterminated string costs its statement only.

    ``wrapped`` makes a file from text and the number of lines before it. Raises
    :class:`LimitReached` after such a string in a formula or an unnamed graph.
    """
    head, start, lines_before = b"", 0, 0
    block: bytes | None = b""
    for _ in range(_MAX_RESTARTS):
        text = head + data[start:] if start else data
        source = _parser(wrapped(text, lines_before) if wrapped else text, syntax, base)
        fault = resume(source, sink, errors, lines_before + 1, _STRING_FAULTS)
        if fault is None:
            return
        place = start
        for _ in range(position_of(fault)[1] - bool(head) - 1):
            place = data.find(b"\n", place) + 1
        pattern = _NEXT_STATEMENT if syntax == Format.TURTLE else _NEXT_IN_BLOCKS
        following = pattern.search(data, place)
        if following is None:
            return
        if syntax != Format.TURTLE:
            block = _open_block(data[start:place], block)
            block = _open_block(data[place : following.end()], block, skipped=True)
            if block is None or (block and syntax == Format.N3):
                raise LimitReached("the rest after an unterminated string is not read")
        start = following.end()
        head = _declarations(source, base, block or b"")
        lines_before = data.count(b"\n", 0, start) - 1  # the head is a line too
    _give_up(errors, lines_before)


def parse_stream(
    file: Readable, syntax: pyoxigraph.RdfFormat, base: str, sink: QuadSink, errors: ErrorLog
) -> None:
    """Read a document of any size; an unterminated string in Turtle costs its statement only.

    In TriG and N3 it raises :class:`LimitReached`, as the open graph or formula is unknown.
    """
    window = _Window(file)
    for _ in range(_MAX_RESTARTS):
        source = _parser(window, syntax, base)
        fault = resume(source, sink, errors, window.first_line, _STRING_FAULTS)
        if fault is None:
            return
        line = position_of(fault)[1] + window.first_line - 1
        if syntax != Format.TURTLE or not window.skip(line, _NEXT_STATEMENT):
            raise LimitReached("the rest after an unterminated string is not read")
        window.put_before(_declarations(source, base, b""))
    _give_up(errors, window.first_line)


def _parser(
    text: bytes | Readable, syntax: pyoxigraph.RdfFormat, base: str
) -> pyoxigraph.QuadParser:
    return pyoxigraph.parse(cast("bytes | IO[bytes]", text), syntax, base_iri=base)


def _give_up(errors: ErrorLog, line: int) -> None:
    errors.add(f"more than {_MAX_RESTARTS} unterminated strings; the rest is not read", line)


def _declarations(source: pyoxigraph.QuadParser, base: str, block: bytes) -> bytes:
    """Return one line that repeats the declarations of ``source`` and reopens the block."""
    names = "".join(f"@prefix {name}: <{iri}> . " for name, iri in source.prefixes.items())
    return f"@base <{source.base_iri or base}> . {names}".encode() + block + b"\n"


def _open_block(text: bytes, block: bytes | None, *, skipped: bool = False) -> bytes | None:
    """Return the opening of the block open at the end of ``text``; empty if there is none.

    ``block`` is the one open at the start. None if the block has no name to repeat. In ``skipped``
    text only an opening brace that ends a line and a closing one that begins a line count.
    """
    depth = 1 if block is None or block else 0
    braces = re.finditer(rb"(\{)[ \t]*$|^[ \t]*(\})", text, re.M) if skipped else None
    for brace in braces or _BRACES.finditer(text):
        if brace[1]:
            depth += 1
            before = text[max(brace.start() - _LONGEST_NAME, 0) : brace.start()]
            name = _GRAPH_NAME.search(before)
            anonymous = depth > 1 or (name is not None and name[1] == b"]")
            block = None if anonymous else (name[1] if name else b"") + b" {"
        elif brace[2]:
            depth = max(depth - 1, 0)
            block = None if depth else b""
    return block


class _Window:
    """Keeps the last text read from a file, to go back to one of its lines."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        #: text to return before more of the file
        self._held = b""
        self._given: list[bytes] = []
        self._size = 0
        #: number of the first line of ``_given``
        self._line = 1
        #: line of the document that the parser counts as 1
        self.first_line = 1

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            size = _READ
        if self._held:
            data, self._held = self._held[:size], self._held[size:]
        else:
            data = self._file.read(size)
        self._given.append(data)
        self._size += len(data)
        if self._size > 2 * _KEPT:
            text = b"".join(self._given)
            cut = text.rfind(b"\n", 0, len(text) - _KEPT) + 1
            self._line += text.count(b"\n", 0, cut)
            self._given, self._size = [text[cut:]], len(text) - cut
        return data

    def skip(self, line: int, pattern: re.Pattern[bytes]) -> bool:
        """Skip to the end of the first match of ``pattern`` from ``line`` on; False if none."""
        text = b"".join(self._given) + self._held
        start = 0
        for _ in range(line - self._line):
            start = text.find(b"\n", start) + 1
            if not start:
                return False
        if line < self._line:
            return False
        while (found := pattern.search(text, start)) is None:
            data = self._file.read(_READ)
            if not data or len(text) > _FARTHEST:
                return False
            text += data
        self._line += text.count(b"\n", 0, found.end())
        self._held, self._given, self._size = text[found.end() :], [], 0
        self.first_line = self._line
        return True

    def put_before(self, head: bytes) -> None:
        """Insert a line that is not the document's before the text."""
        self._held = head + self._held
        self._line -= 1
        self.first_line -= 1


def without_cut_token(data: bytes) -> bytes:
    """Return Turtle text without a last token that may be cut off.

    An unclosed last statement is kept if its last token is whole. A name, number or string at the
    very end may have been longer, or had a language or datatype. It would give a statement that is
    not the document's.
    """
    if not data or data[-1:] in b" \t\r\n.>]);,}":
        return data
    last_line = data[data.rfind(b"\n") + 1 :]
    if b"#" in last_line or last_line.lstrip()[:8].lower() in (b"version ", b"@version"):
        return data
    token = _LAST_TOKEN.search(data, max(len(data) - _HELD_BACK, 0))
    return data[: token.start()] if token else data


class _GuardedFile:
    """Drops a cut last token from a file, and limits the nesting of its triple terms."""

    def __init__(self, file: Readable, max_depth: int) -> None:
        self._file = file
        self._max_depth = max_depth
        self._ready = b""
        self._held = b""
        self._ended = False
        self._lines = 1
        #: line of the cut token; 0 if there is none
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
