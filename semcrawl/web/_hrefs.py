"""Prepares the references of pages for resolution, as browsers do."""

from __future__ import annotations

import re
from urllib.parse import quote

from semcrawl.web.legacycodecs import charset_named

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
#: encodings of pages whose queries are in UTF-8
_UNICODE = re.compile(r"utf|ucs", re.I)


def encode_query(reference: str, encoding: str) -> str:
    """Percent-encode the non-ASCII characters of a query in the encoding of its page.

    Characters that the encoding lacks become numeric character references. Unless the encoding is
    a Unicode one, the fragment is dropped.
    """
    charset = None if _UNICODE.match(encoding) else charset_named(encoding)
    if charset is None:
        return reference
    address, mark, query = reference.partition("#")[0].partition("?")
    escaped = _NOT_ASCII.sub(lambda signs: quote(charset.encode(signs[0]), ""), query)
    return address + mark + escaped
