"""Lines of N-Triples and N-Quads that are canonical as they stand.

Most dumps are written by programs, in canonical form. Such lines need not be taken apart and put
together again: a regular expression that knows a part of the grammar, the usual one, is several
times as fast as the parser. What it does not know is no error, but left to the parser.
"""

from __future__ import annotations

from collections.abc import Callable

import pyoxigraph

from semcrawl.rdf.patterns import re

#: What stands in IRIs. Of UTF-8, the bytes of U+00C0 to U+CFFF, none of which IRIs forbid.
_SIGNS = rb"[A-Za-z0-9/_.~=&;,:+$!*'()?@\x80-\xbf\xc3-\xec-]*+"
_PATH = _SIGNS + rb"(?:%[0-9A-Fa-f]{2}" + _SIGNS + rb")*+"
#: in full: scheme, host, port, then path and query, then fragment
_IRI = rb"<https?://[A-Za-z0-9.-]++(?::[0-9]++)?+(?:[/?]" + _PATH + rb")?+(?:#" + _PATH + rb")?+>"
_URN = rb"<(?:urn|tag|mailto|tel|info|doi):[A-Za-z0-9]" + _PATH + rb">"
_ANY_IRI = rb"(?:" + _IRI + rb"|" + _URN + rb")"
_NODE = rb"_:[A-Za-z0-9]++"
_TEXT = rb'[^"\\\x00-\x1f\x7f]*+'
#: left out: datatypes that canonical lines do not write, and that stand with a language only
_DATATYPE = (
    rb"\^\^(?!<http://www\.w3\.org/(?:2001/XMLSchema#string|1999/02/22-rdf-syntax-ns#\w*[sS]tring)>)"
    + _ANY_IRI
)
_LITERAL = (
    rb'"' + _TEXT + rb'(?:\\[tbnrf"\\]' + _TEXT + rb')*+"'
    rb"(?:@[a-z]{2,3}(?:-[a-z]{2})?+|" + _DATATYPE + rb")?+"
)  # fmt: skip
_TRIPLE = (
    rb"(?:" + _ANY_IRI + rb"|" + _NODE + rb") " + _ANY_IRI
    + rb" (?:" + _ANY_IRI + rb"|" + _LITERAL + rb"|" + _NODE + rb")"
)  # fmt: skip
_GRAPH = rb"(?: (?:" + _ANY_IRI + rb"|" + _NODE + rb"))?+"
_LINES = {
    pyoxigraph.RdfFormat.N_TRIPLES: re.compile(rb"(?:" + _TRIPLE + rb" \.\n)*+"),
    pyoxigraph.RdfFormat.N_QUADS: re.compile(rb"(?:" + _TRIPLE + _GRAPH + rb" \.\n)*+"),
}
_MOST_LEFT_OUT = 64


class PlainLines:
    """Finds the pieces of one content whose lines are all canonical."""

    def __init__(self, syntax: pyoxigraph.RdfFormat) -> None:
        """Look at lines of this syntax."""
        self._match: Callable[[bytes], re.Match[bytes] | None] = _LINES[syntax].fullmatch
        self._left_out = 0
        self._to_leave_out = 1

    def are(self, lines: bytes) -> bool:
        """Tell whether the parser would read all of ``lines`` and write the same bytes.

        May say no where it would. Once it says no, some pieces are not looked at: what is written
        in another way mostly is so throughout.
        """
        if self._left_out:
            self._left_out -= 1
            return False
        if self._match(lines) is not None and _is_plain_text(lines):
            self._to_leave_out = 1
            return True
        self._left_out = self._to_leave_out
        self._to_leave_out = min(2 * self._to_leave_out, _MOST_LEFT_OUT)
        return False


def _is_plain_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\ufffe" not in text and "\uffff" not in text  # which are written as escapes
