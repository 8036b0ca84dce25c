"""Reads N-Triples and N-Quads: an error costs one line only.

Programs write most dumps, in canonical form. Such lines are copied: a regular expression for the
common part of the grammar checks them several times as fast as the parser. All other lines go to
the parser.
"""

from __future__ import annotations

from collections.abc import Callable

import pyoxigraph

from semcrawl.rdf.limits import ErrorLog, position_of
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import LONGEST_LINE, QuadSink, guard_triple_terms
from semcrawl.rdf.streams import Readable
from semcrawl.rdf.syntaxes.turtletokens import (
    NEED_LANGUAGE,
    PLAIN_IRI,
    TOKEN,
    Entry,
    Kind,
    Terms,
    Type,
    bad,
    language_of,
    string_term,
    word_end,
)

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

    A line with an error is read token by token. Triple terms may be nested ``max_depth``
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
    """Let the parser read lines; those with an error, and the line before, are read one by one."""
    while data:
        try:
            sink.write(_canonical(data, syntax))
            return
        except SyntaxError as error:
            bad = max((error.lineno or _line_in(error)) - 1, 0)
        lines = _LINE.findall(data)
        good = b"".join(lines[: max(bad - 1, 0)])  # an error may be that of the line before
        if good:
            sink.write(_canonical(good, syntax))
        for number, line in enumerate(lines[max(bad - 1, 0) : bad + 1], max(bad - 1, 0)):
            _parse_line(line, syntax, sink, errors, first_line + number)
        data = b"".join(lines[bad + 1 :])
        first_line += bad + 1
        errors.check_time()


def _canonical(data: bytes, syntax: pyoxigraph.RdfFormat) -> bytes:
    """Return lines as the parser writes them. Raises ``SyntaxError``."""
    return pyoxigraph.serialize(pyoxigraph.parse(data, syntax), format=syntax) or b""


def _parse_line(
    line: bytes, syntax: pyoxigraph.RdfFormat, sink: QuadSink, errors: ErrorLog, number: int
) -> None:
    """Read one line; an IRI or a language tag is mended where only one reading is possible."""
    text = line
    for _ in range(2):
        try:
            sink.write(_canonical(text, syntax))
            return
        except SyntaxError as error:
            fault = error
        notes: list[tuple[int, str]] = []
        try:
            text = _mended(line, notes, with_graphs=syntax == pyoxigraph.RdfFormat.N_QUADS)
        except _BadTokenError as found:
            errors.add(str(found), number, _column(line, found.place))
            return
        for place, message in notes:
            errors.add_mended(message, number, _column(line, place))
    message, _, column = position_of(fault)
    errors.add(message, number, column)


class _BadTokenError(Exception):
    """A line that cannot be read, and where it is wrong."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


def _mended(line: bytes, notes: list[tuple[int, str]], *, with_graphs: bool) -> bytes:
    """Return the statements of a line with each term as it must be written.

    Raises :class:`_BadTokenError` if a term cannot be read, or the line has not the form of
    statements.
    """
    terms = Terms(None, {})
    try:
        line.decode()
    except UnicodeDecodeError as error:
        notes.append((error.start, "a line that is not UTF-8 is read as Windows-1252"))
    lines: list[bytes] = []
    slot: list[Entry] = []
    place = at = 0
    datatype = False
    while True:
        match = TOKEN.match(line, at)
        kind = (match.lastindex if match else 0) or Kind.END
        if match is None or kind == Kind.END:
            break
        token, place, at = match[kind], match.start(kind), match.end()
        if kind == Kind.MARK and token == b"." and not datatype:
            lines.append(_statement(slot, place, with_graphs=with_graphs))
            slot = []
            continue
        if kind == Kind.ODD:
            notes.append((place, "a character that is neither white space nor part of a term"))
            continue
        if kind == Kind.MARK and token == b"^^" and slot and slot[-1].type is Type.LITERAL:
            datatype = True
            continue
        if kind == Kind.AT and slot and slot[-1].type is Type.LITERAL:
            found = language_of(token)
            if found is None:
                raise _BadTokenError("no valid language tag", place)
            slot[-1] = Entry(Type.TRIPLE, slot[-1].value + found[0])
            if found[2]:
                notes.append((place, "a language tag with a low line"))
            at = place + found[1]
            continue
        entry = _entry(terms, kind, token)
        if entry.type >= Type.BAD:
            raise _BadTokenError(entry.value.decode("utf-8", "replace"), place)
        if entry.mended:
            notes.append((place, entry.mended))
        if kind == Kind.WORD:
            at = place + word_end(token)
        if datatype:
            datatype = False
            if entry.type is not Type.IRI or entry.value in NEED_LANGUAGE:
                raise _BadTokenError("no valid datatype", place)
            slot[-1] = Entry(Type.TRIPLE, slot[-1].value + b"^^" + entry.value)
        else:
            slot.append(entry)
    if slot:
        raise _BadTokenError("a line without a dot at its end", place)
    return b"".join(lines)


def _entry(terms: Terms, kind: int, token: bytes) -> Entry:
    if kind in (Kind.IRI, Kind.OTHER_IRI):
        return terms.iri(token)
    if kind == Kind.STRING and token.startswith(b'"') and not token.startswith(b'"""'):
        return string_term(token)
    if kind == Kind.WORD and token.startswith(b"_:"):
        return terms.word(token[: word_end(token)])
    shown = token[:80].decode("utf-8", "replace")
    return bad(f"{shown} is not expected here")


def _statement(slot: list[Entry], place: int, *, with_graphs: bool) -> bytes:
    """Return the line of some terms. A literal with a suffix has the type of a triple here."""
    kinds = [entry.type for entry in slot]
    if len(slot) not in ((3, 4) if with_graphs else (3,)):
        raise _BadTokenError("a statement of too few or too many terms", place)
    if kinds[0] > Type.BLANK or kinds[1] is not Type.IRI or any(x > Type.BLANK for x in kinds[3:]):
        raise _BadTokenError("a term that cannot stand where it stands", place)
    return b" ".join([*(entry.value for entry in slot), b".\n"])


def _column(line: bytes, place: int) -> int:
    return len(line[:place].decode("utf-8", "replace")) + 1


def _line_in(error: SyntaxError) -> int:
    words = str(error).split()
    return int(words[words.index("line") + 1]) if "line" in words else 1


_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++\Z")
_ANY_IRI = PLAIN_IRI
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
