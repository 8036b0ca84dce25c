"""Finds TriG documents with all statements in named graphs, without parsing them.

Most are so, and then no line has to be searched for its graph.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from semcrawl.rdf.patterns import re

_IRI = rb"<[^<>\"{}|^`\\\s]*+>"
_NAME = rb"(?:" + _IRI + rb"|[A-Za-z][\w-]*+:[\w-]*+|:[\w-]*+|_:\w++)"
_SPACE = rb"(?:\s++|#[^\n\r]*+[\n\r])"
#: text that may stand between graphs: directives
_BETWEEN = (
    rb"(?:" + _SPACE
    + rb"|@prefix\s++[\w-]*+:\s*+" + _IRI + rb"\s*+\.|(?i:prefix)\s++[\w-]*+:\s*+" + _IRI
    + rb"|@base\s++" + _IRI + rb"\s*+\.|(?i:base)\s++" + _IRI + rb")*+"
)  # fmt: skip
_BEFORE = re.compile(_BETWEEN + rb"(?:(?i:graph)" + _SPACE + rb"++)?+" + _NAME + _SPACE + rb"*+")
_END = re.compile(_BETWEEN)
_OPEN, _CLOSE = b"{}"
#: bytes per brace, at least: with more braces the search costs more than it saves
_FEW = 1000


def all_in_named_graphs(data: bytes) -> bool:
    """Tell whether TriG without syntax errors has no statement in the default graph.

    May return False where there is none. A brace may belong to a string or a comment. But after
    each brace that closes a graph there is nothing but directives and the next graph's name.
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
