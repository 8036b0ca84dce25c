"""Prepares the references of pages for resolution, as browsers do."""

from __future__ import annotations

import re
from urllib.parse import quote

_PATH_END = re.compile(r"[?#]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
#: encodings of pages whose queries are in UTF-8
_UNICODE = re.compile(r"utf|ucs", re.I)


def with_slashes(reference: str) -> str:
    """Turn the backslashes of a reference's path into slashes."""
    end = _PATH_END.search(reference)
    length = end.start() if end else len(reference)
    return reference[:length].replace("\\", "/") + reference[length:]


def encode_query(reference: str, encoding: str) -> str:
    """Percent-encode the non-ASCII characters of a query in the encoding of its page.

    Characters that the encoding lacks become numeric character references. Unless the encoding is
    a Unicode one, the fragment is dropped.
    """
    if _UNICODE.match(encoding):
        return reference
    address, mark, query = reference.partition("#")[0].partition("?")
    errors = "xmlcharrefreplace"
    escaped = _NOT_ASCII.sub(lambda m: quote(m[0], "", encoding=encoding, errors=errors), query)
    return address + mark + escaped
