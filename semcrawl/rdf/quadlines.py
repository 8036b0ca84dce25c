"""Edits N-Triples and N-Quads with numpy, many lines at once.

The parser wrote the lines, so they are canonical: one space between terms, no white space in IRIs,
line ends only after a statement's dot. Splitting and joining lines costs far more than copying
them. So numpy marks the positions to change with bytes that such lines never contain, and
one ``replace`` per mark makes the changes.

Blank node labels become unique per document and stay the same on every run. A label of the document
becomes ``b<hash>x<label>``. A node without a label, for which the parser generates a random one,
becomes ``b<hash>n<rank>`` in order of appearance. ``<hash>`` is that of the document's URL.
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
#: "_:" in a literal: after a quotation mark, and not in the last term of its line. The pattern
#: begins with a fixed byte, which the engine finds without trying every position.
_IN_LITERAL = re.compile(rb'"[^"\n_]*+(?:_(?!:)[^"\n_]*+)*+_:(?![^\s"<>]+ \.\n)')


def has_pair(data: bytes, first: bytes, following: bytes) -> bool:
    """Whether the byte ``first`` directly precedes one of the bytes ``following`` anywhere."""
    if first not in data:
        return False
    octets = np.frombuffer(data, np.uint8)
    found = octets[np.flatnonzero(octets[:-1] == first[0]) + 1]
    return any((found == octet).any() for octet in following)


def label_starts(lines: bytes) -> Places:
    """Return the position after each ``_:``, be it in a blank node or not."""
    octets = np.frombuffer(lines, np.uint8)
    places = np.flatnonzero(octets == _UNDERSCORE) + 1  # the last byte is a line end
    starts: Places = places[octets[places] == _COLON_SIGN] + 1
    return starts


def blank_nodes(lines: bytes) -> Places | None:
    """Return the positions of blank node labels, after each ``_:``.

    None if a literal or an IRI may contain ``_:`` as well.
    """
    starts = label_starts(lines)
    if not len(starts):
        return starts
    octets = np.frombuffer(lines, np.uint8)
    inner = starts[octets[starts - 3] != _LINE_END] - 2  # index -1 is the last line end
    if len(inner):
        if not (octets[inner - 1] == _SPACE).all():
            return None
        quotes = np.flatnonzero(octets == _QUOTE)
        if len(quotes) and _any_after_quote(octets, inner, quotes) and _IN_LITERAL.search(lines):
            return None
    return starts


def _any_after_quote(octets: npt.NDArray[np.uint8], places: Places, quotes: Places) -> bool:
    """Whether a quotation mark precedes one of ``places`` in its line."""
    quotes = np.append(quotes, len(octets))
    ends = np.flatnonzero(octets == _LINE_END)
    starts = np.concatenate(([0], ends + 1))[np.searchsorted(ends, places)]
    return bool((quotes[np.searchsorted(quotes, starts)] < places).any())


def line_ends(lines: bytes) -> Places:
    """Return the positions of the line ends."""
    return np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_END)


def lines_with_graphs(lines: bytes) -> tuple[Places, npt.NDArray[np.bool_]]:
    """Return the ends of N-Quads lines, and which of the lines have a graph name.

    The last space-separated part of a literal has a quotation mark. So a graph name is an IRI or
    blank node after the third term, with a space on either side.
    """
    octets = np.frombuffer(lines, np.uint8)
    marks = np.flatnonzero(octets <= _QUOTE)
    kinds = octets[marks]
    last = np.flatnonzero(kinds == _LINE_END)
    if (kinds == _EXCLAMATION).any() or np.count_nonzero(kinds < _SPACE) != len(last):
        wanted = (kinds == _LINE_END) | (kinds == _SPACE) | (kinds == _QUOTE)
        marks, kinds = marks[wanted], kinds[wanted]
        last = np.flatnonzero(kinds == _LINE_END)
    first = octets[marks[last - 2] + 1]
    named = np.diff(last, prepend=-1) >= 5
    named &= (kinds[last - 1] == _SPACE) & (kinds[last - 2] == _SPACE)
    named &= (first == _LESS) | (first == _UNDERSCORE)
    return marks[last], named


#: a line; group 1 is the graph name
_GRAPH_OF_LINE = re.compile(
    rb"^(?:<[^>]*>|_:\S+) +<[^>]*> +"
    rb'(?:<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:\^\^<[^>]*>|@[A-Za-z0-9-]+)?|<<\(.*\)>>)'
    rb" *(<[^>]*>|_:\S+)? *\.\s*$"
)


def iri(url: str) -> str:
    """Return a URL as a term of N-Quads."""
    return f"<{url}>"


def graph_of(line: bytes) -> str:
    """Return the graph name of a line as a term; empty for the default graph."""
    match = _GRAPH_OF_LINE.match(line)
    if match is None:
        return ""
    return (match[1] or b"").decode("utf-8", "replace")


def is_all_in(lines: bytes, graph: str) -> bool:
    """Whether every line ends with this graph name. Cheap."""
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
    """Yield pieces of whole lines; a missing last line end is added."""
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
    """Return the bytes that end every line of a graph."""
    return f" {graph} .\n".encode("utf-8", "replace")


#: a literal, an IRI, or the label of a blank node
TERM = re.compile(
    rb'("[^"\\]*+(?:\\.[^"\\]*+)*+"(?:@[A-Za-z0-9-]++|\^\^<[^>]*+>)?+|<[^>\s]*+>)|_:([^\s]+)'
)
#: white space beyond ASCII, which an IRI may contain, in UTF-8
_WIDE_SPACES = "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WIDE_SPACE = re.compile(f"[{_WIDE_SPACES}]")
#: whether a character up to U+FFFF is white space beyond ASCII
_IS_WIDE_SPACE = np.array([bool(_WIDE_SPACE.match(chr(code))) for code in range(1 << 16)])
_ESCAPED = re.compile(r"\\u([0-9A-F]{4})")
#: one of our labels that keeps a label of the document beyond ASCII
_WIDE_LABEL = re.compile(rb"_:b[0-9a-f]{20}x[!-~]*+[\x80-\xff]")


def for_older_readers(lines: bytes | bytearray) -> bytes | bytearray:
    """Write finished lines so that readers of RDF 1.0's N-Triples take them too; the same quads.

    rdflib ends an IRI at any white space of Unicode, such as U+3000, and knows only ASCII in
    labels. So white space in IRIs is escaped, and such labels are written as their bytes.
    """
    if lines.isascii():
        return lines
    octets = np.frombuffer(lines, np.uint8)
    leads = np.flatnonzero(((octets - np.uint8(0xE1)) <= 2) | (octets == 0xC2))
    places = [match.start() for match in _WIDE_LABEL.finditer(lines)]
    if len(leads):
        first, second, third = (
            octets[np.minimum(leads + n, len(octets) - 1)].astype(np.uint16) & mask
            for n, mask in ((0, 0x2F), (1, 0x3F), (2, 0x3F))
        )
        long = first >= 0x20  # of three bytes; else of two, the first of which is 0xC2
        wide = _IS_WIDE_SPACE[
            np.where(long, (first & 0xF) << 12 | second << 6 | third, 0x80 | second)
        ]
        places = sorted([*places, *leads[wide].tolist()])
    if not places:
        return lines
    pieces, last = [], 0
    for place in places:
        if place < last:
            continue  # in a line that is done
        start = lines.rfind(b"\n", last, place) + 1 or last
        end = lines.find(b"\n", place) + 1
        pieces += [lines[last:start], TERM.sub(_for_older_reader, lines[start:end])]
        last = end
    return b"".join([*pieces, lines[last:]])


def _for_older_reader(match: re.Match[bytes]) -> bytes:
    term = match[0]
    if term.isascii():
        return term
    if match[2]:
        before, _, label = term.partition(b"x")
        return before + b"y" + label.hex().encode()
    literal, mark, iri = term.rpartition(b'"') if term[:1] == b'"' else (b"", b"", term)
    text = _WIDE_SPACE.sub(lambda sign: f"\\u{ord(sign[0]):04X}", iri.decode("utf-8", "replace"))
    return literal + mark + text.encode()


def iri_text(iri: bytes) -> str:
    """Return an IRI of finished lines, without its angle brackets, as text."""
    text = iri.decode("utf-8", "replace")
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) if "\\" in text else text


#: Form of the labels that the parser generates: 128 random bits without leading zeros. One in
#: 2**48 has fewer than 20 digits.
_GENERATED = re.compile(rb"[a-f][0-9a-f]{19,31}\Z")


def skolem_iris(base: str) -> re.Pattern[bytes]:
    """Return the pattern of the IRIs that :class:`BlankNodeNames` makes under a Skolem base."""
    return re.compile(re.escape(f"{base.rstrip('/')}/b".encode()) + rb"[0-9a-f]{20}[xn]")


class BlankNodeNames:
    """Renames the blank nodes of one document.

    It remembers generated labels only, at most about twice ``window``, and forgets those not met
    for a while. That is safe: the parser never uses a generated label again after its statement.
    """

    def __init__(self, url: str, skolem_base: str = "", window: int = 1 << 18) -> None:
        """Name the blank nodes of the document at ``url``."""
        #: whether every blank node of the syntax has a label (N-Triples, N-Quads, TriX)
        self.all_labelled = False
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest().encode()
        if skolem_base:
            start, self.end = f"<{skolem_base.rstrip('/')}/".encode(), b">"
        else:
            start, self.end = b"_:", b""
        #: prefix of a term with a label of the document; :attr:`end` is the suffix
        self.labelled = start + b"b" + digest + b"x"
        #: prefix of a term with a rank; :attr:`end` is the suffix
        self.ranked = start + b"b" + digest + b"n"
        self._ranked, self._end = self.ranked.decode(), self.end.decode()
        self._window = window
        #: number of unlabelled nodes so far
        self.count = 0
        #: ranks of recent generated labels, and of older ones
        self._ranks = count()
        self._known: defaultdict[bytes, int] = defaultdict(self._ranks.__next__)
        self._old: dict[bytes, int] = {}

    def name(self, label: bytes) -> bytes:
        """Return the N-Quads term for the blank node that the parser calls ``label``."""
        return self.terms([label])[0]

    def terms(self, labels: list[bytes]) -> list[bytes]:
        """Return the N-Quads terms for the blank nodes that the parser calls ``labels``."""
        generated = set() if self.all_labelled else {x for x in labels if _GENERATED.match(x)}
        ranks = iter(self.ranks([label for label in labels if label in generated]))
        ranked, labelled, end = self.ranked, self.labelled, self.end
        return [
            b"%b%d%b" % (ranked, next(ranks), end) if label in generated else labelled + label + end
            for label in labels
        ]

    def fresh(self) -> str:
        """Return the term of a new node without a label."""
        rank = next(self._ranks)
        self.count += 1
        return f"{self._ranked}{rank}{self._end}"

    def ranks(self, generated: list[bytes]) -> list[int]:
        """Return the ranks of unlabelled nodes, by their generated labels."""
        if len(self._known) > self._window:
            self._old = dict(self._known)
            self._known = defaultdict(self._ranks.__next__)
        known = self._known
        if self._old:  # labels still in use count as recent
            met_again = self._old.keys() & set(generated)
            known.update((name, self._old[name]) for name in met_again)
        before = len(known)
        ranks = list(map(known.__getitem__, generated))
        self.count += len(known) - before
        return ranks

    def forget(self, number: int) -> None:
        """Forget the unlabelled nodes of rank ``number`` and above."""
        for ranks in (self._known, self._old):
            for name in [name for name, rank in ranks.items() if rank >= number]:
                del ranks[name]
        self._ranks = count(number)
        self._known.default_factory = self._ranks.__next__
        self.count = number


Octets = npt.NDArray[np.uint8]
Windows = npt.NDArray[np.bytes_]

#: Marks: a byte to delete, the dot of a line without a graph name, the colon of a labelled node.
#: The parser writes these bytes only as escapes.
_DELETED, _DOT, _COLON = b"\0", b"\1", b"\2"
#: digits of generated labels: nearly always 32, and at least 29 in all but one of 2**16. Lines with
#: shorter ones take the slow way
_LONGEST, _SHORTEST = 32, 29
#: digits that make a label look generated (see BlankNodeNames)
_TELLING_DIGITS = 20


class LineEdit:
    """Collects and applies changes to canonical lines."""

    def __init__(self, lines: bytes) -> None:
        """Change ``lines``."""
        # padding gives the last label a full window too
        self._text = bytearray().join((lines, bytes(_LONGEST)))
        self._octets: Octets = np.frombuffer(self._text, np.uint8)
        self._windows = np.ndarray((len(lines),), f"S{_LONGEST}", self._text, strides=(1,))
        self._graph = self._labelled = b""

    def name_graphs(self, ends: Places, graph: bytes) -> None:
        """Add the graph name ``graph`` to the lines that end at ``ends``."""
        self._octets[ends - 1] = _DOT[0]
        self._graph = graph + b" ."

    def name_labelled(self, starts: Places, before: bytes) -> None:
        """Replace the ``_:`` before ``starts`` with ``before``, which begins with ``_:`` too."""
        self._octets[starts - 1] = _COLON[0]
        self._labelled = before.removeprefix(b"_")

    def name_nodes(self, starts: Places, names: BlankNodeNames, *, labels: bool) -> bool:
        """Rename the blank nodes whose labels begin at ``starts``; new names must not be IRIs.

        Returns False, with nothing changed, where it cannot. Without ``labels`` it can only if the
        parser generated all labels.
        """
        if not len(starts):
            return True
        found = self._windows[starts]
        generated, doubtful = self._generated(starts, found)
        if generated.all():
            return self._rank(starts, found, names)
        if doubtful or not labels or not self._rank(starts[generated], found[generated], names):
            return False
        self.name_labelled(starts[~generated], names.labelled)
        return True

    def _generated(self, starts: Places, found: Windows) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return which labels the parser generated, and whether others may be generated too.

        Zeroes what follows each label in ``found``.
        """
        octets = found.view(np.uint8).reshape(-1, _LONGEST)
        generated = self._octets[starts + _LONGEST] == _SPACE
        for size in range(_LONGEST - 1, _SHORTEST - 1, -1):
            shorter = octets[:, size] == _SPACE
            generated |= shorter
            octets[np.flatnonzero(shorter), size:] = 0
        generated &= octets[:, 0] > ord("9")
        digits = (octets - ord("0")) < 10  # bytes below "0" wrap around
        digits |= (octets - ord("a")) < 6
        possible = digits | (octets == 0)
        if generated.all() and possible.all():
            return generated, False
        alike = digits[:, :_TELLING_DIGITS].all(axis=1) & (octets[:, 0] > ord("9"))
        generated &= alike & possible.all(axis=1)
        return generated, bool((alike & ~generated).any())

    def _rank(self, starts: Places, found: Windows, names: BlankNodeNames) -> bool:
        """Overwrite the labels ``found`` at ``starts`` with their ranks."""
        if not len(starts):
            return True
        first = np.ones(len(found), np.bool_)  # of a run of equal labels
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
        # keep the text after a shorter label
        after = found.view(np.uint8).reshape(new.shape) == 0
        old = self._windows[starts].view(np.uint8).reshape(new.shape)
        np.copyto(new, old, where=after)
        self._windows[starts] = new.view(found.dtype)[:, 0]
        return True

    def finished(self) -> bytearray:
        """Return the lines with all changes."""
        text = self._text.replace(_DELETED, b"")
        if self._labelled:
            text = text.replace(_COLON, self._labelled)
        if self._graph:
            text = text.replace(_DOT, self._graph)
        return text
