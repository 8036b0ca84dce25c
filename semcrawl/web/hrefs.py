"""References as pages write them, put as browsers read them before they are resolved."""

from __future__ import annotations

import re
from urllib.parse import quote

_PATH_END = re.compile(r"[?#]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
#: encodings whose pages have queries in UTF-8
_UNICODE = re.compile(r"utf|ucs", re.I)


def with_slashes(reference: str) -> str:
    """Turn the backslashes of a reference's path into slashes."""
    end = _PATH_END.search(reference)
    length = end.start() if end else len(reference)
    return reference[:length].replace("\\", "/") + reference[length:]


def encode_query(reference: str, encoding: str) -> str:
    """Escape the characters of a query that are not ASCII, in the encoding of the page.

    Characters that it lacks are named by their numbers. Fragments are dropped.
    """
    if _UNICODE.match(encoding):
        return reference
    address, mark, query = reference.partition("#")[0].partition("?")
    errors = "xmlcharrefreplace"
    escaped = _NOT_ASCII.sub(lambda m: quote(m[0], "", encoding=encoding, errors=errors), query)
    return address + mark + escaped
