"""Encodings: which of those that documents claim are believed, and which show by themselves."""

from __future__ import annotations

import codecs

#: codecs of Python that no document is in: those of its own notation and of host names (of which
#: ``punycode`` takes time in proportion to the square of a text), and those of its platform
_NO_DOCUMENTS = frozenset(
    {"idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)
#: bytes whose zeros tell UTF-16 and UTF-32 without a byte-order mark
_HEAD = 64
#: byte-order marks, the longer ones first
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: share of zeros at the places where a wide encoding has them, and at those where it has none
_MANY = 0.4
_FEW = 0.1


def is_text_encoding(name: str) -> bool:
    """Whether a document may be in an encoding of this name, and it is known."""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    return codec._is_text_encoding and codec.name.replace("_", "-") not in _NO_DOCUMENTS


def wide_encoding(body: bytes) -> str:
    """Tell UTF-16 or UTF-32 by where the zero bytes are; ``""`` if a body is in neither.

    Zeros at one place only are bytes that do not belong where they are.
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
    r"""Decode a user's text file: UTF-8, or UTF-16 as Windows writes it, with a mark or without.

    >>> text_of("a\n".encode("utf-16"))
    'a\n'
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    return data.decode(marked or wide_encoding(data) or "utf-8", "replace")
