"""Which TriG documents have all their statements in named graphs, told without parsing them.

Most have, and then no line has to be asked whether it has a graph.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from semcrawl.rdf.patterns import re

_IRI = rb"<[^<>\"{}|^`\\\s]*+>"
_NAME = rb"(?:" + _IRI + rb"|[A-Za-z][\w-]*+:[\w-]*+|:[\w-]*+|_:\w++)"
_SPACE = rb"(?:\s++|#[^\n\r]*+[\n\r])"
#: what may stand between graphs, directives that is
_BETWEEN = (
    rb"(?:" + _SPACE
    + rb"|@prefix\s++[\w-]*+:\s*+" + _IRI + rb"\s*+\.|(?i:prefix)\s++[\w-]*+:\s*+" + _IRI
    + rb"|@base\s++" + _IRI + rb"\s*+\.|(?i:base)\s++" + _IRI + rb")*+"
)  # fmt: skip
_BEFORE = re.compile(_BETWEEN + rb"(?:(?i:graph)" + _SPACE + rb"++)?+" + _NAME + _SPACE + rb"*+")
_END = re.compile(_BETWEEN)
_OPEN, _CLOSE = b"{}"
#: bytes to a brace, at least: with more of them, looking costs more than it spares
_FEW = 1000


def all_in_named_graphs(data: bytes) -> bool:
    """Tell whether TriG without syntax errors has no statement in the default graph.

    May say no where there is none. A brace may be one of a string or a comment; but behind each
    that closes a graph, as behind all others, there is nothing but directives and the name of the
    next graph.
    """
    signs = np.frombuffer(data, np.uint8)
    braces = np.flatnonzero((signs == _OPEN) | (signs == _CLOSE))
    if not len(braces) or len(braces) * _FEW > len(data):
        return False
    places = [-1, *braces.tolist(), len(data)]
    for place, following in pairwise(places):
        if place >= 0 and data[place] == _OPEN:
            continue
        before = _END if following == len(data) else _BEFORE
        if following < len(data) and data[following] == _CLOSE:
            return False
        if before.fullmatch(data, place + 1, following) is None:
            return False
    return True
