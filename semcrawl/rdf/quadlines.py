"""Lines of N-Triples and N-Quads, read and changed by numpy for many lines at once.

The parser wrote the lines, so they are canonical: one space between terms, no white space in IRIs,
line ends only behind a statement's dot. Cutting lines up and joining them costs far more than
copying them. So numpy overwrites the places to change with signs that such lines never hold, and
each of these signs is replaced in one go.

Blank node labels come out unique per document and the same on every run. A label of the document
itself becomes ``b<hash>x<label>``. A node without a label, which the parser gives a random name,
becomes ``b<hash>n<rank>`` by its first appearance. ``<hash>`` is that of the document's URL.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import count

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.patterns import re

Places = npt.NDArray[np.intp]

_LINE_END, _SPACE, _EXCLAMATION, _QUOTE, _COLON_SIGN, _LESS, _UNDERSCORE = b'\n !":<_'
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
    """Return the place after each ``_:``, whether it is a blank node's or not."""
    signs = np.frombuffer(lines, np.uint8)
    places = np.flatnonzero(signs == _UNDERSCORE) + 1  # the last sign is a line end
    starts: Places = places[signs[places] == _COLON_SIGN] + 1
    return starts


def blank_nodes(lines: bytes) -> Places | None:
    """Return where the labels of blank nodes begin: after each ``_:``.

    None when a literal or an IRI may hold ``_:`` as well.
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

    A literal ends with a part that has a quotation mark. So a graph is an IRI or a blank node after
    the third term, with one space before and after it.
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


#: the terms of a line after subject and predicate: object, graph
_GRAPH_OF_LINE = re.compile(
    rb"^(?:<[^>]*>|_:\S+) +<[^>]*> +"
    rb'(?:<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:\^\^<[^>]*>|@[A-Za-z0-9-]+)?|<<\(.*\)>>)'
    rb" *(<[^>]*>|_:\S+)? *\.\s*$"
)


def iri(url: str) -> str:
    """Return a URL as N-Quads writes it."""
    return f"<{url}>"


def graph_of(line: bytes) -> str:
    """Return the graph name of a line as N-Quads writes it; empty for the default graph."""
    match = _GRAPH_OF_LINE.match(line)
    if match is None:
        return ""
    return (match[1] or b"").decode("utf-8", "replace")


def is_all_in(lines: bytes, graph: str) -> bool:
    """Return whether every line ends with this graph name; cheap."""
    return lines.count(line_ending(graph)) == lines.count(b"\n")


def other_graphs(lines: Iterable[bytes], graph: str) -> set[str]:
    """Return the graph names of the lines other than ``graph``."""
    ending = line_ending(graph)
    found: set[str] = set()
    for line in lines:
        if not line.endswith(ending):
            found.add(graph_of(line))
    found.discard(graph)
    return found


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces cut at line ends; a last line without an end gets one."""
    rest = b""
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            continue
        yield rest + chunk[:cut]
        rest = chunk[cut:]
    if rest:
        yield rest + b"\n"


def line_ending(graph: str) -> bytes:
    """Return what every line of a graph ends with."""
    return f" {graph} .\n".encode("utf-8", "replace")


#: The form of the names that the parser makes up: 128 random bits without leading zeros. One of
#: fewer than 20 digits comes once in 2**48.
_MADE_UP = re.compile(rb"[a-f][0-9a-f]{19,31}\Z")


def skolem_iris(base: str) -> re.Pattern[bytes]:
    """Return what the IRIs begin with that :class:`BlankNodeNames` gives under a Skolem base."""
    return re.compile(re.escape(f"{base.rstrip('/')}/b".encode()) + rb"[0-9a-f]{20}[xn]")


class BlankNodeNames:
    """Renames the blank nodes of one document.

    Only made-up names need memory. It is bounded: of a document with more than twice ``window`` of
    them, those not met for a while are forgotten. The parser never comes back to a node without a
    label once its statement is finished, so nothing is lost by it.
    """

    def __init__(self, url: str, skolem_base: str = "", window: int = 1 << 18) -> None:
        """Name the blank nodes of the document at ``url``."""
        #: whether the document's syntax has labelled nodes only (N-Triples, N-Quads, TriX)
        self.all_labelled = False
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest().encode()
        if skolem_base:
            start, self.end = f"<{skolem_base.rstrip('/')}/".encode(), b">"
        else:
            start, self.end = b"_:", b""
        #: text before a label of the document; :attr:`end` follows it
        self.labelled = start + b"b" + digest + b"x"
        #: text before a rank; :attr:`end` follows it
        self.ranked = start + b"b" + digest + b"n"
        self._window = window
        #: nodes without a label so far
        self.count = 0
        #: ranks given lately, and before that
        self._known: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._old: dict[bytes, int] = {}

    def name(self, label: bytes) -> bytes:
        """Return the N-Quads term for the blank node that the parser calls ``label``."""
        return self.terms([label])[0]

    def terms(self, labels: list[bytes]) -> list[bytes]:
        """Return the N-Quads terms for the blank nodes that the parser calls ``labels``."""
        made_up = set() if self.all_labelled else {x for x in labels if _MADE_UP.match(x)}
        ranks = iter(self.ranks([label for label in labels if label in made_up]))
        ranked, labelled, end = self.ranked, self.labelled, self.end
        return [
            b"%b%d%b" % (ranked, next(ranks), end) if label in made_up else labelled + label + end
            for label in labels
        ]

    def ranks(self, made_up: list[bytes]) -> list[int]:
        """Return the ranks of nodes without a label, by the names that the parser made up."""
        if len(self._known) > self._window:
            self._old = dict(self._known)
            self._known = defaultdict(self._known.default_factory)
        known = self._known
        if self._old:  # keep what is still referred to
            met_again = self._old.keys() & set(made_up)
            known.update((name, self._old[name]) for name in met_again)
        before = len(known)
        ranks = list(map(known.__getitem__, made_up))
        self.count += len(known) - before
        return ranks

    def forget(self, number: int) -> None:
        """Go back to where there were ``number`` nodes without a label."""
        for ranks in (self._known, self._old):
            for name in [name for name, rank in ranks.items() if rank >= number]:
                del ranks[name]
        self._known.default_factory = count(number).__next__
        self.count = number


Signs = npt.NDArray[np.uint8]
Windows = npt.NDArray[np.bytes_]

#: Marks: for nothing, for the dot of a line without a graph, for the colon of a labelled node.
#: N-Triples and N-Quads as the parser writes them hold no such signs but as escapes.
_NOTHING, _DOT, _COLON = b"\0", b"\1", b"\2"
#: signs of the names that the parser makes up: nearly always as many, and 29 in all but one of
#: 2**16; lines with shorter ones are left to others
_LONGEST, _SHORTEST = 32, 29
#: digits that make a label look like a name that the parser made up (see BlankNodeNames)
_TELLING = 20


class LineEdit:
    """Canonical lines, and the changes to make in them."""

    def __init__(self, lines: bytes) -> None:
        """Change ``lines``."""
        # names are looked at in windows of one size, the last one, too
        self._text = bytearray().join((lines, bytes(_LONGEST)))
        self._signs: Signs = np.frombuffer(self._text, np.uint8)
        self._windows = np.ndarray((len(lines),), f"S{_LONGEST}", self._text, strides=(1,))
        self._graph = self._labelled = b""

    def name_graphs(self, ends: Places, graph: bytes) -> None:
        """Put the term ``graph`` before the dots of the lines that end at ``ends``."""
        self._signs[ends - 1] = _DOT[0]
        self._graph = graph + b" ."

    def name_labelled(self, starts: Places, before: bytes) -> None:
        """Put ``before``, which begins with ``_:`` itself, in place of ``_:`` at ``starts``."""
        self._signs[starts - 1] = _COLON[0]
        self._labelled = before.removeprefix(b"_")

    def name_nodes(self, starts: Places, names: BlankNodeNames, *, labels: bool) -> bool:
        """Name the blank nodes whose labels begin at ``starts``; their names must not be IRIs.

        Returns whether that was possible; else nothing is changed. Without ``labels`` it is
        possible only when all names are those of the parser.
        """
        if not len(starts):
            return True
        found = self._windows[starts]
        made_up, doubtful = self._made_up(starts, found)
        if made_up.all():
            return self._rank(starts, found, names)
        if doubtful or not labels or not self._rank(starts[made_up], found[made_up], names):
            return False
        self.name_labelled(starts[~made_up], names.labelled)
        return True

    def _made_up(self, starts: Places, found: Windows) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return which names the parser made up, and whether others may be made up too.

        Cuts the rest after the names out of ``found``.
        """
        signs = found.view(np.uint8).reshape(-1, _LONGEST)
        made_up = self._signs[starts + _LONGEST] == _SPACE
        for size in range(_LONGEST - 1, _SHORTEST - 1, -1):
            shorter = signs[:, size] == _SPACE
            made_up |= shorter
            signs[np.flatnonzero(shorter), size:] = 0
        made_up &= signs[:, 0] > ord("9")
        digits = (signs - ord("0")) < 10  # what is below zero is high
        digits |= (signs - ord("a")) < 6
        possible = digits | (signs == 0)
        if made_up.all() and possible.all():
            return made_up, False
        alike = digits[:, :_TELLING].all(axis=1) & (signs[:, 0] > ord("9"))
        made_up &= alike & possible.all(axis=1)
        return made_up, bool((alike & ~made_up).any())

    def _rank(self, starts: Places, found: Windows, names: BlankNodeNames) -> bool:
        """Write the ranks of the names ``found`` at ``starts`` in their place."""
        if not len(starts):
            return True
        first = np.ones(len(found), np.bool_)  # of some alike that follow each other
        first[1:] = found[1:] != found[:-1]
        ranks = np.array(names.ranks(found[first].tolist()), np.uint32)
        ranks = ranks[first.cumsum() - 1]
        before = names.ranked.removeprefix(b"_:")
        last = len(before) + len(str(names.count)) - 1
        if last >= _SHORTEST:
            return False
        rows = bytearray(before.ljust(_LONGEST, b"\0") * len(found))
        new = np.frombuffer(rows, np.uint8).reshape(-1, _LONGEST)
        new[:, last] = ranks % 10 + ord("0")
        for column in range(last - 1, len(before) - 1, -1):
            ranks //= 10
            new[:, column] = (ranks % 10 + ord("0")) * (ranks > 0)
        # the text after a shorter name stays
        behind = found.view(np.uint8).reshape(new.shape) == 0
        old = self._windows[starts].view(np.uint8).reshape(new.shape)
        np.copyto(new, old, where=behind)
        self._windows[starts] = new.view(found.dtype)[:, 0]
        return True

    def finished(self) -> bytearray:
        """Return the lines with all changes."""
        text = self._text.replace(_NOTHING, b"")
        if self._labelled:
            text = text.replace(_COLON, self._labelled)
        if self._graph:
            text = text.replace(_DOT, self._graph)
        return text
