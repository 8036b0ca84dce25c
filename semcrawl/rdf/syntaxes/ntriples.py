"""N-Triples and N-Quads: a bad line costs that line only.

Most dumps are written by programs, in canonical form. Such lines need not be taken apart and put
together again: a regular expression that knows the usual part of the grammar is several times as
fast as the parser. Lines that it does not match go to the parser.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import pyoxigraph

from semcrawl.rdf.guards import guard_triple_terms
from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.packed.streams import Readable
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import LONGEST_LINE, QuadSink

_PIECE = 1 << 16
_READ = 1 << 22


def parse_lines(
    data: bytes,
    syntax: pyoxigraph.RdfFormat,
    sink: QuadSink,
    errors: ErrorLog,
    max_depth: int,
    first_line: int = 1,
) -> int:
    """Read whole lines into ``sink``; return the number of the line after the last.

    After an error the parser starts again with the line after the bad one. Triple terms may be
    nested ``max_depth`` deep.
    """
    sink.flush()
    plain = PlainLines(syntax)
    start = 0
    while start < len(data):
        end = len(data)
        if end - start > _PIECE:
            end = data.rfind(b"\n", start, start + _PIECE) + 1 or data.find(b"\n", start) + 1 or end
        piece = data[start:end]
        if len(piece) > LONGEST_LINE:  # one line
            errors.add("a line of more than 16 MiB", first_line, 1)
            first_line += 1
        elif plain.are(piece):
            first_line += sink.add_lines(piece)
        else:
            guard_triple_terms(piece, max_depth)
            _parse_piece(piece, syntax, sink, errors, first_line)
            sink.flush()
            first_line += piece.count(b"\n")
            errors.check_time()
        start = end
    return first_line


def parse_file(
    file: Readable,
    syntax: pyoxigraph.RdfFormat,
    sink: QuadSink,
    errors: ErrorLog,
    max_depth: int,
) -> None:
    """Read a file of any size; a line of more than 16 MiB is left out."""
    held = b""
    line = 1
    while True:
        data = file.read(_READ)
        end = data.rfind(b"\n") + 1
        if data and not end:
            held += data
            if len(held) > 4 * _READ:
                errors.add("a line of more than 16 MiB", line, 1)
                held = _rest_of_line(file)
                line += 1
            continue
        piece = held + data[:end] if data else held
        held = data[end:]
        if piece:
            line = parse_lines(piece, syntax, sink, errors, max_depth, line)
        if not data:
            return


def _rest_of_line(file: Readable) -> bytes:
    """Read to the end of the line; return the bytes read after it."""
    while data := file.read(_READ):
        end = data.find(b"\n") + 1
        if end:
            return data[end:]
    return b""


def _parse_piece(
    data: bytes, syntax: pyoxigraph.RdfFormat, sink: QuadSink, errors: ErrorLog, first_line: int
) -> None:
    start = 0
    while start < len(data):
        rest = data[start:] if start else data
        try:
            pyoxigraph.serialize(pyoxigraph.parse(rest, syntax), sink.file, syntax)
        except SyntaxError as error:
            bad = max((error.lineno or _line_in(error)) - 1, 0)
            offset = _offset_of_line(rest, bad)
            stop = rest.find(b"\n", offset) + 1 or len(rest)
            if not (line := rest[offset:stop]).isascii() and (other := _as_utf8(line)) is not None:
                # Latin-1 among UTF-8: read again with the line mended, and nothing lost
                data = data[: start + offset] + other + data[start + stop :]
                start += offset
                first_line += bad
                continue
            errors.add_syntax(error, first_line)
            if bad and _is_good(rest[offset:stop], syntax):
                stop = offset  # the error was that the line before is not closed
                bad -= 1
            start += stop
            first_line += bad + 1
            continue
        return


def _as_utf8(line: bytes) -> bytes | None:
    """Return a line that is not UTF-8 as such, taken for Windows-1252; None when it is UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace").encode()
    return None


def _line_in(error: SyntaxError) -> int:
    words = str(error).split()
    return int(words[words.index("line") + 1]) if "line" in words else 1


def _offset_of_line(data: bytes, index: int) -> int:
    offset = 0
    for _ in range(index):
        offset = data.find(b"\n", offset) + 1
        if not offset:
            return len(data)
    return offset


def _is_good(line: bytes, syntax: pyoxigraph.RdfFormat) -> bool:
    try:
        pyoxigraph.serialize(pyoxigraph.parse(line, syntax), BytesIO(), syntax)
    except SyntaxError:
        return False
    return bool(line.strip())


#: Characters of IRIs. Of UTF-8, the bytes of U+00C0 to U+CFFF, all of which IRIs allow.
_SIGNS = rb"[A-Za-z0-9/_.~=&;,:+$!*'()?@\x80-\xbf\xc3-\xec-]*+"
_PATH = _SIGNS + rb"(?:%[0-9A-Fa-f]{2}" + _SIGNS + rb")*+"
#: in full: scheme, host, port, then path and query, then fragment
_IRI = rb"<https?://[A-Za-z0-9.-]++(?::[0-9]++)?+(?:[/?]" + _PATH + rb")?+(?:#" + _PATH + rb")?+>"
_URN = rb"<(?:urn|tag|mailto|tel|info|doi):[A-Za-z0-9]" + _PATH + rb">"
_ANY_IRI = rb"(?:" + _IRI + rb"|" + _URN + rb")"
_NODE = rb"_:[A-Za-z0-9]++"
_TEXT = rb'[^"\\\x00-\x1f\x7f]*+'
#: left out: datatypes that canonical lines do not write, and that stand with a language only
_DATATYPE = (
    rb"\^\^(?!<http://www\.w3\.org/(?:2001/XMLSchema#string|1999/02/22-rdf-syntax-ns#\w*[sS]tring)>)"
    + _ANY_IRI
)
_LITERAL = (
    rb'"' + _TEXT + rb'(?:\\[tbnrf"\\]' + _TEXT + rb')*+"'
    rb"(?:@[a-z]{2,3}(?:-[a-z]{2})?+|" + _DATATYPE + rb")?+"
)  # fmt: skip
_TRIPLE = (
    rb"(?:" + _ANY_IRI + rb"|" + _NODE + rb") " + _ANY_IRI
    + rb" (?:" + _ANY_IRI + rb"|" + _LITERAL + rb"|" + _NODE + rb")"
)  # fmt: skip
_GRAPH = rb"(?: (?:" + _ANY_IRI + rb"|" + _NODE + rb"))?+"
_LINES = {
    pyoxigraph.RdfFormat.N_TRIPLES: re.compile(rb"(?:" + _TRIPLE + rb" \.\n)*+"),
    pyoxigraph.RdfFormat.N_QUADS: re.compile(rb"(?:" + _TRIPLE + _GRAPH + rb" \.\n)*+"),
}
_MOST_LEFT_OUT = 64


class PlainLines:
    """Finds the pieces of one content whose lines are all canonical."""

    def __init__(self, syntax: pyoxigraph.RdfFormat) -> None:
        """Look at lines of this syntax."""
        self._match: Callable[[bytes], re.Match[bytes] | None] = _LINES[syntax].fullmatch
        self._left_out = 0
        self._to_leave_out = 1

    def are(self, lines: bytes) -> bool:
        """Tell whether the parser would read all of ``lines`` and write the same bytes.

        May return False where it would. After a False some pieces are not looked at: a document
        that is not canonical at one place seldom is at others.
        """
        if self._left_out:
            self._left_out -= 1
            return False
        if self._match(lines) is not None and _is_plain_text(lines):
            self._to_leave_out = 1
            return True
        self._left_out = self._to_leave_out
        self._to_leave_out = min(2 * self._to_leave_out, _MOST_LEFT_OUT)
        return False


def _is_plain_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\ufffe" not in text and "\uffff" not in text  # which are written as escapes
