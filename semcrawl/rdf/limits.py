"""Enforces the limits of one document: errors, bytes, members, time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event

from semcrawl.items import DocumentError
from semcrawl.rdf.options import ReadOptions

_POSITION = re.compile(
    r"^Parser error (?:at|between) line (\d+) (?:between columns|column) (\d+)[^:]*: "
)
#: bytes unpacked before the ratio counts, as small files may be repetitive
_RATIO_FLOOR = 16 * 2**20
_REPEATED_LINE = re.compile(r" \(line \d+\)\Z")


class LimitReached(Exception):  # noqa: N818 - an event, not an error of the program
    """A document exceeds a limit; the message names it."""


def position_of(error: SyntaxError) -> tuple[str, int, int]:
    """Return message, line and column of a parser's error; 0 where unknown."""
    message = str(error.msg or error)
    if found := _POSITION.match(message):
        message = _REPEATED_LINE.sub("", message[found.end() :])
        return message, int(found[1]), int(found[2])
    return message, error.lineno or 0, error.offset or 0


#: in a thread that reads: set when the reading is to end before its time is up
STOPPED: ContextVar[Event | None] = ContextVar("STOPPED", default=None)


class Deadline:
    """When the reading of a document ends at the latest."""

    __slots__ = ("_end", "_seconds", "_stopped")

    def __init__(self, seconds: float) -> None:
        """Start the document's clock."""
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = STOPPED.get()

    def fault(self) -> str:
        """Return why the reading must end, or an empty string."""
        if self._stopped is not None and self._stopped.is_set():
            return "not finished before the crawl ended"
        if time.monotonic() > self._end:
            return f"not finished after {self._seconds:g} seconds"
        return ""


class ErrorLog:
    """Counts the errors of one document, keeps the first few, and checks its time limit."""

    def __init__(self, options: ReadOptions) -> None:
        """Start the document's clock."""
        self._options = options
        self._deadline = Deadline(options.max_seconds)
        self.kept: list[DocumentError] = []
        #: faults of the document, mended ones too
        self.count = 0
        self._lost = 0
        #: message of the last error
        self.last = ""
        #: lines before the part in progress
        self.lines_before = 0
        #: name of the archive's member in progress
        self.member = ""

    def add(self, message: str, line: int = 0, column: int = 0) -> None:
        """Record what is left out; raise :class:`LimitReached` when that happens too often."""
        self._keep(message, line, column)
        self._lost += 1
        if self._lost >= self._options.give_up_after_errors:
            raise LimitReached(f"given up after {self._lost} errors")

    def add_mended(self, message: str, line: int = 0, column: int = 0) -> None:
        """Record a term that was mended. Nothing is left out, so no number of these is too many."""
        self._keep(message, line, column)

    def _keep(self, message: str, line: int, column: int) -> None:
        self.count += 1
        self.last = message
        if len(self.kept) < self._options.max_errors:
            self.kept.append(
                DocumentError(self._text(message), line and line + self.lines_before, column)
            )

    def add_final(self, message: str) -> None:
        """Record and keep the error that ends the reading, once: the sink meets it again."""
        text = self._text(message)
        if not self.kept or self.kept[-1].message != text:
            self.count += 1
            self.kept.append(DocumentError(text))

    def _text(self, message: str) -> str:
        text = " ".join(message.split())[:500]
        return f"{self.member}: {text}" if self.member else text

    def add_syntax(self, error: SyntaxError, first_line: int = 1) -> None:
        """Record an error of the parser, whose line 1 is the document's ``first_line``."""
        message, line, column = position_of(error)
        if not line:
            self.add(message, first_line)
        else:
            self.add(message, line + first_line - 1, column)

    def check_time(self) -> None:
        """Raise :class:`LimitReached` when the document's time is up."""
        if fault := self._deadline.fault():
            raise LimitReached(fault)


class PlacedErrors(ErrorLog):
    """Reports errors in lines that a reader wrote at the places of the text they come from."""

    def __init__(self, errors: ErrorLog, place: Callable[[int], tuple[int, int]]) -> None:
        """``place`` gives line and column in the document for the number of a written line."""
        self._errors = errors
        self._place = place

    def add(self, message: str, line: int = 0, column: int = 0) -> None:
        """Record what is left out."""
        self._errors.add(message, *self._place(line))

    def add_mended(self, message: str, line: int = 0, column: int = 0) -> None:
        """Record a term that was mended."""
        self._errors.add_mended(message, *self._place(line))

    def add_syntax(self, error: SyntaxError, first_line: int = 1) -> None:
        """Record an error of the parser."""
        message, line, column = position_of(error)
        self.add(message, line + first_line - 1, column)

    def check_time(self) -> None:
        """Raise :class:`LimitReached` when the document's time is up."""
        self._errors.check_time()


@dataclass(slots=True)
class Budget:
    """Bytes, members and seconds that a document uses, all its members together."""

    options: ReadOptions
    packed: int = 0
    unpacked: int = 0
    members: int = 0
    _deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._deadline = Deadline(self.options.max_seconds)

    def text(self) -> int:
        """Return the bytes of text read so far."""
        return max(self.packed, self.unpacked)

    def fault(self) -> str:
        """Return a message on the exceeded limit, or an empty string."""
        if self.unpacked > self.options.max_unpacked_bytes:
            return f"more than {self.options.max_unpacked_bytes} bytes unpacked"
        if (
            self.packed
            and self.unpacked > _RATIO_FLOOR
            and self.unpacked > self.options.max_ratio * self.packed
        ):
            return f"unpacks to more than {self.options.max_ratio:g} times its size"
        return self._deadline.fault()
