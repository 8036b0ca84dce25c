"""N-Triples and N-Quads: a bad line costs that line only."""

from __future__ import annotations

from io import BytesIO

import pyoxigraph

from semcrawl.rdf.errors import ErrorLog
from semcrawl.rdf.guards import guard_triple_terms
from semcrawl.rdf.lines.plainlines import PlainLines
from semcrawl.rdf.output.sink import LONGEST_LINE, QuadSink
from semcrawl.rdf.packed.streams import Readable

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
    """Read to the end of the line; return what has been read of the next."""
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
