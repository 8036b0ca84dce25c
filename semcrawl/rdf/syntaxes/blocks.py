"""Recognises TriG documents without a default graph, before they are parsed.

Most have none. Then no line has to be searched for its graph name.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from semcrawl.rdf.patterns import re

_IRI = rb"<[^<>\"{}|^`\\\s]*+>"
_NAME = rb"(?:" + _IRI + rb"|[A-Za-z][\w-]*+:[\w-]*+|:[\w-]*+|_:\w++)"
_SPACE = rb"(?:\s++|#[^\n\r]*+[\n\r])"
#: text between graphs: directives, comments, white space
_BETWEEN = (
    rb"(?:" + _SPACE
    + rb"|@prefix\s++[\w-]*+:\s*+" + _IRI + rb"\s*+\.|(?i:prefix)\s++[\w-]*+:\s*+" + _IRI
    + rb"|@base\s++" + _IRI + rb"\s*+\.|(?i:base)\s++" + _IRI + rb")*+"
)  # fmt: skip
_BEFORE = re.compile(_BETWEEN + rb"(?:(?i:graph)" + _SPACE + rb"++)?+" + _NAME + _SPACE + rb"*+")
_END = re.compile(_BETWEEN)
_OPEN, _CLOSE = b"{}"
#: fewest bytes per brace: with more braces the search costs more than it saves
_FEW = 1000


def all_in_named_graphs(data: bytes) -> bool:
    """Whether TriG without syntax errors surely has no statement in the default graph.

    Only directives and the next graph's name may follow each closing brace. Braces in strings and
    comments are not told apart, so the answer may be False for documents without such statements.
    """
    octets = np.frombuffer(data, np.uint8)
    braces = np.flatnonzero((octets == _OPEN) | (octets == _CLOSE))
    if not len(braces) or len(braces) * _FEW > len(data):
        return False
    positions = [-1, *braces.tolist(), len(data)]
    for position, following in pairwise(positions):
        if position >= 0 and data[position] == _OPEN:
            continue
        before = _END if following == len(data) else _BEFORE
        if following < len(data) and data[following] == _CLOSE:
            return False
        if before.fullmatch(data, position + 1, following) is None:
            return False
    return True
