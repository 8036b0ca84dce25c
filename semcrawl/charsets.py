"""Which of the encodings that documents claim to be in are believed."""

from __future__ import annotations

import codecs

#: codecs of Python that no document is in: those of its own notation and of host names (of which
#: ``punycode`` takes time in proportion to the square of a text), and those of its platform
_NO_DOCUMENTS = frozenset(
    {"idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)


def is_text_encoding(name: str) -> bool:
    """Whether a document may be in an encoding of this name, and it is known."""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    return codec._is_text_encoding and codec.name.replace("_", "-") not in _NO_DOCUMENTS
