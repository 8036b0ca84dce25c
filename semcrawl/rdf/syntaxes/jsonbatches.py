"""Big JSON-LD documents in pieces.

The parser keeps all of an object until it is closed, some forty times its size. The usual big
document is one object of a context and a ``@graph`` array, or an array: its elements say the same
when they are read by themselves, and a broken one costs no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from semcrawl.rdf.guards import CLOSING, COMMA, OPENING, json_signs
from semcrawl.rdf.syntaxes.contexts import value_length

#: bytes up to which a document is read as it is
WHOLE = 4 << 20
_BATCH = 1 << 20

_HEAD = re.compile(rb'\s*+\{\s*+"@context"\s*+:\s*+')
_GRAPH = re.compile(rb'\s*+,\s*+"@graph"\s*+:\s*+\[')
_ARRAY = re.compile(rb"\s*+\[")
_GRAPH_END = re.compile(rb"\s*+\}\s*+\Z")


def split(data: bytes) -> Iterator[tuple[int, bytes]] | None:
    """Return the pieces, each with its first line; None when the document has another form."""
    head, tail = b"[", b"]"
    found = _ARRAY.match(data)
    if found is None:
        start = _HEAD.match(data)
        length = value_length(data, start.end()) if start else 0
        if not start or not length:
            return None
        found = _GRAPH.match(data, start.end() + length)
        if found is None or not _GRAPH_END.match(data, data.rfind(b"]") + 1):
            return None
        context = data[start.end() : start.end() + length]
        head, tail = b'{"@context":' + context.replace(b"\n", b" ") + b',"@graph":[', b"]}"
    return _pieces(data, found.end(), head, tail)


def _pieces(data: bytes, start: int, head: bytes, tail: bytes) -> Iterator[tuple[int, bytes]]:
    line = data.count(b"\n", 0, start) + 1
    end, closed = len(data), False
    depth = 0
    for places, signs in json_signs(data, start):
        depths = depth + np.cumsum((signs == OPENING).astype(int) - (signs == CLOSING))
        below = np.flatnonzero(depths < 0)
        if len(below):
            end, closed = int(places[below[0]]), True
        cuts = places[(signs == COMMA) & (depths == 0)]
        while True:
            later = int(np.searchsorted(cuts, start + _BATCH))
            if later == len(cuts) or (cut := int(cuts[later])) > end:
                break
            yield line, head + data[start:cut] + tail
            line += data.count(b"\n", start, cut + 1)
            start = cut + 1
        if closed:
            break
        depth = int(depths[-1]) if len(depths) else depth
    # an array that does not end is handed on like that
    yield line, head + data[start:end] + (tail if closed else b"")
