"""Collecting the errors of one document."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from semcrawl.items import DocumentError
from semcrawl.rdf.options import ReadOptions

_POSITION = re.compile(
    r"^Parser error (?:at|between) line (\d+) (?:between columns|column) (\d+)[^:]*: "
)
_REPEATED_LINE = re.compile(r" \(line \d+\)\Z")


class LimitReached(Exception):  # noqa: N818 - an event, not an error of the program
    """A document went over a limit; the message says which."""


def place_of(error: SyntaxError) -> tuple[str, int, int]:
    """Return what an error of the parser says, its line and its column; 0 when it tells none."""
    message = str(error.msg or error)
    if found := _POSITION.match(message):
        message = _REPEATED_LINE.sub("", message[found.end() :])
        return message, int(found[1]), int(found[2])
    return message, error.lineno or 0, error.offset or 0


class ErrorLog:
    """The errors of one document: all counted, the first few kept, time watched."""

    def __init__(self, options: ReadOptions) -> None:
        """Start the document's clock."""
        self._options = options
        self._end = time.monotonic() + options.max_seconds
        self.kept: list[DocumentError] = []
        self.count = 0
        #: line to report for errors of the parser that tell none
        self.line_now: Callable[[], int] | None = None
        #: what the last error said
        self.last = ""
        #: name of the archive's member that is being read
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
        """Record what ended the reading; it is kept however many errors there are."""
        self.count += 1
        self.kept.append(DocumentError(self._text(message)))

    def _text(self, message: str) -> str:
        text = " ".join(message.split())[:500]
        return f"{self.member}: {text}" if self.member else text

    def add_syntax(self, error: SyntaxError, first_line: int = 1) -> None:
        """Record an error of the parser, whose line 1 is the document's ``first_line``."""
        message, line, column = place_of(error)
        if not line:
            self.add(message, self.line_now() if self.line_now else first_line)
        else:
            self.add(message, line + first_line - 1, column)

    def check_time(self) -> None:
        """Raise :class:`LimitReached` when the document has had its time."""
        if time.monotonic() > self._end:
            raise LimitReached(f"not finished after {self._options.max_seconds:g} seconds")
