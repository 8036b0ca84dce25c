"""Finds the lines of a document in a file of quads, graph by graph."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from semcrawl.rdf.quadlines import graph_of, is_all_in, line_ending, whole_lines

CHUNK_SIZE = 1 << 20
#: most runs of lines whose places are remembered for a document (16 bytes each)
_MOST_RUNS = 4_000_000


@dataclass(slots=True)
class Span:
    """The lines of one document in a file of quads.

    A document may have statements in tens of thousands of graphs. For the second graph, the places
    of all graphs' lines are noted, so that the lines are not read once per graph.
    """

    #: opened for reading
    file: IO[bytes]
    url: str
    #: bytes
    offset: int
    length: int
    quads: int = 0
    #: whether the document is known to have lines of several graphs
    _mixed: bool = field(default=False, init=False, repr=False)
    #: by graph, offset and length of each run of its lines; empty if there are too many runs
    _runs: dict[str, array[int]] | None = field(default=None, init=False, repr=False)

    def lines(self, graph: str) -> Iterator[bytes]:
        """Yield whole lines of a graph; ``""`` is the default graph."""
        if self._mixed and self._runs is None:
            self._find_runs()
        if self._runs:
            yield from _gathered(self._lines_of(self._runs.get(graph, array("Q"))))
            return
        ending = line_ending(graph)
        for lines in whole_lines(self._pieces(self.offset, self.length)):
            if graph and is_all_in(lines, graph):
                yield lines
                continue
            self._mixed = True
            of_graph = (
                line
                for line in lines.splitlines(keepends=True)
                if (line.endswith(ending) if graph else not graph_of(line))
            )
            if found := b"".join(of_graph):
                yield found

    def _lines_of(self, places: array[int]) -> Iterator[bytes]:
        for offset, length in zip(places[::2], places[1::2], strict=True):
            yield from whole_lines(self._pieces(offset, length))

    def _find_runs(self) -> None:
        """Note where the lines of each graph are, unless there are too many runs."""
        runs: dict[str, array[int]] = {}
        at, count, graph, ending = self.offset, 0, "", b""
        places: array[int] = array("Q")
        for lines in whole_lines(self._pieces(self.offset, self.length)):
            for line in lines.splitlines(keepends=True):
                if not (ending and line.endswith(ending)):
                    graph = graph_of(line)
                    ending = line_ending(graph) if graph else b""
                    places = runs.setdefault(graph, array("Q"))
                if places and places[-2] + places[-1] == at:
                    places[-1] += len(line)
                else:
                    places.extend((at, len(line)))
                    count += 1
                at += len(line)
            if count > _MOST_RUNS:
                runs = {}
                break
        self._runs = runs

    def _pieces(self, offset: int, length: int) -> Iterator[bytes]:
        left = min(length, self.offset + self.length - offset)
        while left > 0:
            piece = os.pread(self.file.fileno(), min(CHUNK_SIZE, left), offset)
            if not piece:
                return
            yield piece
            offset += len(piece)
            left -= len(piece)


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join pieces into chunks, so that the caller need not send single lines."""
    some: list[bytes] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size >= CHUNK_SIZE:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)
