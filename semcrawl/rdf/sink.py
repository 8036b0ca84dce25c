"""Turns the parser's N-Triples or N-Quads into finished quads: graph names, blank node labels.

Edits N-Triples and N-Quads with numpy, many lines at once.
The parser wrote the lines, so they are canonical: one space between terms, no white space in IRIs,
line ends only after a statement's dot. Splitting and joining lines costs far more than copying
them. So numpy marks the positions to change with bytes that such lines never contain, and
one ``replace`` per mark makes the changes.

Blank node labels become unique per document and stay the same on every run. A label of the document
becomes ``b<hash>x<label>``. A node without a label, for which the parser generates a random one,
becomes ``b<hash>n<rank>`` in order of appearance. ``<hash>`` is that of the document's URL.

Checks the nesting of triple terms before a parser reads them, and measures JSON-LD in pages.
The parser recurses into triple terms. A few thousand levels overflow its stack, which kills the
process.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from io import BufferedWriter, BytesIO, RawIOBase
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from semcrawl.rdf.limits import Deadline, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.terms import RDF

if TYPE_CHECKING:
    from typing_extensions import Buffer


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


_LABEL = re.compile(rb"_:([^ ]+)")
_RDF = b"^^<" + RDF.encode()
#: what ends a literal whose datatype only a language tag gives, be it in another literal or not
NO_LANGUAGE = re.compile(rb'"' + re.escape(_RDF) + rb"(?:dirL|l)angString>")
_UNTAGGED = (_RDF + b"langString>", _RDF + b"dirLangString>")

_PIECE = 1 << 20
#: bytes of the parser's lines that are taken at once
_GATHERED = 1 << 18
#: bytes of the longest line kept: parsers and stores take 16 MiB at most, graph name included
LONGEST_LINE = (1 << 24) - (1 << 16)


def spool_prefix(pid: int) -> str:
    """Return the prefix of the names of a process's spool files."""
    return f"semcrawl-{pid}-"


class Mark(NamedTuple):
    """A position in a sink's output."""

    position: int
    quads: int
    size: int
    blank_nodes: int


class TooMuch(Exception):  # noqa: N818 - an event
    """A piece of text gives too many bytes of lines to be held."""


class HeldLines(RawIOBase):
    """Holds the lines of a piece of text until it is known to be sound."""

    def __init__(self, most: int) -> None:
        """Hold at most ``most`` bytes."""
        super().__init__()
        #: the lines, cut anywhere
        self.pieces: list[bytes] = []
        self._left = most
        #: the file for the serializer; it gathers the small pieces that this writes
        self.file = BufferedWriter(self, _GATHERED)

    def writable(self) -> bool:
        """Say that this can be written."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Take a piece. Raises :class:`TooMuch`, once."""
        piece = bytes(data)
        was_left, self._left = self._left, self._left - len(piece)
        if self._left >= 0:
            self.pieces.append(piece)
        elif was_left >= 0:
            raise TooMuch
        return len(piece)


class QuadSink:
    """Receives the lines that :func:`pyoxigraph.serialize` writes, finishes and keeps them.

    ``graph`` names the default graph. Lines are finished in pieces of a megabyte, which bounds the
    memory.
    """

    def __init__(self, graph: str, options: ReadOptions) -> None:
        """Collect the quads of the document at ``graph``."""
        self.names = BlankNodeNames(options.blank_node_scope or graph, options.skolem_base)
        self._own_names = self.names
        self._url = graph
        #: called with a message when a statement is left out
        self.report: Callable[[str], None] | None = None
        #: returns the bytes of the text that the quads come from, so far; ``None``: not known
        self.text: Callable[[], int] | None = None
        #: what unreadable bytes became; a statement with an IRI that contains it is left out
        self.unreadable: tuple[bytes, ...] = ()
        self.quads = 0
        self.size = 0
        #: whether the parser writes N-Quads (else N-Triples)
        self.has_graphs = False
        #: whether every line is known to have a graph name
        self.all_named = False
        #: whether the source contains "_:", be it in labels, literals or IRIs
        self.may_have_labels = True
        default = options.default_graph or graph
        self._graph = b"<" + default.encode("utf-8", "replace") + b">"
        self._options = options
        self._deadline = Deadline(options.max_seconds)
        self._pending: list[bytes | memoryview] = []
        self._pending_size = 0
        self._memory = BytesIO()
        self._out: IO[bytes] = self._memory
        self.spool: Path | None = None

    def enter_member(self, name: str) -> None:
        """Begin a member of an archive, with its own blank nodes and maybe its own graph name."""
        self.flush()
        member = f"{self._url}#{quote(name)}"
        self.names = BlankNodeNames(member, self._options.skolem_base)
        if self._options.member_graphs:
            self._graph = b"<" + member.encode("utf-8", "replace") + b">"

    def enter_part(self, name: str) -> None:
        """Begin a part of a document with its own blank nodes; an empty name ends it."""
        self.flush()
        if name:
            part = f"{self._url}#{quote(name)}"
            self.names = BlankNodeNames(part, self._options.skolem_base)
        else:
            self.names = self._own_names

    def mark(self) -> Mark:
        """Return the current position, for :meth:`rollback`."""
        self.flush()
        return Mark(self._out.tell(), self.quads, self.size, self.names.count)

    def rollback(self, mark: Mark) -> None:
        """Remove the lines written since ``mark``."""
        self._pending, self._pending_size = [], 0
        self._out.seek(mark.position)
        self._out.truncate()
        self.quads, self.size = mark.quads, mark.size
        self.names.forget(mark.blank_nodes)

    @property
    def file(self) -> IO[bytes]:
        """The sink, typed for the serializer, which needs only ``write`` and ``flush``."""
        return cast(IO[bytes], self)

    def write(self, data: bytes | memoryview) -> int:
        """Take a piece of the parser's output. It may end inside a line."""
        self._pending.append(data)
        self._pending_size += len(data)
        if self._pending_size >= _PIECE:
            self._drain()
        return len(data)

    def flush(self) -> None:
        """Finish the lines so far."""
        self._drain()

    def finish(self) -> bytes:
        """Close the sink; return the N-Quads, or nothing when they are in :attr:`spool`."""
        self._drain()
        if self.spool is not None:
            self._out.close()
        return self._memory.getvalue()

    def _drain(self) -> None:
        if not self._pending:
            return
        last = bytes(self._pending[-1])
        end = last.rfind(b"\n") + 1
        if not end:  # a line that the parser writes in several pieces
            last = b"".join(self._pending)
            self._pending = [last]
            end = last.rfind(b"\n") + 1
        rest = last[end:]
        self._pending[-1] = last[:end]
        lines = b"".join(self._pending)
        self._pending = [rest] if rest else []
        self._pending_size = len(rest)
        if lines:
            self.add_lines(lines)

    @property
    def default_tail(self) -> bytes:
        """What ends a line in the default graph, for :meth:`add_quads`."""
        return b" " + self._graph + b" .\n"

    def add_quads(self, lines: bytes) -> None:
        """Add whole lines whose graphs and blank nodes have their final names."""
        lines = self._without_refused(lines)
        before = self.quads
        self.quads += lines.count(b"\n")
        self._keep(lines, before)

    def add_lines(self, lines: bytes) -> int:
        """Add whole lines (N-Quads if :attr:`has_graphs`, else N-Triples); return their number."""
        before = self.quads
        lines = self._without_refused(lines)
        self._keep(self._named(lines), before)
        return self.quads - before

    def _keep(self, finished: bytes | bytearray, before: int) -> None:
        """Write finished lines; there were ``before`` quads before them."""
        finished = for_older_readers(finished)
        if self.size + len(finished) > self._options.max_nquads_bytes:
            self.quads = before
            raise LimitReached(f"more than {self._options.max_nquads_bytes} bytes of N-Quads")
        if self._grows_too_much(self.size + len(finished)):
            self.quads = before
            raise LimitReached(
                f"N-Quads of more than {self._options.max_ratio:g} times the text's size"
            )
        self.size += len(finished)
        if self.spool is None and self.size > self._options.spool_above:
            self._to_file()
        self._out.write(finished)
        if fault := self._deadline.fault():
            raise LimitReached(fault)

    def _grows_too_much(self, size: int) -> bool:
        """Whether quads of ``size`` bytes are many times as long as the text they come from.

        Each use of a prefix costs a few bytes of text, and its namespace may be long. Graph names
        do not count, as the document does not choose them.
        """
        size -= self.quads * len(self._graph)
        return (
            self.text is not None and size > _PIECE and size > self._options.max_ratio * self.text()
        )

    def _without_refused(self, lines: bytes) -> bytes:
        """Drop the lines that no one could read, or whose IRIs are not known."""
        if len(lines) > LONGEST_LINE:
            lines = self._without_long(lines)
        if b"angString>" in lines and NO_LANGUAGE.search(lines):
            lines = self._without_untagged(lines)
        if self.unreadable and any(sign in lines for sign in self.unreadable):
            lines = self._without_unreadable(lines)
        return lines

    def _without_long(self, lines: bytes) -> bytes:
        """Drop the lines that are too long for other readers."""
        kept = []
        for line in lines.split(b"\n"):
            if len(line) <= LONGEST_LINE:
                kept.append(line)
            elif self.report is not None:
                self.report("a statement of more than 16 MiB")
        return b"\n".join(kept)

    def _without_unreadable(self, lines: bytes) -> bytes:
        """Drop the lines with an IRI that is not known, as its bytes could not be decoded."""
        kept = []
        for line in lines.split(b"\n"):
            terms = (found[1] for found in TERM.finditer(line))
            if not any(
                term and term.startswith(b"<") and sign in term
                for term in terms
                for sign in self.unreadable
            ):
                kept.append(line)
            elif self.report is not None:
                self.report("an IRI with bytes that mean nothing in the document's encoding")
        return b"\n".join(kept)

    def _without_untagged(self, lines: bytes) -> bytes:
        """Drop the language strings without a language, which no strict reader takes."""
        kept = []
        for line in lines.splitlines(keepends=True):
            terms = (match[1] or b"" for match in TERM.finditer(line))
            if not any(term[:1] == b'"' and term.endswith(_UNTAGGED) for term in terms):
                kept.append(line)
            elif self.report is not None:
                self.report("a language string without a language")
        return b"".join(kept)

    def _named(self, lines: bytes) -> bytes | bytearray:
        """Label the blank nodes, and add the graph name to the lines without one."""
        edit = LineEdit(lines)
        if not self._name_nodes(edit, lines):
            lines = self._rename(lines)
            edit = LineEdit(lines)
        if self.has_graphs and self.all_named:
            self.quads += lines.count(b"\n")
        elif self.has_graphs:
            ends, named = lines_with_graphs(lines)
            self.quads += len(ends)
            edit.name_graphs(ends[~named], self._graph)
        else:
            ends = line_ends(lines)
            self.quads += len(ends)
            edit.name_graphs(ends, self._graph)
        return edit.finished()

    def _name_nodes(self, edit: LineEdit, lines: bytes) -> bool:
        """Label the blank nodes of ``lines``; return False if that is left to :meth:`_rename`."""
        names = self.names
        if names.end:
            return False
        if not (names.all_labelled or self.may_have_labels) and edit.name_nodes(
            label_starts(lines), names, labels=False
        ):
            # so no literal holds "_:" followed by what looks like a generated label
            return True
        starts = blank_nodes(lines)
        if starts is None:
            return False
        if names.all_labelled:
            edit.name_labelled(starts, names.labelled)
            return True
        return edit.name_nodes(starts, names, labels=True)

    def _rename(self, lines: bytes) -> bytes:
        """Label the blank nodes one by one."""
        starts = blank_nodes(lines)
        if starts is None:
            return self._rename_by_terms(lines)
        pieces = _LABEL.split(lines)
        pieces[1::2] = self.names.terms(pieces[1::2])
        return b"".join(pieces)

    def _rename_by_terms(self, lines: bytes) -> bytes:
        name = self.names.name
        return b"".join(
            TERM.sub(lambda m: m[1] or name(m[2]), line) if b"_:" in line else line
            for line in lines.splitlines(keepends=True)
        )

    def _to_file(self) -> None:
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed by finish
            prefix=spool_prefix(os.getpid()),
            suffix=".nq",
            dir=self._options.spool_dir,
            delete=False,
        )
        self.spool = Path(file.name)
        file.write(self._memory.getbuffer())
        self._memory = BytesIO()
        self._out = file


_NESTING = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    rb"'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)|"
    rb'"(?:[^"\\\n\r]|\\.)*+"|'
    rb"'(?:[^'\\\n\r]|\\.)*+'|"
    rb"<[^<>\s\"{}]+>|#[^\n\r]*+|(<<)|(>>)",
    re.DOTALL,
)


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
