"""Checks the shape of data before a parser reads it, and measures JSON-LD in pages.

The parser recurses into nested JSON-LD nodes and triple terms. A few thousand levels overflow its
stack, which kills the process. It also holds the statements of an XML tag, each with its subject:
ten thousand attributes and a long name took more than a gigabyte.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.patterns import re
from semcrawl.rdf.quadlines import has_pair

_CHUNK = 1 << 20
_QUOTE, _EXCLAMATION, _SLASH, _LESS, _QUESTION = b'"!/<?'
COMMA, OPENING, CLOSING = ord(","), ord("{"), ord("}")
#: most attributes of an XML tag; hardly any has a hundred
_MOST_ATTRIBUTES = 1000
_CROWDED_TAG = re.compile(
    rb"<(?![!?])[^<>\"']*+(?:(?:\"[^\"<]*+\"|'[^'<]*+')[^<>\"']*+){%d}" % (_MOST_ATTRIBUTES + 1)
)
_NESTING = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    rb"'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)|"
    rb'"(?:[^"\\\n\r]|\\.)*+"|'
    rb"'(?:[^'\\\n\r]|\\.)*+'|"
    rb"<[^<>\s\"{}]+>|#[^\n\r]*+|(<<)|(>>)",
    re.DOTALL,
)


def guard_json(data: bytes, limit: int) -> None:
    """Raise :class:`LimitReached` when objects and arrays are nested deeper than ``limit``."""
    if data.count(b"{") + data.count(b"[") <= limit:
        return
    depth = 0
    for _, kinds in json_structure(data):
        brackets = kinds[kinds != COMMA]
        depth = _descend(depth, np.where(brackets == OPENING, 1, -1), limit)


def script_bytes(page: bytes) -> int:
    """Return about how many bytes of a page are JSON-LD scripts.

    Other scripts that contain "json" count in part.
    """
    total, at = 0, -1
    lowered = page.lower()
    while (at := lowered.find(b"json", at + 1)) >= 0:
        end = lowered.find(b"</script", at)
        end = len(page) if end < 0 else end
        total, at = total + end - at, end
    return total


def json_structure(
    data: bytes, start: int = 0
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.uint8]]]:
    """Yield positions and kinds of JSON's structural characters outside strings from ``start`` on.

    Kinds are :data:`COMMA`, :data:`OPENING` (of objects and arrays) and :data:`CLOSING`.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    in_string = False
    for first in range(start, len(data), _CHUNK):
        piece = np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - first), first)
        folded = piece | np.uint8(32)  # maps [ to { and ] to }
        wanted = (folded == OPENING) | (folded == CLOSING) | (piece == _QUOTE) | (piece == COMMA)
        positions = np.flatnonzero(wanted)
        kinds = folded[positions]
        quotes = kinds == _QUOTE
        inside = np.logical_xor.accumulate(quotes) != in_string
        if len(inside):
            in_string = bool(inside[-1])
        outside = np.flatnonzero(~inside & ~quotes)
        yield positions[outside] + first, kinds[outside]


def _descend(depth: int, steps: npt.NDArray[np.int8] | npt.NDArray[np.int_], limit: int) -> int:
    if not len(steps):
        return depth
    depths = steps.cumsum(dtype=np.int64)
    if depth + int(depths.max()) > limit:
        raise LimitReached(f"nested deeper than {limit} levels")
    return depth + int(depths[-1])


def guard_xml(data: bytes, limit: int) -> None:
    """Raise :class:`LimitReached` when elements are nested deeper than ``limit``.

    Tags of very many attributes raise it too. Tags in comments and CDATA sections count, but quoted
    texts there, as in JSON, are no attributes.
    """
    depth = 0
    start = 0
    may_be_crowded = False
    while start < len(data) - 1:
        end = len(data)
        if end - start > _CHUNK:  # cut after a tag
            end = data.rfind(b">", start, start + _CHUNK) + 1 or start + _CHUNK
        piece = np.frombuffer(data, np.uint8, end - start, start)
        marks = np.flatnonzero((piece & np.uint8(0b1111_1101)) == _LESS)  # < and >
        less = piece[marks] == _LESS
        opens = np.flatnonzero(less)
        gaps = np.diff(marks[opens], prepend=0, append=len(piece))
        # an attribute takes five bytes, and half of the tag may be in another piece
        may_be_crowded |= bool(gaps.max() > 2 * _MOST_ATTRIBUTES)
        if len(opens):
            following = piece[np.minimum(marks[opens] + 1, len(piece) - 1)]
            steps = np.ones(len(opens), np.int8)
            steps[following == _SLASH] = -1
            steps[(following == _EXCLAMATION) | (following == _QUESTION)] = 0
            # tags that end with />
            ends = np.minimum(opens + 1, len(marks) - 1)
            closes, other = np.flatnonzero(~less), np.flatnonzero(less[ends])
            if len(closes) and len(other):  # another < comes before the >
                later = np.searchsorted(closes, opens[other])
                ends[other] = closes[np.minimum(later, len(closes) - 1)]
            steps[(piece[marks[ends] - 1] == _SLASH) & (steps == 1)] = 0
            depth = _descend(depth, steps, limit)
        start = end
    if may_be_crowded and _CROWDED_TAG.search(data):
        raise LimitReached(f"a tag of more than {_MOST_ATTRIBUTES} attributes")


def guard_triple_terms(data: bytes, limit: int) -> None:
    """Raise :class:`LimitReached` when triple terms are nested deeper than ``limit``."""
    if not has_pair(data, b"<", b"<") or data.count(b"<<") <= limit:
        return
    depth = 0
    for match in _NESTING.finditer(data):
        if match[1]:
            depth += 1
            if depth > limit:
                raise LimitReached(f"triple terms nested deeper than {limit} levels")
        elif match[2] and depth:
            depth -= 1
