"""Reads N-Triples and N-Quads: an error costs one line only.

Programs write most dumps, in canonical form. Such lines are copied: a regular expression for the
common part of the grammar checks them several times as fast as the parser. All other lines go to
the parser.
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

    After an error the parser restarts at the next line. Triple terms may be nested ``max_depth``
    deep.
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
        elif plain.match(piece):
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
    """Skip the rest of the line; return the bytes read after it."""
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
                # Latin-1 among UTF-8: convert the line and read it again
                data = data[: start + offset] + other + data[start + stop :]
                start += offset
                first_line += bad
                continue
            errors.add_syntax(error, first_line)
            if bad and _is_good(rest[offset:stop], syntax):
                stop = offset  # the line before was not closed
                bad -= 1
            start += stop
            first_line += bad + 1
            continue
        return


def _as_utf8(line: bytes) -> bytes | None:
    """Convert a line from Windows-1252 to UTF-8; return None if it is UTF-8 already."""
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


#: Bytes of IRIs: ASCII, and those of U+00C0 to U+CFFF in UTF-8, all of which IRIs allow.
_CHARS = rb"[A-Za-z0-9/_.~=&;,:+$!*'()?@\x80-\xbf\xc3-\xec-]*+"
_PATH = _CHARS + rb"(?:%[0-9A-Fa-f]{2}" + _CHARS + rb")*+"
#: scheme, host and port, path and query, fragment
_IRI = rb"<https?://[A-Za-z0-9.-]++(?::[0-9]++)?+(?:[/?]" + _PATH + rb")?+(?:#" + _PATH + rb")?+>"
_URN = rb"<(?:urn|tag|mailto|tel|info|doi):[A-Za-z0-9]" + _PATH + rb">"
_ANY_IRI = rb"(?:" + _IRI + rb"|" + _URN + rb")"
_NODE = rb"_:[A-Za-z0-9]++"
_TEXT = rb'[^"\\\x00-\x1f\x7f]*+'
#: excludes datatypes that canonical lines leave out or that need a language tag
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
_MAX_SKIP = 64


class PlainLines:
    """Recognises pieces of a document whose lines are all canonical."""

    def __init__(self, syntax: pyoxigraph.RdfFormat) -> None:
        """Check lines of ``syntax``."""
        self._fullmatch: Callable[[bytes], re.Match[bytes] | None] = _LINES[syntax].fullmatch
        self._to_skip = 0
        self._next_skip = 1

    def match(self, lines: bytes) -> bool:
        """Whether the parser would surely write ``lines`` unchanged.

        After a False some pieces are not checked and give False as well: where one piece is not
        canonical, its neighbours seldom are.
        """
        if self._to_skip:
            self._to_skip -= 1
            return False
        if self._fullmatch(lines) is not None and _is_plain_text(lines):
            self._next_skip = 1
            return True
        self._to_skip = self._next_skip
        self._next_skip = min(2 * self._next_skip, _MAX_SKIP)
        return False


def _is_plain_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\ufffe" not in text and "\uffff" not in text  # the parser escapes these
