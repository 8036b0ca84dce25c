"""A hash of a document's graph, to find the same graph under several URLs.

RDFC-1.0, the W3C's way, takes exponential time for graphs made to be hard. This one is exact, too,
and gives up instead. Each blank node gets a colour out of the lines it stands in, again and again
with the colours of its neighbours, until no more of them can be told apart. Nodes that share their
colour then are named in every order, those that hang together apart from the others, and the
smallest text counts. Without blank nodes it comes down to the sorted lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import permutations
from math import factorial
from typing import NamedTuple

from semcrawl.rdf.patterns import re

#: lines that are put together, at most; some microseconds each
MAX_WORK = 500_000

#: any term; the second group is a blank node's label
_TERM = re.compile(rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|<[^>\s]*+>)|_:([^\s]+)')


class _TooMuch(Exception):  # noqa: N818 - an event
    pass


class _Line(NamedTuple):
    """A line in pieces, between which the labels stand."""

    pieces: list[bytes]
    labels: list[bytes]

    def text(self, names: Mapping[bytes, bytes]) -> bytes:
        middle = [
            names[label] + piece for label, piece in zip(self.labels, self.pieces[1:], strict=True)
        ]
        return self.pieces[0] + b"".join(middle)


def graph_hash(nquads: bytes, graph: str) -> str:
    """Return a hexadecimal SHA-256 that isomorphic graphs share, ``graph`` as the default graph.

    Empty for graphs that would take more than :data:`MAX_WORK`: with a hundred thousand
    statements about blank nodes, or with many that only each other tells apart.
    """
    text = nquads.replace(b" <" + graph.encode("utf-8", "replace") + b"> .\n", b" .\n")
    unique = set(text.splitlines())
    lines = [found for line in unique if b"_:" in line and (found := _split(line)) is not None]
    ground = unique.difference(line.text({x: b"_:" + x for x in line.labels}) for line in lines)
    try:
        said = [*ground, *_canonical(lines)] if lines else list(ground)
    except _TooMuch:
        return ""
    return sha256(b"\n".join(sorted(said))).hexdigest()


def _split(line: bytes) -> _Line | None:
    pieces: list[bytes] = []
    labels: list[bytes] = []
    last = 0
    for term in _TERM.finditer(line):
        if term[1]:
            pieces.append(line[last : term.start()])
            labels.append(term[1])
            last = term.end()
    return _Line([*pieces, line[last:]], labels) if labels else None


def _canonical(lines: list[_Line]) -> Iterator[bytes]:
    """Yield texts that say the same as ``lines``, without their labels."""
    colours, work = _colours(lines)
    shared = Counter(colours.values())
    alike = {label for label, colour in colours.items() if shared[colour] > 1}
    yield from (line.text(colours) for line in lines if alike.isdisjoint(line.labels))
    for labels, part in _parts(
        [line for line in lines if not alike.isdisjoint(line.labels)], alike
    ):
        work += factorial(min(len(labels), 20)) * len(part)
        if work > MAX_WORK:
            raise _TooMuch
        near = {label: colours[label] for line in part for label in line.labels}
        yield min(
            b"\n".join(sorted(line.text(names) for line in part))
            for order in permutations(labels)
            for names in [near | {label: b"_:%d" % n for n, label in enumerate(order)}]
        )


def _colours(lines: list[_Line]) -> tuple[dict[bytes, bytes], int]:
    """Return a colour for each label, which does not depend on the labels, and the work done."""
    colours = dict.fromkeys((label for line in lines for label in line.labels), b"_:")
    places = sum(len(line.labels) for line in lines)
    work = count = 0
    while count < len(colours):
        work += places
        if work > MAX_WORK:
            raise _TooMuch
        said: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for line in lines:
            for label in set(line.labels):
                said[label].append(line.text({x: colours[x] for x in line.labels} | {label: b"*"}))
        colours = {
            label: b"_:" + sha256(b"\n".join([colours[label], *sorted(texts)])).hexdigest().encode()
            for label, texts in said.items()
        }
        before, count = count, len(set(colours.values()))
        if count == before:
            break
    return colours, work


def _parts(lines: list[_Line], alike: set[bytes]) -> list[tuple[list[bytes], list[_Line]]]:
    """Part ``lines`` so that no two parts share a label of ``alike``; give those of each, too."""
    leader = {label: label for label in alike}

    def find(label: bytes) -> bytes:
        while leader[label] != label:
            leader[label] = leader[leader[label]]
            label = leader[label]
        return label

    for line in lines:
        first, *others = (find(label) for label in line.labels if label in alike)
        for other in others:
            leader[find(other)] = find(first)
    parts: defaultdict[bytes, tuple[list[bytes], list[_Line]]] = defaultdict(lambda: ([], []))
    for label in alike:
        parts[find(label)][0].append(label)
    for line in lines:
        parts[find(next(label for label in line.labels if label in alike))][1].append(line)
    return list(parts.values())
