"""The texts about a document's errors in records: made from a reading, and read again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from semcrawl.items import DocumentError

#: most characters of a record's text about errors
MAX_TEXT = 300
#: ends the text about a dead address that the crawl asked for with a slash which its link lacks
NO_SLASH = "; the link has no slash at its end"
#: stands in every text that counts errors
ERRORS = " error(s)"
_FORM = re.compile(r"(\d+) error\(s\)(?:; line (\d+), column (\d+): (.*))?\Z", re.S)


@dataclass(frozen=True, slots=True)
class ErrorsRead:
    """What a record tells about the errors of a document."""

    #: number of errors; 0 if the record tells only of other faults
    count: int
    #: line and column of the first error, from 1; 0 = unknown
    line: int
    column: int
    #: message of the first error, or the other faults
    message: str

    def __str__(self) -> str:
        """Return it for people, the place first."""
        place = f"line {self.line}, column {self.column}: " if self.line else ""
        more = f" (the first of {self.count:,} errors)" if self.count > 1 else ""
        return f"{place}{self.message}{more}"


def errors_text(count: int, errors: Sequence[DocumentError]) -> str:
    """Return one line with the number of errors and the first of them; empty if there are none."""
    if not count:
        return ""
    text = f"{count}{ERRORS}"
    if errors:
        first = errors[0]
        message = " ".join(first.message.split())[:MAX_TEXT]
        text += f"; line {first.line}, column {first.column}: {message}"
    return text


def read_errors(text: str) -> ErrorsRead:
    """Read a record's text; other faults may come before that of :func:`errors_text`."""
    found = _FORM.search(text)
    if found is None:
        return ErrorsRead(0, 0, 0, text)
    message = found[4] or text[: found.start()].rstrip("; ") or f"{found[1]} errors"
    return ErrorsRead(int(found[1]), int(found[2] or 0), int(found[3] or 0), message)
