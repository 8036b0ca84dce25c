"""Makes texts of sites and users safe for terminals, log files and records."""

from __future__ import annotations

import re

#: control characters except white space, and those that change the writing direction
_ACTING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return a text with control characters escaped.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _ACTING.sub(_number, text) if _ACTING.search(text) else text


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def printable_json(text: str) -> str:
    r"""Return equivalent JSON with control characters escaped.

    >>> printable_json('"a\u202eb"')
    '"a\\u202eb"'
    """
    return _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
