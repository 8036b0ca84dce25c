"""Character encodings: which declared ones are credible, and which the bytes reveal."""

from __future__ import annotations

import codecs

#: codecs of Python that no document uses: its own notations, the platform's, and those of host
#: names, of which ``punycode`` takes quadratic time
_NOT_FOR_DOCUMENTS = frozenset(
    {"idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)
#: bytes to examine for zeros, which reveal UTF-16 and UTF-32 without a byte-order mark
_HEAD = 64
#: byte-order marks, the longer ones first
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: least share of zeros where a wide encoding has them, and greatest share where it has none
_MANY = 0.4
_FEW = 0.1


def is_text_encoding(name: str) -> bool:
    """Whether Python knows the encoding and a document may be in it."""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    return codec._is_text_encoding and codec.name.replace("_", "-") not in _NOT_FOR_DOCUMENTS


def is_utf8(data: bytes) -> bool:
    """Whether ``data`` is UTF-8. A character may be cut off at the end."""
    if data.isascii():
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def wide_encoding(body: bytes) -> str:
    """Detect UTF-16 or UTF-32 by the positions of zero bytes; ``""`` if a body is in neither.

    A position with some zeros, but not many, rules both out.
    """
    head = body[:_HEAD]
    if 0 not in head or len(head) < 4:
        return ""
    places = [head[start::4] for start in range(4)]
    shares = [place.count(0) / len(place) for place in places]
    if any(_FEW < share < _MANY for share in shares):
        return ""
    one, two, three, four = (share >= _MANY for share in shares)
    return {
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
    }.get((one, two, three, four), "")


def text_of(data: bytes) -> str:
    r"""Decode a user's text file in UTF-8, UTF-16 or UTF-32, with or without a byte-order mark.

    >>> text_of("a\n".encode("utf-16"))
    'a\n'
    """
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), None)
    return data.decode(marked or wide_encoding(data) or "utf-8", "replace")
