"""Reads the statements of Turtle, TriG and N3 across errors: an error costs the triple it is in.

The reader takes whole tokens (:mod:`semcrawl.rdf.syntaxes.turtletokens`) and follows the grammar
with a stack of its own, so that nesting costs no more than memory. A token that is no term makes
its triple unreadable; the other objects, predicates, nodes and graphs stay. The reader writes lines
of N-Triples or N-Quads, which a strict parser reads again.

Where the structure itself is wrong (a sign too many or too few), what may belong to another subject
or predicate is left out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import LONGEST_LINE
from semcrawl.rdf.syntaxes.turtletokens import (
    NEED_LANGUAGE,
    TOKEN,
    TOKEN_N3,
    Entry,
    Kind,
    Terms,
    Type,
    Window,
    broken,
    language_of,
    string_term,
    word_end,
)
from semcrawl.rdf.terms import RDF

#: a term, its type, and the position of its first byte in the document
Term = tuple[int, bytes, int]

MARK, IRI, WORD, STRING, AT, ODD, OTHER_IRI, OPEN_IRI, OPEN_LONG, OPEN_STRING, JUNK, END = map(
    int, Kind
)
IRI_TERM, BLANK, LITERAL, TRIPLE, TYPE, INVERSE, BAD, BROKEN = map(int, Type)

#: kinds of frames: what has been opened and not closed. Those below NODE hold statements
DOCUMENT, GRAPH, FORMULA, NODE, ANNOTATION, COLLECTION, TRIPLE_TERM, REIFIED = range(8)
_OPENED = {NODE: "[", ANNOTATION: "{|", COLLECTION: "(", TRIPLE_TERM: "<<(", REIFIED: "<<"}
_CLOSERS = {b"]": NODE, b"|}": ANNOTATION, b")": COLLECTION, b")>>": TRIPLE_TERM, b">>": REIFIED}

_FIRST, _REST, _NIL, _REIFIES = (
    f"<{RDF}{name}>".encode() for name in ("first", "rest", "nil", "reifies")
)
_LOG_IMPLIES = b"<http://www.w3.org/2000/10/swap/log#implies>"
_VERBS = {
    b"=": (IRI_TERM, b"<http://www.w3.org/2002/07/owl#sameAs>"),
    b"=>": (IRI_TERM, _LOG_IMPLIES),
    b"<=": (INVERSE, _LOG_IMPLIES),
}
_DIRECTIVES = (b"prefix", b"base", b"version")
_CUT = b"the document ends inside a token"
#: bytes of lines written at once, and of one statement, held to be left out if it is wrong
_MUCH, _TOO_MUCH = 1 << 20, 1 << 25
_LONGEST_SLOT = 1 << 12
#: what follows a quotation mark that ends a string
_AFTER_STRING = rb"(?=[ \t]*(?:[.;,\])}#\r\n]|@[A-Za-z]|\^\^|\Z))"
_CLOSING = {mark: re.compile(mark + _AFTER_STRING) for mark in (b'"', b"'")}
#: two quotation marks where three should end a long string
_LONG_END = {
    mark: re.compile(rb"(?<=[^\s" + mark + rb"])" + mark * 2 + _AFTER_STRING)
    for mark in (b'"', b"'")
}
#: a quotation mark that begins a string
_OPENING = {
    mark: re.compile(rb"(?<=[\s(,\[])" + mark + rb"(?![ \t]*(?:[.;,\])}]|\^\^))")
    for mark in (b'"', b"'")
}
#: closing signs at the end of a line
_LINE_TAIL = re.compile(rb"(?:[ \t]*[\])])*[ \t]*[.;,][ \t]*\Z")
_LINE_END = re.compile(rb"[\r\n]|\Z")
#: bytes that are kept before a token, to see whether it is the first of its line
_KEPT = 1 << 10
_RUN = re.compile(rb"[^\s]{1,4096}+")
_GLUE = re.compile(rb"(?<!\\)[#(\[{\"'<]")
_NAME_ONLY = re.compile(rb"[^:]*:\Z")


class _Frame:
    """Something opened: the document, a graph, a node, a collection."""

    __slots__ = (
        "after", "done", "doubtful", "from_line", "glued", "glued_from", "graph", "kind", "mark",
        "phase", "place", "reifier", "slot", "subject", "verb",
    )  # fmt: skip

    def __init__(self, kind: int, place: int, from_line: int, graph: bytes | None) -> None:
        self.kind = kind
        #: position where it was opened
        self.place = place
        #: number of lines written before
        self.from_line = from_line
        #: what ends the lines outside of it; None in a graph whose name cannot be read
        self.graph = graph
        #: terms that the next group lacks: 0 all three, 1 the predicate, 2 the object
        self.phase = 0
        #: terms since the last sign
        self.slot: list[Term] = []
        self.subject: Term | None = None
        self.verb: Term | None = None
        #: N3: a path or keyword in progress
        self.mark = b""
        #: whether the group's triple has been written, as an annotation follows it
        self.done = False
        #: that triple, None if it is lost
        self.after: tuple[bytes, bytes, bytes] | None = None
        #: the reifier named last
        self.reifier: Term | None = None
        #: whether it is directly after a complete triple, so that it may be meant as a part of it
        self.glued = False
        #: number of the first line of what is directly after a term of the group; -1: none
        self.glued_from = -1
        #: number of the first line that may be wrong if a bracket has been left out; -1: none
        self.doubtful = -1


class StatementReader:
    """Reads a window's text from a statement on."""

    def __init__(
        self,
        window: Window,
        terms: Terms,
        errors: ErrorLog,
        write: Callable[[bytes, list[int]], None],
        *,
        graphs: bool = False,
        n3: bool = False,
        max_depth: int = 256,
    ) -> None:
        """Give lines and the places of their triples to ``write``.

        ``graphs``: TriG; ``n3``: N3, whose formulas become graphs. Triple terms may be nested
        ``max_depth`` deep.
        """
        self._window = window
        self.terms = terms
        self._errors = errors
        self._write = write
        self._graphs = graphs
        self._n3 = n3
        self._max_depth = max_depth
        self._scan = (TOKEN_N3 if n3 else TOKEN).match
        self._lines: list[bytes] = []
        self._places: list[int] = []
        self._size = 0
        #: what ends the lines: a graph's name and a dot; None where it cannot be read
        self._graph: bytes | None = b" .\n"
        self._frames = [_Frame(DOCUMENT, 0, 0, None)]
        self._label = "f" + secrets.token_hex(11)
        self._count = 0
        #: a directive in progress: its name, then the prefix; empty: none
        self._directive: list[bytes] = []
        self._skips = False
        #: end and start of the last token that is a term or a part of one
        self._term_end = self._term_start = -1
        self._last_kind = 0
        #: state of the last literal: b'"' it may get a suffix, b"^" its datatype follows
        self._literal = b""
        #: the last node that was closed and has properties, and the last collection
        self._last_node = self._last_list = b""
        #: whether this statement has a bracket that is not closed, and whether the one before had
        self._broken = self._after_broken = False
        #: whether a brace closed nothing just now
        self._after_surplus = False

    @property
    def block(self) -> bytes:
        """The opening of the graph that is open, as text of TriG; empty if none is."""
        if len(self._frames) < 2 or self._graph is None:
            return b""
        return self._graph[1:-3] + b" {"

    def enter(self, block: bytes) -> None:
        """Begin inside the graph that :attr:`block` opens."""
        self._frames.append(_Frame(GRAPH, 0, 0, b" .\n"))
        name = block.removesuffix(b"{").strip()
        self._graph = b" " + name + b" .\n" if name else b" .\n"

    @property
    def in_graph(self) -> bool:
        """Whether a graph is open."""
        return len(self._frames) > 1

    # -- the loop ------------------------------------------------------------------------------

    def run(self, until: int) -> None:
        """Read to the first end of a statement at or after the position ``until``, or to the end.

        What is read is consumed from the window.
        """
        try:
            self._run(until)
        finally:
            self._flush()

    def _run(self, until: int) -> None:
        window, scan, terms = self._window, self._scan, self.terms
        data, base, at = window.data, window.base, window.start
        boundary = False
        while True:
            if boundary:
                boundary = False
                if self._size >= _MUCH:
                    self._flush()
                if base + at >= until and self._between_statements():
                    window.start = at
                    return
            match = scan(data, at)
            if match is None:  # never: the last pattern matches anything
                return
            end = match.end()
            kind: int = match.lastindex or JUNK
            start = match.start(kind)
            if not window.ended and self._needs_more(kind, start, end):
                if data[at:start].isspace():
                    at = start  # endless white space is not kept
                at = self._read_more(at)
                data, base = window.data, window.base
                continue
            token = match[kind]
            place = base + start
            at = end
            if self._skips:
                # the rest of a directive that cannot be read
                if kind == END or self._first_on_line(place):
                    self._skips = False
                else:
                    self._skips = not (kind == MARK and token == b".")
                    continue
            if self._directive and kind != ODD:
                taken = self._in_directive(kind, token, place)
                if taken:
                    at = start + taken
                    boundary = not self._directive
                    continue
                if self._skips:
                    at = start
                    continue
            frame = self._frames[-1]
            if kind == MARK:
                if token != b"^^":
                    if self._literal == b"^":
                        self._spoil(frame, b"a literal without the datatype it announces", place)
                    self._literal = b""
                self._last_kind = MARK
                boundary = self._mark(frame, token, place)
                continue
            if kind == WORD:
                size = word_end(token)
                if size < len(token):
                    token = token[:size]
                    at = start + size
                if self._keyword(frame, token, place):
                    continue
                entry = terms.word(token)
            elif kind in (IRI, OTHER_IRI):
                entry = terms.iri(token)
            elif kind == STRING:
                entry = string_term(token)
            elif kind == AT:
                at = start + self._at(frame, token, place)
                continue
            elif kind == ODD:
                self._note("a character that is neither white space nor part of a term", place)
                continue
            elif kind == END:
                self._end(place)
                window.start = at
                return
            elif kind == OPEN_IRI:
                entry = broken("an IRI that is not closed")
            elif kind == JUNK:
                entry = broken(f"{token.decode('utf-8', 'replace')} is not expected here")
            else:
                entry = broken("a string that is not closed")
                if self._term_end == place and self._is_broken(frame):
                    at = start + 1  # it seems to be the end of the string before
                elif kind == OPEN_LONG:
                    at = self._after_long(start)
                    data, base = window.data, window.base
                else:
                    at = self._after_open(start, data)
            # a part of a token is no term
            if self._term_end == place and self._touches(frame, kind, entry):
                at = self._merge(frame, kind, entry, place, at, data)
                self._term_end, self._term_start = base + at, place
                self._last_kind = kind
                continue
            if entry.mended:
                self._note(entry.mended, place)
            self._term_end, self._term_start = base + at, place
            self._last_kind = kind
            if kind in (WORD, STRING) and self._is_cut(base + at):
                entry = Entry(Type.BROKEN, _CUT)
            self._literal_or_term(frame, kind, entry, place)

    def _needs_more(self, kind: int, start: int, end: int) -> bool:
        """Whether a token may be longer than the part of it in memory.

        What is not closed is read with the rest of its line.
        """
        data = self._window.data
        if len(data) - start > 2 * LONGEST_LINE:
            return False
        if end == len(data) or kind == OPEN_LONG:
            return True
        touching = self._term_end == self._window.base + start
        return (touching or kind in (OPEN_IRI, OPEN_STRING)) and _end_of_line(data, end) == len(
            data
        )

    def _read_more(self, at: int) -> int:
        """Read on into the window; return what becomes of the index ``at``."""
        window = self._window
        base, slot = window.base, self._frames[-1].slot
        kept = min(slot[0][2] - base, at) if slot else at
        window.more(max(kept - _KEPT, 0))
        self._errors.check_time()
        return at + base - window.base

    def _is_cut(self, end: int) -> bool:
        """Whether a token ends with the document, which may have been longer."""
        return self._window.ended and end == self._window.base + len(self._window.data)

    def _between_statements(self) -> bool:
        """Whether the reader is where another one may begin."""
        frame = self._frames[-1]
        return (
            len(self._frames) <= 2
            and frame.kind < FORMULA
            and not frame.slot
            and not frame.phase
            and not self._directive
            and not self._skips
            and not self._after_broken
            and self._graph is not None
            and self.terms.base is not None
        )

    # -- terms ---------------------------------------------------------------------------------

    def _literal_or_term(self, frame: _Frame, kind: int, entry: Entry, place: int) -> None:
        """Take a term, or the datatype of the literal before."""
        if self._literal == b"^":
            self._literal = b""
            last = frame.slot[-1] if frame.slot else (BAD, b"", place)
            if entry.type is not Type.IRI or kind == STRING:
                reason = entry.value if entry.type >= Type.BAD else b"a datatype that is no IRI"
                self._spoil(frame, reason, place)
            elif entry.value in NEED_LANGUAGE:
                self._spoil(frame, b"a language string without a language", place)
            elif last[0] == LITERAL:
                frame.slot[-1] = (LITERAL, last[1] + b"^^" + entry.value, last[2])
            return
        self._literal = b'"' if kind == STRING else b""
        self._append(frame, (int(entry.type), entry.value, place))

    def _append(self, frame: _Frame, term: Term) -> None:
        """Add a term to the group."""
        slot = frame.slot
        if frame.mark:
            self._after_mark(frame, term)
            return
        if frame.kind == COLLECTION and slot:
            self._member(frame)
        if self._after_broken and not slot and not frame.phase and frame.kind < NODE:
            self._after_broken = False
            if not self._first_on_line(term[2]):
                slot.append((BAD, b"a bracket before this statement is not closed", term[2]))
        if term[0] >= BAD:
            self._window.remember(term[2])
        if len(slot) >= _LONGEST_SLOT:
            del slot[4:]
            self._errors.check_time()
        slot.append(term)

    def _spoil(self, frame: _Frame, reason: bytes, place: int) -> None:
        """Make the last term of the group unreadable."""
        if frame.slot and frame.slot[-1][0] < BAD:
            frame.slot[-1] = (BROKEN, reason, place)
        elif not frame.slot:
            frame.slot.append((BROKEN, reason, place))

    def _is_broken(self, frame: _Frame) -> bool:
        return bool(frame.slot) and frame.slot[-1][0] == BROKEN

    def _touches(self, frame: _Frame, kind: int, entry: Entry) -> bool:
        """Whether a token and the one directly before it are parts of one that is broken."""
        if entry.type is Type.BROKEN or self._is_broken(frame):
            return True
        return (
            self._last_kind in (STRING, AT)
            and self._literal != b"^"
            and frame.kind != COLLECTION
            and kind in (WORD, STRING)
        )

    def _merge(
        self, frame: _Frame, kind: int, entry: Entry, place: int, at: int, data: bytes
    ) -> int:
        """Make one unreadable term of a token and those that it touches; return where it ends."""
        base = self._window.base
        self._literal = b""
        reason, begin = entry.value, place
        if entry.type < Type.BAD:
            reason = b"a string that ends inside a word"
        broken = -1
        if self._last_kind == STRING or kind == OPEN_STRING:
            # a quotation mark in a string without its backslash
            broken = (self._term_start if self._last_kind == STRING else place) - base
            reason = b"a string with quotation marks inside"
        if frame.slot:
            last = frame.slot[-1]
            begin = min(begin, last[2])
            if last[0] >= BAD:
                reason = last[1]
            frame.slot[-1] = (BROKEN, reason, begin)
        else:
            frame.slot.append((BROKEN, reason, begin))
        if kind == STRING and data[at - 3 : at] in (b'"""', b"'''") and at - (place - base) > 5:
            return place - base + 3  # it closes the string before
        if broken >= 0 and self._last_kind == STRING and _has_line_end(data[broken : at - 1]):
            self._lose_place(frame, reason, begin, data[broken:at])
        elif broken >= 0:
            closing = _CLOSING.get(data[broken : broken + 1], _CLOSING[b'"'])
            line = _end_of_line(data, place - base)
            if found := closing.search(data, max(place - base, broken + 1), line):
                return found.end()
        return at

    def _lose_place(self, frame: _Frame, reason: bytes, place: int, text: bytes) -> None:
        """Read on after ``text`` that may be a string, or statements between two strings."""
        frame = self._unwind(place, (DOCUMENT, GRAPH, FORMULA))
        frame.subject = frame.verb = (BAD, reason, place)
        frame.slot[:] = [frame.subject]
        frame.phase, frame.done, frame.mark = 2, False, b""
        if b"{" in text or b"}" in text:
            self._graph = None

    # -- strings that are not closed -----------------------------------------------------------

    def _after_open(self, start: int, data: bytes) -> int:
        """Return where the text goes on after a string that its line does not close.

        If the next quotation mark begins a string, the missing one was in this line, and the signs
        at the end of the line are no part of the string. Else the string has a line end.
        """
        mark = data[start : start + 1]
        stop = _end_of_line(data, start)
        following = data.find(mark, stop)
        if following >= 0 and _OPENING[mark].match(data, following) is None:
            if found := _CLOSING[mark].match(data, following):
                return found.end()
            return stop
        tail = _LINE_TAIL.search(data, start + 1, stop)
        return tail.start() if tail else stop

    def _after_long(self, start: int) -> int:
        """Return where the text goes on after a long string that nothing closes."""
        window = self._window
        mark = window.data[start : start + 1]
        if window.ended:
            line = _end_of_line(window.data, start)
            found = _CLOSING[mark].search(window.data, start + 3, line) or _LONG_END[mark].search(
                window.data, line
            )
            if found is None:
                self._errors.add(
                    "the rest after an unterminated string is not read",
                    *window.position(window.base + start),
                )
                return len(window.data)
            return found.end()
        # longer than anything that is kept
        at = start + 3
        while True:
            found_at = window.data.find(mark * 3, at)
            while found_at > 0 and window.data[found_at - 1 : found_at] == b"\\":
                found_at = window.data.find(mark * 3, found_at + 1)
            if found_at >= 0:
                return found_at + 3
            if window.ended:
                return len(window.data)
            kept = max(len(window.data) - 2, at)
            window.more(kept)
            at = 0

    # -- signs ---------------------------------------------------------------------------------

    def _mark(self, frame: _Frame, token: bytes, place: int) -> bool:
        """Take a sign; return whether a statement, a graph or its opening ended."""
        if token == b";" or token == b",":
            if frame.kind == COLLECTION and token == b",":
                self._note(", is not expected here", place)
                return False
            frame = self._unwind(place, (DOCUMENT, GRAPH, FORMULA, NODE, ANNOTATION))
            self._group(frame, token, place)
            return False
        if token == b".":
            frame = self._unwind(place, (DOCUMENT, GRAPH, FORMULA))
            self._finish_statement(frame, token, place)
            return True
        if token in (b"[", b"("):
            opened = self._push(NODE if token == b"[" else COLLECTION, place)
            if token == b"[":
                opened.subject = (BLANK, self._fresh(), place)
            if self._term_end == place and frame.kind != COLLECTION:
                opened.glued = len(frame.slot) >= 3 - frame.phase or self._is_broken(frame)
                if frame.glued_from < 0:
                    frame.glued_from = opened.from_line
        elif token in _CLOSERS:
            self._close(token, place)
        elif token == b"^^":
            if not frame.slot or not (self._literal or self._is_broken(frame)):
                self._junk(frame, token, place)
            elif self._literal == b"^":
                self._spoil(frame, b"^^ is not expected here", place)
            self._literal = b"^"
        elif token == b"{":
            return self._open_brace(frame, place)
        elif token == b"}":
            return self._close_brace(place)
        elif token == b"{|":
            self._annotate(frame, place)
        elif token == b"~":
            self._name_reifier(frame, place)
        elif token in (b"<<", b"<<("):
            self._push(REIFIED if token == b"<<" else TRIPLE_TERM, place)
        elif self._n3 and token in _VERBS:
            kind, value = _VERBS[token]
            self._append(frame, (kind, value, place))
        elif self._n3 and (
            token == b"<-" or (token in (b"!", b"^") and frame.slot and not frame.mark)
        ):
            frame.mark = token
        else:
            self._junk(frame, token, place)
        return False

    def _junk(self, frame: _Frame, token: bytes, place: int) -> None:
        reason = f"{token.decode('utf-8', 'replace')} is not expected here".encode()
        if self._term_end == place:
            self._spoil(frame, reason, place)
        else:
            self._append(frame, (BROKEN, reason, place))
        self._term_end = place + len(token)
        self._term_start = place
        self._last_kind = JUNK

    def _push(self, kind: int, place: int) -> _Frame:
        self._window.remember(place)
        frame = _Frame(kind, place, len(self._lines), self._graph)
        frame.phase = 1 if kind in (NODE, ANNOTATION) else 0
        self._frames.append(frame)
        return frame

    def _pop(self) -> _Frame:
        frame = self._frames.pop()
        self._graph = frame.graph
        return frame

    def _unwind(self, place: int, kinds: tuple[int, ...]) -> _Frame:
        """Drop what is open inside the nearest frame of ``kinds``, as it is never closed.

        Which of its statements belong to it is not known. So they are left out.
        """
        frame = self._frames[-1]
        if frame.kind in kinds:
            return frame
        while self._frames[-1].kind not in kinds:
            frame = self._pop()
        message = f"{_OPENED.get(frame.kind, '{')} is not closed"
        self._drop(frame.from_line, message, frame.place)
        parent = self._frames[-1]
        self._give_up(parent, frame, message)
        self._broken = True
        return parent

    def _give_up(self, parent: _Frame, frame: _Frame, message: str) -> None:
        """Put what cannot be read in the place of something that is not closed."""
        fault = (BAD, message.encode(), frame.place)
        if frame.kind == ANNOTATION:  # no term
            self._lost(fault)
        elif frame.glued:
            self._spoil(parent, fault[1], fault[2])
        else:
            self._append(parent, fault)

    def _drop(self, from_line: int, message: str, place: int) -> None:
        """Leave out the lines from ``from_line`` on."""
        number = len(self._lines) - from_line
        if number <= 0:
            return
        del self._lines[from_line:], self._places[from_line:]
        for _ in range(number):
            self._errors.add(message, *self._window.position(place))

    def _close(self, token: bytes, place: int) -> None:
        """Close a node, a collection, an annotation or a triple."""
        kind = _CLOSERS[token]
        frame = self._frames[-1]
        if frame.kind != kind:
            depth = next(
                (
                    depth
                    for depth, open_ in enumerate(reversed(self._frames))
                    if open_.kind == kind or open_.kind < NODE
                ),
                0,
            )
            found = self._frames[-1 - depth]
            if found.kind != kind:
                self._surplus(token, place)
                return
            while self._frames[-1] is not found:
                frame = self._pop()
            message = f"{_OPENED.get(frame.kind, '{')} is not closed"
            self._drop(frame.from_line, message, frame.place)
            self._give_up(found, frame, message)
            frame = found
        if kind == NODE:
            self._group(frame, token, place)
            self._pop()
            if frame.subject is not None and frame.verb is not None:
                self._last_node = frame.subject[1]
            node = frame.subject or (BLANK, self._fresh(), place)
            self._closed(node[:2], frame, simple=frame.verb is None)
        elif kind == ANNOTATION:
            if frame.verb is None and not frame.slot:
                self._note("an annotation without a predicate", place)
            self._group(frame, token, place)
            self._pop()
        elif kind == COLLECTION:
            if frame.slot:
                self._member(frame)
            if frame.verb is not None:
                self._line(frame.verb[1], _REST, _NIL, place)
            self._pop()
            head = frame.subject
            self._last_list = head[1] if head is not None else _NIL
            self._closed(head[:2] if head is not None else (IRI_TERM, _NIL), frame)
        else:
            self._pop()
            simple = kind == TRIPLE_TERM or self._frames[-1].kind == REIFIED
            self._closed(self._triple_term(frame, kind), frame, simple=simple)

    def _closed(self, term: tuple[int, bytes], closed: _Frame, *, simple: bool = False) -> None:
        """Give what was closed to what it stands in; a triple term takes only what is simple."""
        self._literal = b""
        if closed.glued:
            message = "a bracket in a name"
            self._drop(closed.from_line, message, closed.place)
            self._spoil(self._frames[-1], message.encode(), closed.place)
            return
        if not simple and self._frames[-1].kind in (TRIPLE_TERM, REIFIED) and term[0] < BAD:
            term = (BAD, b"a node with properties, a collection or a reified triple in a triple")
        self._append(self._frames[-1], (term[0], term[1], closed.place))

    def _surplus(self, token: bytes, place: int) -> None:
        """Note a closing sign without its opening one: it is not known where that was."""
        frame = self._frames[-1]
        reason = f"{token.decode()} is not expected here"
        if frame.kind == COLLECTION or frame.kind > COLLECTION:
            self._append(frame, (BAD, reason.encode(), place))
            return
        if frame.doubtful >= 0:
            self._drop(frame.doubtful, reason, place)
        elif len(frame.slot) == 3 - frame.phase and not self._after_broken:
            self._note(reason, place)  # all that is open is complete
            return
        if self._after_broken and not frame.phase:
            frame.slot.insert(0, (BAD, reason.encode(), place))
        frame.slot.append((BAD, reason.encode(), place))

    # -- groups of terms between signs ---------------------------------------------------------

    def _group(self, frame: _Frame, sign: bytes, place: int) -> None:
        """Write the triple of the terms since the last sign, and prepare for what follows."""
        slot = frame.slot
        number = len(slot)
        if frame.mark == b"~":
            self._reify(frame, (BLANK, self._fresh(), place))
        elif frame.mark:
            self._append(frame, (BAD, b"a term is missing", place))
            frame.mark = b""
            number = len(slot)
        if frame.done:
            if number:
                self._mismatch(frame, place)
            frame.done = False
        elif number == 3 - frame.phase:
            if number == 3:
                frame.subject = slot[0]
            if number > 1:
                frame.verb = slot[-2]
            self._triple(frame, slot[-1])
        elif number or (frame.phase == 1 and sign == b",") or (not frame.phase and sign):
            self._mismatch(frame, place)
        elif frame.phase == 2:
            self._note(", is not expected here", place)
        slot.clear()
        frame.reifier = None
        frame.glued_from = -1
        frame.phase = 2 if sign == b"," else 1

    def _mismatch(self, frame: _Frame, place: int) -> None:
        """Read a group of too many or too few terms, as far as it is certain."""
        slot = frame.slot
        need = 0 if frame.done else 3 - frame.phase
        if len(slot) > need and self._separate(frame, need):
            return
        fault = next((term for term in slot if term[0] >= BAD), None)
        if fault is None:
            if len(slot) > need:
                fault = (BAD, b"a sign is missing before this term", slot[need][2])
            else:
                fault = (BAD, b"a term is missing", slot[0][2] if slot else place)
        if frame.glued_from >= 0:
            self._drop(frame.glued_from, "a bracket in a name", fault[2])
        if frame.doubtful < 0:
            frame.doubtful = len(self._lines)
        if frame.phase == 0:
            first, verb = slot[0] if slot else fault, slot[1] if len(slot) > 1 else fault
            certain = first[0] <= TRIPLE and (
                (
                    len(slot) > 3
                    and verb[0] in (IRI_TERM, TYPE, INVERSE)
                    and (first[0] != BLANK or verb[2] > first[2] + len(first[1]))
                    and not self._is_glued(first)
                )
                or (len(slot) == 2 and (verb[0] == TYPE or first[0] in (BLANK, TRIPLE)))
            )
            frame.subject = first if certain else fault
        if need == 0 and len(slot) == 1:
            pass
        elif len(slot) == need + 1 and need > 1 and not self._is_glued(slot[need - 2]):
            frame.verb = slot[need - 2]
        elif need != 1 or len(slot) > 2:
            frame.verb = fault
        self._lost(fault)

    def _separate(self, frame: _Frame, need: int) -> bool:
        """Read groups between which a dot or semicolon is missing, each on a line of its own."""
        slot = frame.slot
        starts = [n for n in range(need, len(slot)) if self._first_on_line(slot[n][2])]
        if not starts or starts[0] != need or (need and self._is_glued(slot[need - 1])):
            return False
        groups = [slot[a:b] for a, b in zip(starts, [*starts[1:], len(slot)], strict=True)]
        whole = frame.kind < NODE
        for group in groups:
            if len(group) not in ((2, 3) if whole else (2,)) or group[-2][0] not in (
                IRI_TERM, TYPE, INVERSE,
            ):  # fmt: skip
                return False
            if any(term[0] >= BAD for term in group) or (len(group) == 3 and group[0][0] > BLANK):
                return False
        if need:
            first = slot[:need]
            if need == 3:
                frame.subject = first[0]
            if need > 1:
                frame.verb = first[-2]
            self._triple(frame, first[-1])
        for group in groups:
            missing = "a dot" if len(group) == 3 else "a semicolon"
            self._note(f"{missing} is missing before this line", group[0][2])
            if len(group) == 3:
                frame.subject = group[0]
            frame.verb = group[-2]
            self._triple(frame, group[-1])
        return True

    def _is_glued(self, term: Term) -> bool:
        """Whether something stands directly after a name or IRI, so that it may be meant longer."""
        found = _RUN.match(self._window.data, max(term[2] - self._window.base, 0))
        if found is None or found[0][:1] in (b'"', b"'", b"[", b"("):
            return False
        if found[0].startswith(b"<"):
            return found[0].partition(b">")[2][:1] not in (b"", b";", b",", b".", b"]", b")", b"}")
        return _GLUE.search(found[0]) is not None

    def _is_whole(self, frame: _Frame) -> bool:
        """Whether a statement may end here."""
        slot = frame.slot
        if frame.done or len(slot) == 3 - frame.phase or (not slot and frame.phase < 2):
            return True
        return not frame.phase and len(slot) == 1 and (slot[0][1] == self._last_node or self._n3)

    def _finish_statement(self, frame: _Frame, sign: bytes, place: int) -> None:
        slot = frame.slot
        broken, self._broken = self._broken, False
        self._after_surplus = False
        if not frame.phase and not frame.done and not frame.mark and len(slot) < 2:
            if not slot:
                if sign == b"." and not broken:
                    self._note(". is not expected here", place)
            elif slot[0][0] >= BAD:
                self._lost(slot[0])
            elif slot[0][1] != self._last_node and not self._n3:
                self._errors.add(
                    "a subject without a predicate", *self._window.position(slot[0][2])
                )
            slot.clear()
        else:
            self._group(frame, sign, place)
        self._after_broken = broken
        frame.phase = 0
        frame.mark = b""
        frame.subject = frame.verb = None
        frame.doubtful = -1

    def _triple(self, frame: _Frame, term: Term) -> bool:
        """Write a triple, or note why it is left out."""
        subject, verb = frame.subject, frame.verb
        frame.after = None
        if subject is None or verb is None:  # never: the group has them
            return False
        if verb[0] == INVERSE:
            subject, term = term, subject
        kinds = subject[0], verb[0], term[0]
        if kinds[0] <= BLANK and kinds[1] in (IRI_TERM, TYPE, INVERSE) and kinds[2] <= TRIPLE:
            frame.after = (subject[1], verb[1], term[1])
            return self._line(subject[1], verb[1], term[1], term[2])
        for part in (term, verb, subject):
            if part[0] >= BAD:
                self._lost(part)
                return False
        if kinds[0] > BLANK:
            message, part = "a literal, triple or keyword as the subject", subject
        elif kinds[1] not in (IRI_TERM, TYPE, INVERSE):
            message, part = "a predicate that is no IRI", verb
        else:
            message, part = "a keyword as the object", term
        self._errors.add(message, *self._window.position(part[2]))
        return False

    def _line(self, subject: bytes, verb: bytes, term: bytes, place: int) -> bool:
        if self._graph is None:
            self._errors.add(
                "it is not known in which graph this is", *self._window.position(place)
            )
            return False
        line = b"%b %b %b%b" % (subject, verb, term, self._graph)
        self._lines.append(line)
        self._places.append(place)
        self._size += len(line)
        if self._size > _TOO_MUCH:
            self._flush()
        return True

    def _note(self, message: str, place: int) -> None:
        """Record what was mended."""
        self._errors.add_mended(message, *self._window.position(place))

    def _lost(self, fault: Term) -> None:
        self._errors.add(fault[1].decode("utf-8", "replace"), *self._window.position(fault[2]))

    def _member(self, frame: _Frame) -> None:
        """Write the last member of a collection; its ``verb`` is the last cell."""
        term = frame.slot.pop()
        cell = self._fresh()
        if frame.verb is None:
            frame.subject = (BLANK, cell, term[2])
        else:
            self._line(frame.verb[1], _REST, cell, term[2])
        frame.verb = (BLANK, cell, term[2])
        if term[0] <= TRIPLE:
            self._line(cell, _FIRST, term[1], term[2])
        elif term[0] >= BAD:
            self._lost(term)
        else:
            self._errors.add("a keyword in a collection", *self._window.position(term[2]))

    def _fresh(self) -> bytes:
        """Return a new blank node, with a label like those that the parser makes."""
        self._count += 1
        return f"_:{self._label}{self._count:09x}".encode()

    def _first_on_line(self, place: int) -> bool:
        window = self._window
        at = place - window.base
        if at < 0:
            return False
        before = window.data[max(at - _KEPT, 0) : at].rstrip(b" \t")
        return before.endswith((b"\n", b"\r")) or (not before and at <= _KEPT and not window.base)

    # -- graphs and formulas -------------------------------------------------------------------

    def _open_brace(self, frame: _Frame, place: int) -> bool:
        if self._n3:
            self._push(FORMULA, place)
            self._graph = b" " + self._fresh() + b" .\n"
            return False
        frame = self._unwind(place, (DOCUMENT, GRAPH))
        slot = frame.slot
        needs_name = frame.mark == b"graph" or frame.kind == GRAPH
        frame.mark = b""
        name: Term | None = None
        if frame.phase or len(slot) not in (0, 1, 4):
            name = (BAD, b"{ is not expected here", place)
        elif slot:
            name = slot.pop()
            if slot and not self._first_on_line(name[2]):
                name = (BAD, b"a graph name is not expected here", name[2])
        elif needs_name:
            name = (BAD, b"a graph without a name", place)
        if slot or frame.phase:
            complete = len(slot) == 3 - frame.phase
            self._finish_statement(frame, b"{", place)
            if complete:
                self._note("a dot is missing before this", place)
        if frame.kind == GRAPH and name is not None and name[0] < BAD:
            self._note("} is missing before this graph", name[2])
            frame = self._pop()
        if name is None and (self._graph is None or self._after_surplus):
            name = (BAD, b"a graph without a name", place)
        if frame.kind == DOCUMENT:
            self._graph = b" .\n"
        self._after_surplus = False
        self._push(GRAPH, place)
        if not self._graphs or (
            name is not None and (name[0] > BLANK or name[1] in (self._last_node, self._last_list))
        ):
            self._graph = None
        elif name is not None:
            self._graph = b" " + name[1] + b" .\n"
        else:
            self._graph = b" .\n"
        return True

    def _close_brace(self, place: int) -> bool:
        kinds = (FORMULA,) if self._n3 else (GRAPH,)
        if not any(frame.kind in kinds for frame in self._frames):
            frame = self._unwind(place, (DOCUMENT, GRAPH, FORMULA))
            if frame.slot or frame.phase:
                self._junk(frame, b"}", place)
            else:
                self._note("} is not expected here", place)
                self._after_surplus = True
                if self._graphs:
                    self._graph = b" .\n"
            return False
        frame = self._unwind(place, kinds)
        broken = self._broken or not self._is_whole(frame)
        if frame.slot or frame.phase:
            self._finish_statement(frame, b"}", place)
        graph = self._graph
        self._pop()
        self._broken = False
        if broken and not self._n3:
            self._graph = None  # the graph may go on
        if self._n3:
            value = (graph or b"")[1:-3]
            self._closed((BLANK, value), frame)
            return False
        return True

    # -- RDF 1.2 -------------------------------------------------------------------------------

    def _triple_term(self, frame: _Frame, kind: int) -> tuple[int, bytes]:
        """Return the term of ``<<( … )>>`` or ``<< … >>``."""
        slot = frame.slot
        reifier = None
        if frame.done:
            reifier = frame.reifier
            slot = [*frame.slot]
        wrong = next((term for term in slot if term[0] >= BAD), None)
        if wrong is not None:
            return BAD, wrong[1]
        depth = sum(open_.kind in (TRIPLE_TERM, REIFIED) for open_ in self._frames)
        if depth >= self._max_depth:
            return BAD, f"triple terms nested deeper than {self._max_depth} levels".encode()
        if (
            len(slot) != 3
            or slot[0][0] > BLANK
            or slot[1][0] not in (IRI_TERM, TYPE)
            or slot[2][0] > TRIPLE
        ):
            return BAD, b"a triple term without exactly three terms"
        value = b"<<( %b %b %b )>>" % (slot[0][1], slot[1][1], slot[2][1])
        if kind == TRIPLE_TERM:
            return TRIPLE, value
        if reifier is None:
            reifier = (BLANK, self._fresh(), frame.place)
        if reifier[0] > BLANK:
            return BAD, reifier[1]
        self._line(reifier[1], _REIFIES, value, frame.place)
        self._last_node = reifier[1]
        return reifier[0], reifier[1]

    def _name_reifier(self, frame: _Frame, place: int) -> None:
        """Take a ``~``: the name of a reifier may follow."""
        if frame.kind == REIFIED:
            frame.done = True
            frame.reifier = None
            frame.mark = b"~"
            return
        if not self._annotated(frame, b"~", place):
            return
        frame.mark = b"~"

    def _annotated(self, frame: _Frame, sign: bytes, place: int) -> bool:
        """Write the triple that an annotation follows; return whether there may be one."""
        if frame.mark == b"~":
            self._reify(frame, (BLANK, self._fresh(), place))
        if frame.done:
            return True
        if frame.kind not in (DOCUMENT, GRAPH, NODE, ANNOTATION) or self._n3 or not frame.slot:
            self._junk(frame, sign, place)
            return False
        if len(frame.slot) != 3 - frame.phase:
            frame.after = None
            self._mismatch(frame, place)
        else:
            if len(frame.slot) == 3:
                frame.subject = frame.slot[0]
            if len(frame.slot) > 1:
                frame.verb = frame.slot[-2]
            self._triple(frame, frame.slot[-1])
        frame.slot.clear()
        frame.done = True
        frame.phase = 2
        return True

    def _reify(self, frame: _Frame, reifier: Term) -> None:
        frame.mark = b""
        frame.reifier = reifier
        if frame.kind == REIFIED:
            return
        if frame.after is None:
            frame.reifier = (BAD, b"an annotation of a triple that cannot be read", reifier[2])
        elif reifier[0] > BLANK:
            reason = reifier[1] if reifier[0] >= BAD else b"a reifier that is no node"
            frame.reifier = (BAD, reason, reifier[2])
        if frame.reifier[0] >= BAD:
            self._lost(frame.reifier)
        elif frame.after is not None:
            self._line(reifier[1], _REIFIES, b"<<( %b %b %b )>>" % frame.after, reifier[2])

    def _annotate(self, frame: _Frame, place: int) -> None:
        """Open ``{| … |}``."""
        if not self._annotated(frame, b"{|", place):
            self._push(ANNOTATION, place).subject = (BAD, b"an annotation of nothing", place)
            return
        from_line = len(self._lines)
        if frame.reifier is None:
            self._reify(frame, (BLANK, self._fresh(), place))
        reifier, frame.reifier = frame.reifier, None
        opened = self._push(ANNOTATION, place)
        opened.subject, opened.from_line = reifier, from_line

    # -- keywords ------------------------------------------------------------------------------

    def _keyword(self, frame: _Frame, token: bytes, place: int) -> bool:
        """Take a keyword that is no term; return False for other words."""
        if len(token) > 7 or b":" in token or self._literal == b"^" or self._term_end == place:
            return False
        lowered = token.lower()
        begins = frame.kind < NODE and not frame.slot and not frame.phase and not frame.mark
        if lowered in _DIRECTIVES and (begins or self._first_on_line(place)):
            self._begin_directive(lowered, place)
            return True
        if begins and lowered == b"graph" and self._graphs:
            frame.mark = b"graph"
            return True
        if self._n3:
            return self._n3_keyword(frame, token, place)
        return False

    def _n3_keyword(self, frame: _Frame, token: bytes, place: int) -> bool:
        at_verb = len(frame.slot) == (1 if frame.phase == 0 else 0) and frame.phase < 2
        if token in (b"has", b"is") and at_verb and not frame.mark and frame.kind != COLLECTION:
            frame.mark = token if token == b"is" else b""
            return True
        if token == b"of" and frame.mark == b"of":
            frame.mark = b""
            return True
        if token == b"id" and frame.kind == NODE and not frame.slot and frame.verb is None:
            frame.mark = b"id"
            return True
        return False

    def _after_mark(self, frame: _Frame, term: Term) -> None:
        """Take the term that a path or keyword of N3, or a reifier's sign, waits for."""
        mark, frame.mark = frame.mark, b""
        slot = frame.slot
        if mark == b"~":
            self._reify(frame, term)
        elif mark in (b"!", b"^"):
            node = self._fresh()
            ends = slot[-1], (BLANK, node, term[2])
            subject, target = ends if mark == b"!" else ends[::-1]
            if subject[0] <= BLANK and term[0] == IRI_TERM and target[0] <= TRIPLE:
                self._line(subject[1], term[1], target[1], term[2])
                slot[-1] = (BLANK, node, slot[-1][2])
            else:
                fault = next((x for x in (slot[-1], term) if x[0] >= BAD), None)
                slot[-1] = fault or (BAD, b"a path that is beyond RDF", term[2])
        elif mark in (b"is", b"<-"):
            if term[0] == IRI_TERM:
                slot.append((INVERSE, term[1], term[2]))
            else:
                slot.append(
                    term if term[0] >= BAD else (BAD, b"a predicate that is no IRI", term[2])
                )
            frame.mark = b"of" if mark == b"is" else b""
        elif mark == b"of":
            slot[-1] = (BAD, b"is without of", term[2])
            slot.append(term)
        elif mark == b"id":
            frame.subject = term
        else:  # the name of a graph
            frame.mark = mark
            slot.append(term)

    def _at(self, frame: _Frame, token: bytes, place: int) -> int:
        """Take a language tag or directive; return its size."""
        if self._literal == b"^":
            self._spoil(frame, b"a literal without the datatype it announces", place)
            self._literal = b""
        if self._literal == b'"' and frame.slot and self._last_kind == STRING:
            self._literal = b""
            self._last_kind = AT
            found = language_of(token)
            self._term_end = place + (found[1] if found else len(token.rstrip(b".")))
            if frame.slot[-1][0] >= BAD:
                pass
            elif self._is_cut(self._term_end):
                self._spoil(frame, _CUT, place)
            elif found is None:
                shown = token.decode("utf-8", "replace")
                self._spoil(frame, f"{shown[:80]} is no valid language tag".encode(), place)
            else:
                last = frame.slot[-1]
                frame.slot[-1] = (LITERAL, last[1] + found[0], last[2])
                if found[2]:
                    self._note(
                        f"a language tag with a low line, read as {found[0].decode()}", place
                    )
            return self._term_end - place
        word = token.rstrip(b".")
        lowered = word.lower()
        if lowered.startswith(b"@prefix:"):
            word, lowered = word[:7], lowered[:7]
        if lowered in (b"@prefix", b"@base", b"@version"):
            self._begin_directive(lowered, place, usual=word == lowered)
            return len(word)
        begins = frame.kind < NODE and not frame.slot and not frame.phase
        if begins and self._n3 and lowered in (b"@forall", b"@forsome", b"@keywords"):
            self._errors.add(f"{word.decode()} is beyond RDF", *self._window.position(place))
            self._skips = True
            return len(word)
        if (
            self._n3
            and word in (b"@has", b"@is", b"@of")
            and self._n3_keyword(frame, word[1:], place)
        ):
            return len(word)
        if self._n3 and word == b"@a":
            self._append(frame, (TYPE, self.terms.word(b"a").value, place))
            return len(word)
        if self._n3 and word in (b"@true", b"@false"):
            self._append(frame, (LITERAL, self.terms.word(word[1:]).value, place))
            return len(word)
        if not self._is_broken(frame):
            self._junk(frame, word or token, place)
        return len(word) or len(token)

    # -- directives ----------------------------------------------------------------------------

    def _begin_directive(self, name: bytes, place: int, *, usual: bool = True) -> None:
        """Begin a directive; a statement before it that has no dot ends."""
        if not usual or (len(self._frames) > 1 and not self._n3):
            self._note(f"{name.decode()} in capitals or inside a graph", place)
        frame = self._unwind(place, (DOCUMENT, GRAPH, FORMULA))
        if frame.slot or frame.phase or frame.done:
            complete = len(frame.slot) == 3 - frame.phase or frame.done
            self._finish_statement(frame, b"@", place)
            if complete:
                self._note("a dot is missing before this", place)
        self._directive = [name]

    def _in_directive(self, kind: int, token: bytes, place: int) -> int:
        """Take a token of a directive; return its size, 0 if it does not belong to it."""
        name = self._directive[0]
        if name == b".":  # all of it has been read
            is_dot = kind == MARK and token == b"."
            wants_dot = self._directive[1].startswith(b"@")
            self._directive = []
            if is_dot != wants_dot:
                message = "a dot is missing before this" if wants_dot else ". is not expected here"
                self._note(message, place)
            return 1 if is_dot else 0
        plain = name.removeprefix(b"@")
        if plain == b"version" and kind == STRING:
            if token[1:2] == token[:1]:
                self._note("a version in a long string", place)
            self._directive = [b".", name]
            return len(token)
        if plain == b"prefix" and len(self._directive) == 1 and kind == WORD:
            if _NAME_ONLY.match(token):
                self._directive.append(token[:-1])
                return len(token)
        elif kind in (IRI, OTHER_IRI) and (plain == b"base" or len(self._directive) == 2):
            iri = self.terms.namespace(token)
            entry = self.terms.iri(token)
            if iri is None:
                reason = entry.value.decode() if entry.type >= Type.BAD else "no valid IRI"
                self._errors.add(
                    f"a declaration that cannot be read: {reason}", *self._window.position(place)
                )
            elif entry.mended:
                self._note(entry.mended, place)
            if plain == b"base":
                self.terms.base = iri
            else:
                self.terms.declare(self._directive[1].decode("utf-8", "replace"), iri)
            self._directive = [b".", name]
            return len(token)
        if plain == b"base":
            self.terms.base = None
        elif len(self._directive) == 2:
            self.terms.declare(self._directive[1].decode("utf-8", "replace"), None)
        self._errors.add("a declaration that cannot be read", *self._window.position(place))
        self._directive = []
        self._skips = True
        return 0

    # -- ends ----------------------------------------------------------------------------------

    def _end(self, place: int) -> None:
        """Finish what is open at the end of the document."""
        while True:
            frame = self._unwind(place, (DOCUMENT, GRAPH, FORMULA))
            if frame.slot or frame.phase or frame.done:
                fault = self._errors.count
                self._finish_statement(frame, b"", place)
                if self._errors.count == fault:
                    self._note("the document ends without a dot", place)
            if frame.kind == DOCUMENT:
                break
            self._pop()
            self._broken = False
            if frame.kind == GRAPH:
                self._note("} is missing at the end", place)
            else:
                self._append(self._frames[-1], (BAD, b"{ is not closed", frame.place))
        if self._directive and self._directive[0] != b".":
            self._errors.add("a declaration that cannot be read", *self._window.position(place))
        self._directive = []

    def _flush(self) -> None:
        """Write the lines so far."""
        if not self._lines:
            return
        lines, places = self._lines, self._places
        self._lines, self._places, self._size = [], [], 0
        for frame in self._frames:
            frame.from_line = 0
            frame.doubtful = min(frame.doubtful, 0)
            frame.glued_from = min(frame.glued_from, 0)
        self._write(b"".join(lines), places)


def _end_of_line(data: bytes, at: int) -> int:
    found = _LINE_END.search(data, at)
    return found.start() if found else len(data)


def _has_line_end(text: bytes) -> bool:
    return b"\n" in text or b"\r" in text
