"""Changes to the lines of a piece that are made to all of them at once.

Cutting lines up and joining them costs far more than copying them. So numpy overwrites what is to
change with signs that such lines never hold, and each of these signs is replaced in one go.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.lines.linescan import Places
from semcrawl.rdf.output.blanknodes import BlankNodeNames

Signs = npt.NDArray[np.uint8]
Windows = npt.NDArray[np.bytes_]

#: Marks: for nothing, for the dot of a line without a graph, for the colon of a labelled node.
#: N-Triples and N-Quads as the parser writes them hold no such signs but as escapes.
_NOTHING, _DOT, _COLON = b"\0", b"\1", b"\2"
_SPACE = ord(" ")
#: signs of the names that the parser makes up: nearly always as many, and 29 in all but one of
#: 2**16; lines with shorter ones are left to others
_LONGEST, _SHORTEST = 32, 29
#: digits that make a label look like a name that the parser made up (see BlankNodeNames)
_TELLING = 20


class LineEdit:
    """Canonical lines, and what is to be changed in them."""

    def __init__(self, lines: bytes) -> None:
        """Change ``lines``."""
        # names are looked at in windows of one size, the last one, too
        self._text = bytearray().join((lines, bytes(_LONGEST)))
        self._signs: Signs = np.frombuffer(self._text, np.uint8)
        self._windows = np.ndarray((len(lines),), f"S{_LONGEST}", self._text, strides=(1,))
        self._graph = self._labelled = b""

    def name_graphs(self, ends: Places, graph: bytes) -> None:
        """Put the term ``graph`` before the dots of the lines that end at ``ends``."""
        self._signs[ends - 1] = _DOT[0]
        self._graph = graph + b" ."

    def name_labelled(self, starts: Places, before: bytes) -> None:
        """Put ``before``, which begins with ``_:`` itself, in place of ``_:`` at ``starts``."""
        self._signs[starts - 1] = _COLON[0]
        self._labelled = before.removeprefix(b"_")

    def name_nodes(self, starts: Places, names: BlankNodeNames, *, labels: bool) -> bool:
        """Name the blank nodes whose labels begin at ``starts``; their names must not be IRIs.

        Returns whether that was possible; else nothing is changed. Without ``labels`` it is
        possible only when all names are those of the parser.
        """
        if not len(starts):
            return True
        found = self._windows[starts]
        made_up, doubtful = self._made_up(starts, found)
        if made_up.all():
            return self._rank(starts, found, names)
        if doubtful or not labels or not self._rank(starts[made_up], found[made_up], names):
            return False
        self.name_labelled(starts[~made_up], names.labelled)
        return True

    def _made_up(self, starts: Places, found: Windows) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return which names the parser made up; cut what stands behind them out of ``found``.

        Second, whether there are others that it may have made up, too.
        """
        signs = found.view(np.uint8).reshape(-1, _LONGEST)
        made_up = self._signs[starts + _LONGEST] == _SPACE
        for size in range(_LONGEST - 1, _SHORTEST - 1, -1):
            shorter = signs[:, size] == _SPACE
            made_up |= shorter
            signs[np.flatnonzero(shorter), size:] = 0
        made_up &= signs[:, 0] > ord("9")
        digits = (signs - ord("0")) < 10  # what is below zero is high
        digits |= (signs - ord("a")) < 6
        possible = digits | (signs == 0)
        if made_up.all() and possible.all():
            return made_up, False
        alike = digits[:, :_TELLING].all(axis=1) & (signs[:, 0] > ord("9"))
        made_up &= alike & possible.all(axis=1)
        return made_up, bool((alike & ~made_up).any())

    def _rank(self, starts: Places, found: Windows, names: BlankNodeNames) -> bool:
        """Write the ranks of the names ``found`` at ``starts`` in their place."""
        if not len(starts):
            return True
        first = np.ones(len(found), np.bool_)  # of some alike that follow each other
        first[1:] = found[1:] != found[:-1]
        ranks = np.array(names.ranks(found[first].tolist()), np.uint32)
        ranks = ranks[first.cumsum() - 1]
        before = names.ranked.removeprefix(b"_:")
        last = len(before) + len(str(names.count)) - 1
        if last >= _SHORTEST:
            return False
        rows = bytearray(before.ljust(_LONGEST, b"\0") * len(found))
        new = np.frombuffer(rows, np.uint8).reshape(-1, _LONGEST)
        new[:, last] = ranks % 10 + ord("0")
        for column in range(last - 1, len(before) - 1, -1):
            ranks //= 10
            new[:, column] = (ranks % 10 + ord("0")) * (ranks > 0)
        # what stands behind a shorter name stays
        behind = found.view(np.uint8).reshape(new.shape) == 0
        old = self._windows[starts].view(np.uint8).reshape(new.shape)
        np.copyto(new, old, where=behind)
        self._windows[starts] = new.view(found.dtype)[:, 0]
        return True

    def finished(self) -> bytearray:
        """Return the lines with all changes."""
        text = self._text.replace(_NOTHING, b"")
        if self._labelled:
            text = text.replace(_COLON, self._labelled)
        if self._graph:
            text = text.replace(_DOT, self._graph)
        return text
