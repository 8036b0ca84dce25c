"""The way from the parser's N-Triples or N-Quads bytes to finished quads with provenance."""

from __future__ import annotations

import re
import tempfile
from io import BytesIO
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote

from semcrawl.rdf.blanknodes import BlankNodeNames
from semcrawl.rdf.errors import LimitReached
from semcrawl.rdf.options import ReadOptions

#: A line's blank nodes: as subject, as last term (object or graph), as object before a graph.
#: Each pattern begins with fixed bytes, which the engine finds without trying every position.
_SUBJECT = re.compile(rb"\n_:([^\s\"]+)")
_LAST = re.compile(rb" _:([^\s\"]+) \.\n")
_OBJECT = re.compile(rb"(> )_:([^\s\"]+)(?= (?:<[^>\"]*>|_:[^\s\"]+) \.\n)")
#: Any term of a line that holds triple terms.
_TERM = re.compile(
    rb'("[^"\\]*+(?:\\.[^"\\]*+)*+"(?:@[A-Za-z0-9-]++|\^\^<[^>]*+>)?+|<[^>\s]*+>)|_:([^\s]+)'
)

_PIECE = 1 << 19


class QuadSink:
    """A file that :func:`pyoxigraph.serialize` writes to; it finishes and keeps the lines.

    ``graph`` names the default graph. Lines are finished in pieces of half a megabyte, so memory
    does not depend on the document's size.
    """

    def __init__(self, graph: str, options: ReadOptions) -> None:
        """Collect the quads of the document at ``graph``."""
        self.names = BlankNodeNames(graph, options.skolem_base)
        self._url = graph
        self.quads = 0
        self.size = 0
        #: whether what is written has graph names (N-Quads) or not (N-Triples)
        self.has_graphs = False
        self._graph = b" <" + graph.encode("utf-8", "replace") + b"> .\n"
        self._options = options
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
        if b"_:" in lines:
            lines = self._rename(lines)
        if self.has_graphs:
            lines = self._name_graphs(lines)
        else:
            self.quads += lines.count(b"\n")
            lines = lines.replace(b" .\n", self._graph)
        self.size += len(lines)
        if self.size > self._options.max_nquads_bytes:
            raise LimitReached(f"more than {self._options.max_nquads_bytes} bytes of N-Quads")
        if self.spool is None and self.size > self._options.spool_above:
            self._to_file()
        self._out.write(lines)

    def _name_graphs(self, lines: bytes) -> bytes:
        """Give the lines without a graph that of the document."""
        parts = lines.split(b" .\n")
        parts.pop()
        self.quads += len(parts)
        bare = [index for index, part in enumerate(parts) if not _has_graph(part)]
        if not bare:
            return lines
        if len(bare) == len(parts):
            return lines.replace(b" .\n", self._graph)
        graph = self._graph[:-3]
        for index in bare:
            parts[index] += graph
        parts.append(b"")
        return b" .\n".join(parts)

    def _rename(self, lines: bytes) -> bytes:
        name = self.names.name
        if b"<<(" in lines:
            return _TERM.sub(lambda m: m[1] or name(m[2]), lines)
        lines = b"\n" + lines
        lines = _SUBJECT.sub(lambda m: b"\n" + name(m[1]), lines)
        if self.has_graphs:
            lines = _OBJECT.sub(lambda m: m[1] + name(m[2]), lines)
        lines = _LAST.sub(lambda m: b" %s .\n" % name(m[1]), lines)
        return lines[1:]

    def _to_file(self) -> None:
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed by finish
            prefix="semcrawl-", suffix=".nq", dir=self._options.spool_dir, delete=False
        )
        self.spool = Path(file.name)
        file.write(self._memory.getbuffer())
        self._memory = BytesIO()
        self._out = file


def _has_graph(statement: bytes) -> bool:
    """Whether a line without its end has four terms.

    The last term is then an IRI or a blank node, stands after a space, and is not the third.
    """
    if statement[-1] == 34:  # a quotation mark: a literal
        return False
    last = statement.rfind(b" ") + 1
    first = statement[last]
    if first == 60 or first == 95:  # < or _
        if statement.find(b" ", statement.find(b" ") + 1) + 1 == last:
            return False
        return statement.find(b'"', last) < 0 and (first == 60 or statement[last + 1] == 58)
    return False
