"""Turns the parser's N-Triples or N-Quads into finished quads: graph names, blank node labels."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from io import BufferedWriter, BytesIO, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast
from urllib.parse import quote

from semcrawl.rdf.limits import Deadline, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.quadlines import (
    TERM,
    BlankNodeNames,
    LineEdit,
    blank_nodes,
    for_older_readers,
    label_starts,
    line_ends,
    lines_with_graphs,
)
from semcrawl.rdf.terms import RDF

if TYPE_CHECKING:
    from typing_extensions import Buffer

_LABEL = re.compile(rb"_:([^ ]+)")
_RDF = b"^^<" + RDF.encode()
#: what ends a literal whose datatype only a language tag gives, be it in another literal or not
NO_LANGUAGE = re.compile(rb'"' + re.escape(_RDF) + rb"(?:dirL|l)angString>")
_UNTAGGED = (_RDF + b"langString>", _RDF + b"dirLangString>")

_PIECE = 1 << 20
#: bytes of the parser's lines that are taken at once
_GATHERED = 1 << 18
#: bytes of the longest line kept: parsers and stores take 16 MiB at most, graph name included
LONGEST_LINE = (1 << 24) - (1 << 16)


def spool_prefix(pid: int) -> str:
    """Return the prefix of the names of a process's spool files."""
    return f"semcrawl-{pid}-"


class Mark(NamedTuple):
    """A position in a sink's output."""

    position: int
    quads: int
    size: int
    blank_nodes: int


class TooMuch(Exception):  # noqa: N818 - an event
    """A piece of text gives too many bytes of lines to be held."""


class HeldLines(RawIOBase):
    """Holds the lines of a piece of text until it is known to be sound."""

    def __init__(self, most: int) -> None:
        """Hold at most ``most`` bytes."""
        super().__init__()
        #: the lines, cut anywhere
        self.pieces: list[bytes] = []
        self._left = most
        #: the file for the serializer; it gathers the small pieces that this writes
        self.file = BufferedWriter(self, _GATHERED)

    def writable(self) -> bool:
        """Say that this can be written."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Take a piece. Raises :class:`TooMuch`, once."""
        piece = bytes(data)
        was_left, self._left = self._left, self._left - len(piece)
        if self._left >= 0:
            self.pieces.append(piece)
        elif was_left >= 0:
            raise TooMuch
        return len(piece)


class QuadSink:
    """Receives the lines that :func:`pyoxigraph.serialize` writes, finishes and keeps them.

    ``graph`` names the default graph. Lines are finished in pieces of a megabyte, which bounds the
    memory.
    """

    def __init__(self, graph: str, options: ReadOptions) -> None:
        """Collect the quads of the document at ``graph``."""
        self.names = BlankNodeNames(options.blank_node_scope or graph, options.skolem_base)
        self._own_names = self.names
        self._url = graph
        #: called with a message when a statement is left out
        self.report: Callable[[str], None] | None = None
        #: returns the bytes of the text that the quads come from, so far; ``None``: not known
        self.text: Callable[[], int] | None = None
        #: what unreadable bytes became; a statement with an IRI that contains it is left out
        self.unreadable: tuple[bytes, ...] = ()
        self.quads = 0
        self.size = 0
        #: whether the parser writes N-Quads (else N-Triples)
        self.has_graphs = False
        #: whether every line is known to have a graph name
        self.all_named = False
        #: whether the source contains "_:", be it in labels, literals or IRIs
        self.may_have_labels = True
        default = options.default_graph or graph
        self._graph = b"<" + default.encode("utf-8", "replace") + b">"
        self._options = options
        self._deadline = Deadline(options.max_seconds)
        self._pending: list[bytes | memoryview] = []
        self._pending_size = 0
        self._memory = BytesIO()
        self._out: IO[bytes] = self._memory
        self.spool: Path | None = None

    def enter_member(self, name: str) -> None:
        """Begin a member of an archive, with its own blank nodes and maybe its own graph name."""
        self.flush()
        member = f"{self._url}#{quote(name)}"
        self.names = BlankNodeNames(member, self._options.skolem_base)
        if self._options.member_graphs:
            self._graph = b"<" + member.encode("utf-8", "replace") + b">"

    def enter_part(self, name: str) -> None:
        """Begin a part of a document with its own blank nodes; an empty name ends it."""
        self.flush()
        if name:
            part = f"{self._url}#{quote(name)}"
            self.names = BlankNodeNames(part, self._options.skolem_base)
        else:
            self.names = self._own_names

    def mark(self) -> Mark:
        """Return the current position, for :meth:`rollback`."""
        self.flush()
        return Mark(self._out.tell(), self.quads, self.size, self.names.count)

    def rollback(self, mark: Mark) -> None:
        """Remove the lines written since ``mark``."""
        self._pending, self._pending_size = [], 0
        self._out.seek(mark.position)
        self._out.truncate()
        self.quads, self.size = mark.quads, mark.size
        self.names.forget(mark.blank_nodes)

    @property
    def file(self) -> IO[bytes]:
        """The sink, typed for the serializer, which needs only ``write`` and ``flush``."""
        return cast(IO[bytes], self)

    def write(self, data: bytes | memoryview) -> int:
        """Take a piece of the parser's output. It may end inside a line."""
        self._pending.append(data)
        self._pending_size += len(data)
        if self._pending_size >= _PIECE:
            self._drain()
        return len(data)

    def flush(self) -> None:
        """Finish the lines so far."""
        self._drain()

    def finish(self) -> bytes:
        """Close the sink; return the N-Quads, or nothing when they are in :attr:`spool`."""
        self._drain()
        if self.spool is not None:
            self._out.close()
        return self._memory.getvalue()

    def _drain(self) -> None:
        if not self._pending:
            return
        last = bytes(self._pending[-1])
        end = last.rfind(b"\n") + 1
        if not end:  # a line that the parser writes in several pieces
            last = b"".join(self._pending)
            self._pending = [last]
            end = last.rfind(b"\n") + 1
        rest = last[end:]
        self._pending[-1] = last[:end]
        lines = b"".join(self._pending)
        self._pending = [rest] if rest else []
        self._pending_size = len(rest)
        if lines:
            self.add_lines(lines)

    @property
    def default_tail(self) -> bytes:
        """What ends a line in the default graph, for :meth:`add_quads`."""
        return b" " + self._graph + b" .\n"

    def add_quads(self, lines: bytes) -> None:
        """Add whole lines whose graphs and blank nodes have their final names."""
        lines = self._without_refused(lines)
        before = self.quads
        self.quads += lines.count(b"\n")
        self._keep(lines, before)

    def add_lines(self, lines: bytes) -> int:
        """Add whole lines (N-Quads if :attr:`has_graphs`, else N-Triples); return their number."""
        before = self.quads
        lines = self._without_refused(lines)
        self._keep(self._named(lines), before)
        return self.quads - before

    def _keep(self, finished: bytes | bytearray, before: int) -> None:
        """Write finished lines; there were ``before`` quads before them."""
        finished = for_older_readers(finished)
        if self.size + len(finished) > self._options.max_nquads_bytes:
            self.quads = before
            raise LimitReached(f"more than {self._options.max_nquads_bytes} bytes of N-Quads")
        if self._grows_too_much(self.size + len(finished)):
            self.quads = before
            raise LimitReached(
                f"N-Quads of more than {self._options.max_ratio:g} times the text's size"
            )
        self.size += len(finished)
        if self.spool is None and self.size > self._options.spool_above:
            self._to_file()
        self._out.write(finished)
        if fault := self._deadline.fault():
            raise LimitReached(fault)

    def _grows_too_much(self, size: int) -> bool:
        """Whether quads of ``size`` bytes are many times as long as the text they come from.

        Each use of a prefix costs a few bytes of text, and its namespace may be long. Graph names
        do not count, as the document does not choose them.
        """
        size -= self.quads * len(self._graph)
        return (
            self.text is not None and size > _PIECE and size > self._options.max_ratio * self.text()
        )

    def _without_refused(self, lines: bytes) -> bytes:
        """Drop the lines that no one could read, or whose IRIs are not known."""
        if len(lines) > LONGEST_LINE:
            lines = self._without_long(lines)
        if b"angString>" in lines and NO_LANGUAGE.search(lines):
            lines = self._without_untagged(lines)
        if self.unreadable and any(sign in lines for sign in self.unreadable):
            lines = self._without_unreadable(lines)
        return lines

    def _without_long(self, lines: bytes) -> bytes:
        """Drop the lines that are too long for other readers."""
        kept = []
        for line in lines.split(b"\n"):
            if len(line) <= LONGEST_LINE:
                kept.append(line)
            elif self.report is not None:
                self.report("a statement of more than 16 MiB")
        return b"\n".join(kept)

    def _without_unreadable(self, lines: bytes) -> bytes:
        """Drop the lines with an IRI that is not known, as its bytes could not be decoded."""
        kept = []
        for line in lines.split(b"\n"):
            terms = (found[1] for found in TERM.finditer(line))
            if not any(
                term and term.startswith(b"<") and sign in term
                for term in terms
                for sign in self.unreadable
            ):
                kept.append(line)
            elif self.report is not None:
                self.report("an IRI with bytes that mean nothing in the document's encoding")
        return b"\n".join(kept)

    def _without_untagged(self, lines: bytes) -> bytes:
        """Drop the language strings without a language, which no strict reader takes."""
        kept = []
        for line in lines.splitlines(keepends=True):
            terms = (match[1] or b"" for match in TERM.finditer(line))
            if not any(term[:1] == b'"' and term.endswith(_UNTAGGED) for term in terms):
                kept.append(line)
            elif self.report is not None:
                self.report("a language string without a language")
        return b"".join(kept)

    def _named(self, lines: bytes) -> bytes | bytearray:
        """Label the blank nodes, and add the graph name to the lines without one."""
        edit = LineEdit(lines)
        if not self._name_nodes(edit, lines):
            lines = self._rename(lines)
            edit = LineEdit(lines)
        if self.has_graphs and self.all_named:
            self.quads += lines.count(b"\n")
        elif self.has_graphs:
            ends, named = lines_with_graphs(lines)
            self.quads += len(ends)
            edit.name_graphs(ends[~named], self._graph)
        else:
            ends = line_ends(lines)
            self.quads += len(ends)
            edit.name_graphs(ends, self._graph)
        return edit.finished()

    def _name_nodes(self, edit: LineEdit, lines: bytes) -> bool:
        """Label the blank nodes of ``lines``; return False if that is left to :meth:`_rename`."""
        names = self.names
        if names.end:
            return False
        if not (names.all_labelled or self.may_have_labels) and edit.name_nodes(
            label_starts(lines), names, labels=False
        ):
            # so no literal holds "_:" followed by what looks like a generated label
            return True
        starts = blank_nodes(lines)
        if starts is None:
            return False
        if names.all_labelled:
            edit.name_labelled(starts, names.labelled)
            return True
        return edit.name_nodes(starts, names, labels=True)

    def _rename(self, lines: bytes) -> bytes:
        """Label the blank nodes one by one."""
        starts = blank_nodes(lines)
        if starts is None:
            return self._rename_by_terms(lines)
        pieces = _LABEL.split(lines)
        pieces[1::2] = self.names.terms(pieces[1::2])
        return b"".join(pieces)

    def _rename_by_terms(self, lines: bytes) -> bytes:
        name = self.names.name
        return b"".join(
            TERM.sub(lambda m: m[1] or name(m[2]), line) if b"_:" in line else line
            for line in lines.splitlines(keepends=True)
        )

    def _to_file(self) -> None:
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed by finish
            prefix=spool_prefix(os.getpid()),
            suffix=".nq",
            dir=self._options.spool_dir,
            delete=False,
        )
        self.spool = Path(file.name)
        file.write(self._memory.getbuffer())
        self._memory = BytesIO()
        self._out = file
