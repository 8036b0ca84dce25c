"""Enforces the limits of one document: errors, bytes, members, time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

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


class ErrorLog:
    """Counts the errors of one document, keeps the first few, and checks its time limit."""

    def __init__(self, options: ReadOptions) -> None:
        """Start the document's clock."""
        self._options = options
        self._end = time.monotonic() + options.max_seconds
        self.kept: list[DocumentError] = []
        self.count = 0
        #: gives the line of parser errors that name none
        self.line_now: Callable[[], int] | None = None
        #: message of the last error
        self.last = ""
        #: name of the archive's member in progress
        self.member = ""

    def add(self, message: str, line: int = 0, column: int = 0) -> None:
        """Record an error; raise :class:`LimitReached` when there are too many."""
        self.count += 1
        self.last = message
        if len(self.kept) < self._options.max_errors:
            self.kept.append(DocumentError(self._text(message), line, column))
        if self.count >= self._options.give_up_after_errors:
            raise LimitReached(f"given up after {self.count} errors")

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
            self.add(message, self.line_now() if self.line_now else first_line)
        else:
            self.add(message, line + first_line - 1, column)

    def check_time(self) -> None:
        """Raise :class:`LimitReached` when the document's time is up."""
        if time.monotonic() > self._end:
            raise LimitReached(f"not finished after {self._options.max_seconds:g} seconds")


@dataclass(slots=True)
class Budget:
    """Bytes, members and seconds that a document uses, all its members together."""

    options: ReadOptions
    packed: int = 0
    unpacked: int = 0
    members: int = 0
    end: float = field(default=0.0)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.end = time.monotonic() + self.options.max_seconds

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
        if time.monotonic() > self.end:
            return f"not finished after {self.options.max_seconds:g} seconds"
        return ""
