"""The part of a text that a reader sees, and the lines and columns of its positions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.packed.streams import Readable

_READ = 1 << 20
_MOST_REMEMBERED = 1 << 12


class Window:
    """The text of a document, or the part of it that is in memory.

    Positions are bytes from the beginning of the document, :attr:`start` an index of :attr:`data`.
    """

    def __init__(self, text: bytes, file: Readable | None = None) -> None:
        """See ``text``, and what ``file`` gives after it."""
        self.data = text
        #: position of the first byte of :attr:`data`
        self.base = 0
        #: index of the first byte that is not yet read
        self.start = 0
        #: whether :attr:`data` reaches to the end of the document
        self.ended = file is None
        self._file = file
        #: number of the first line of :attr:`data`, and characters of that line before it
        self._line, self._columns = 1, 0
        self._line_starts: npt.NDArray[np.intp] | None = None
        self._last = (-1, 0, 0)
        self._remembered: dict[int, tuple[int, int]] = {}

    def more(self, kept: int) -> None:
        """Read on, at least as much as there is, and forget what is before the index ``kept``."""
        if self._file is None:
            return
        pieces: list[bytes] = []
        wanted = max(_READ, len(self.data) - kept)
        while wanted > 0:
            piece = self._file.read(wanted)
            if not piece:
                self.ended, self._file = True, None
                break
            pieces.append(piece)
            wanted -= len(piece)
        if kept:
            line, column = self.position(self.base + kept)
            self._line, self._columns = line, column - 1
            self.base += kept
        self.data = b"".join([self.data[kept:], *pieces])
        self.start = max(self.start - kept, 0)
        self._line_starts = None
        self._last = (-1, 0, 0)

    def remember(self, place: int) -> None:
        """Keep the line and column of a position for when its text is forgotten."""
        if not self.ended:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[place] = self.position(place)

    def position(self, place: int) -> tuple[int, int]:
        """Return line and column, both from 1, of a position, or of the nearest one in memory."""
        at = place - self.base
        if at < 0:
            if place in self._remembered:
                return self._remembered[place]
            at = 0
        if self._line_starts is None:
            octets = np.frombuffer(self.data, np.uint8)
            returns = octets == ord("\r")
            returns[:-1] &= octets[1:] != ord("\n")
            self._line_starts = np.flatnonzero((octets == ord("\n")) | returns) + 1
        number = int(np.searchsorted(self._line_starts, at, side="right"))
        begin = int(self._line_starts[number - 1]) if number else 0
        columns = 0 if number else self._columns
        if self._last[0] == number and self._last[1] <= at:
            begin, columns = self._last[1:]
        columns += len(self.data[begin:at].decode("utf-8", "replace"))
        self._last = (number, at, columns)
        return self._line + number, columns + 1
