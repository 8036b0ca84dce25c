"""The way from the parser's N-Triples or N-Quads bytes to finished quads with provenance."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple, cast
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.blanknodes import BlankNodeNames
from semcrawl.rdf.errors import LimitReached
from semcrawl.rdf.options import ReadOptions

_ANY = re.compile(rb"_:")
_LABEL = re.compile(rb"_:([^ ]+)")
#: "_:" in a literal: behind a quotation mark, and not the last term of its line. Each pattern
#: begins with fixed bytes, which the engine finds without trying every position.
_IN_LITERAL = re.compile(rb'"[^"\n_]*+(?:_(?!:)[^"\n_]*+)*+_:(?![^\s"<>]+ \.\n)')
_BEFORE_LABEL = frozenset({b"", b" ", b"\n"})
#: Any term.
_TERM = re.compile(
    rb'("[^"\\]*+(?:\\.[^"\\]*+)*+"(?:@[A-Za-z0-9-]++|\^\^<[^>]*+>)?+|<[^>\s]*+>)|_:([^\s]+)'
)

_PIECE = 1 << 19


class Mark(NamedTuple):
    """A place in a sink's output."""

    position: int
    quads: int
    size: int
    blank_nodes: int


class QuadSink:
    """A file that :func:`pyoxigraph.serialize` writes to; it finishes and keeps the lines.

    ``graph`` names the default graph. Lines are finished in pieces of half a megabyte, so memory
    does not depend on the document's size.
    """

    def __init__(self, graph: str, options: ReadOptions) -> None:
        """Collect the quads of the document at ``graph``."""
        self.names = BlankNodeNames(graph, options.skolem_base)
        self._url = graph
        #: changes lines of the parser before anything else is done with them
        self.rewrite: Callable[[bytes], bytes] | None = None
        self.quads = 0
        self.size = 0
        #: whether what is written has graph names (N-Quads) or not (N-Triples)
        self.has_graphs = False
        #: whether the source has "_:" anywhere: in labels, in literals, in IRIs
        self.may_have_labels = True
        self._graph = b" <" + graph.encode("utf-8", "replace") + b"> .\n"
        self._options = options
        self._end = time.monotonic() + options.max_seconds
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._memory = BytesIO()
        self._out: IO[bytes] = self._memory
        self.spool: Path | None = None

    def enter_member(self, name: str) -> None:
        """Go on with the quads of an archive's member: other blank nodes, maybe another graph."""
        self.flush()
        member = f"{self._url}#{quote(name)}"
        self.names = BlankNodeNames(member, self._options.skolem_base)
        if self._options.member_graphs:
            self._graph = b" <" + member.encode("utf-8", "replace") + b"> .\n"

    def mark(self) -> Mark:
        """Return where the output is now, for :meth:`rollback`."""
        self.flush()
        return Mark(self._out.tell(), self.quads, self.size, self.names.count)

    def rollback(self, mark: Mark) -> None:
        """Forget what was written since ``mark``."""
        self._pending, self._pending_size = [], 0
        self._out.seek(mark.position)
        self._out.truncate()
        self.quads, self.size = mark.quads, mark.size
        self.names.forget(mark.blank_nodes)

    @property
    def file(self) -> IO[bytes]:
        """The sink as the serializer's type wants it: only ``write`` and ``flush`` are used."""
        return cast(IO[bytes], self)

    def write(self, data: bytes | memoryview) -> int:
        """Take a piece of the parser's output, which may end within a line."""
        self._pending.append(bytes(data))
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
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        self._pending = [rest] if rest else []
        self._pending_size = len(rest)
        if end:
            self.add_lines(data[:end] if rest else data)

    def add_lines(self, lines: bytes) -> None:
        """Add whole lines: N-Quads when :attr:`has_graphs`, else N-Triples."""
        if self.rewrite is not None:
            lines = self.rewrite(lines)
        lines = self._rename(lines)
        if self.has_graphs:
            lines = self._name_graphs(lines)
        else:
            parts = lines.split(b" .\n")
            self.quads += len(parts) - 1
            lines = self._graph.join(parts)
        self.size += len(lines)
        if self.size > self._options.max_nquads_bytes:
            raise LimitReached(f"more than {self._options.max_nquads_bytes} bytes of N-Quads")
        if time.monotonic() > self._end:
            raise LimitReached(f"not finished after {self._options.max_seconds:g} seconds")
        if self.spool is None and self.size > self._options.spool_above:
            self._to_file()
        self._out.write(lines)

    def _name_graphs(self, lines: bytes) -> bytes:
        """Give the lines without a graph that of the document."""
        ends, named = lines_with_graphs(lines)
        self.quads += len(ends)
        bare = ends[~named]
        if not len(bare):
            return lines
        if len(bare) == len(ends):
            return lines.replace(b" .\n", self._graph)
        pieces: list[bytes] = []
        start = 0
        for end in bare.tolist():
            pieces += (lines[start : end - 2], self._graph)
            start = end + 1
        pieces.append(lines[start:])
        return b"".join(pieces)

    def _rename(self, lines: bytes) -> bytes:
        """Give the blank nodes their names, in the order in which they appear."""
        names = self.names
        by_label = names.all_labelled and not names.end
        if not self.may_have_labels:
            if names.all_labelled:
                return lines
            pieces = _LABEL.split(lines)
            renamed = names.made_up(pieces[1::2])
            if renamed is not None:
                pieces[1::2] = renamed
                return b"".join(pieces)
        pieces = _ANY.split(lines) if by_label else _LABEL.split(lines)
        if len(pieces) == 1:
            return lines
        before = pieces[:-1] if by_label else pieces[:-1:2]
        if not _BEFORE_LABEL.issuperset({p[-1:] for p in before}):
            return self._rename_by_terms(lines)
        quoted = any(p.find(b'"', p.rfind(b"\n") + 1) >= 0 for p in before if p[-1:] == b" ")
        if quoted and _IN_LITERAL.search(lines):
            return self._rename_by_terms(lines)
        # every "_:" is a blank node's
        if by_label:
            return names.labelled.join(pieces)
        pieces[1::2] = names.terms(pieces[1::2])
        return b"".join(pieces)

    def _rename_by_terms(self, lines: bytes) -> bytes:
        name = self.names.name
        return b"".join(
            _TERM.sub(lambda m: m[1] or name(m[2]), line) if b"_:" in line else line
            for line in lines.splitlines(keepends=True)
        )

    def _to_file(self) -> None:
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed by finish
            prefix="semcrawl-", suffix=".nq", dir=self._options.spool_dir, delete=False
        )
        self.spool = Path(file.name)
        file.write(self._memory.getbuffer())
        self._memory = BytesIO()
        self._out = file


def lines_with_graphs(
    lines: bytes,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return where the lines of N-Quads end, and which of them have four terms.

    What ends a literal has a quotation mark; so a graph is a term like an IRI or a blank node, with
    nothing but a space before it and behind it, that is not the third.
    """
    signs = np.frombuffer(lines, np.uint8)
    marks = np.flatnonzero(signs < 35)
    kinds = signs[marks]
    wanted = (kinds == 10) | (kinds == 32) | (kinds == 34)  # line end, space, quotation mark
    if not wanted.all():
        marks, kinds = marks[wanted], kinds[wanted]
    last = np.flatnonzero(kinds == 10)
    first = signs[marks[last - 2] + 1]
    named = np.diff(last, prepend=-1) >= 5
    named &= (kinds[last - 1] == 32) & (kinds[last - 2] == 32) & ((first == 60) | (first == 95))
    return marks[last], named
