"""Bounds on nesting, asked before a parser whose stack is not bounded gets the data.

The parser keeps nested JSON-LD nodes and triple terms on the process's stack: a few thousand
levels end the process, and nothing can be caught then.
"""

from __future__ import annotations

import re

import numpy as np

from semcrawl.rdf.errors import LimitReached

_CHUNK = 1 << 22
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
    plain = data.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    depth = 0
    in_string = 0
    for start in range(0, len(plain), _CHUNK):
        piece = np.frombuffer(plain, np.uint8, min(_CHUNK, len(plain) - start), start)
        quotes = piece == 34
        inside = np.logical_xor.accumulate(quotes)
        if in_string:
            inside = ~inside
        in_string = int(inside[-1])
        folded = piece | 32  # [ and { alike, ] and } alike
        steps = (folded == 123).astype(np.int32) - (folded == 125)
        steps[inside] = 0
        steps = steps[steps != 0]
        if len(steps):
            depths = steps.cumsum()
            if depth + int(depths.max()) > limit:
                raise LimitReached(f"nested deeper than {limit} levels")
            depth += int(depths[-1])


def guard_xml(data: bytes, limit: int) -> None:
    """Raise :class:`LimitReached` when elements are nested deeper than ``limit``.

    A quick look at tags only: comments and CDATA sections count as if they were markup.
    """
    if data.count(b"</") <= limit and data.count(b"<") <= 2 * limit:
        return
    depth = 0
    for start in range(0, len(data) - 1, _CHUNK):
        piece = np.frombuffer(data, np.uint8, min(_CHUNK + 1, len(data) - start), start)
        here, following = piece[:-1], piece[1:]
        opens = here == 60
        steps = np.zeros(len(here), np.int32)
        steps[opens] = 1
        steps[opens & (following == 47)] = -1
        steps[opens & ((following == 33) | (following == 63))] = 0
        steps[(here == 47) & (following == 62)] -= 1
        steps = steps[steps != 0]
        if len(steps):
            depths = steps.cumsum()
            if depth + int(depths.max()) > limit:
                raise LimitReached(f"nested deeper than {limit} levels")
            depth += int(depths[-1])


def guard_triple_terms(data: bytes, limit: int) -> None:
    """Raise :class:`LimitReached` when triple terms are nested deeper than ``limit``."""
    if data.count(b"<<") <= limit:
        return
    depth = 0
    for match in _NESTING.finditer(data):
        if match[1]:
            depth += 1
            if depth > limit:
                raise LimitReached(f"triple terms nested deeper than {limit} levels")
        elif match[2] and depth:
            depth -= 1
