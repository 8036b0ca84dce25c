"""Where terms stand in lines that the parser wrote, found with numpy for many lines at once.

The lines are canonical: one space between terms, no white space in IRIs, line ends only behind a
statement's dot.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.patterns import re

Places = npt.NDArray[np.intp]

_LINE_END, _SPACE, _EXCLAMATION, _QUOTE, _COLON, _LESS, _UNDERSCORE = b'\n !":<_'
#: "_:" in a literal: behind a quotation mark, and not the last term of its line. Each pattern
#: begins with fixed bytes, which the engine finds without trying every position.
_IN_LITERAL = re.compile(rb'"[^"\n_]*+(?:_(?!:)[^"\n_]*+)*+_:(?![^\s"<>]+ \.\n)')


def has_pair(data: bytes, first: bytes, following: bytes) -> bool:
    """Tell whether ``first``, a sign, stands directly before one of ``following`` anywhere."""
    if first not in data:
        return False
    signs = np.frombuffer(data, np.uint8)
    found = signs[np.flatnonzero(signs[:-1] == first[0]) + 1]
    return any((found == sign).any() for sign in following)


def label_starts(lines: bytes) -> Places:
    """Return the places behind each ``_:``, be it a blank node's or not."""
    signs = np.frombuffer(lines, np.uint8)
    places = np.flatnonzero(signs == _UNDERSCORE) + 1  # the last sign is a line end
    starts: Places = places[signs[places] == _COLON] + 1
    return starts


def blank_nodes(lines: bytes) -> Places | None:
    """Return where the labels of blank nodes begin, which is behind each ``_:``.

    None when there may be ``_:`` in a literal or an IRI, too.
    """
    starts = label_starts(lines)
    if not len(starts):
        return starts
    signs = np.frombuffer(lines, np.uint8)
    inner = starts[signs[starts - 3] != _LINE_END] - 2  # before the first is the last line end
    if len(inner):
        if not (signs[inner - 1] == _SPACE).all():
            return None
        quotes = np.flatnonzero(signs == _QUOTE)
        if len(quotes) and _any_behind_quote(signs, inner, quotes) and _IN_LITERAL.search(lines):
            return None
    return starts


def _any_behind_quote(signs: npt.NDArray[np.uint8], places: Places, quotes: Places) -> bool:
    """Whether there is a quotation mark between one of ``places`` and its line's beginning."""
    quotes = np.append(quotes, len(signs))
    ends = np.flatnonzero(signs == _LINE_END)
    starts = np.concatenate(([0], ends + 1))[np.searchsorted(ends, places)]
    return bool((quotes[np.searchsorted(quotes, starts)] < places).any())


def line_ends(lines: bytes) -> Places:
    """Return where the lines end."""
    return np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_END)


def count_lines(lines: bytes) -> int:
    """Return how many lines there are."""
    return int(np.count_nonzero(np.frombuffer(lines, np.uint8) == _LINE_END))


def lines_with_graphs(lines: bytes) -> tuple[Places, npt.NDArray[np.bool_]]:
    """Return where the lines of N-Quads end, and which of them have four terms.

    What ends a literal has a quotation mark; so a graph is a term like an IRI or a blank node, with
    nothing but a space before it and behind it, that is not the third.
    """
    signs = np.frombuffer(lines, np.uint8)
    marks = np.flatnonzero(signs <= _QUOTE)
    kinds = signs[marks]
    last = np.flatnonzero(kinds == _LINE_END)
    if (kinds == _EXCLAMATION).any() or np.count_nonzero(kinds < _SPACE) != len(last):
        wanted = (kinds == _LINE_END) | (kinds == _SPACE) | (kinds == _QUOTE)
        marks, kinds = marks[wanted], kinds[wanted]
        last = np.flatnonzero(kinds == _LINE_END)
    first = signs[marks[last - 2] + 1]
    named = np.diff(last, prepend=-1) >= 5
    named &= (kinds[last - 1] == _SPACE) & (kinds[last - 2] == _SPACE)
    named &= (first == _LESS) | (first == _UNDERSCORE)
    return marks[last], named
