"""Tells two versions of a document apart: the statements that one has and the other has not.

Lines are compared as they are. Where that finds differences in blank nodes, these are compared by
what is said of them (colour refinement), as a publisher's program may give them other labels each
time: nodes that correspond get the label of the old version.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from zlib import crc32

from semcrawl.rdf.sink import TERM

#: the lines of a version, read anew by each call, in pieces of whole lines
Lines = Callable[[], Iterator[bytes]]
#: what happened to a statement: it was added or deleted, as rows of RDF Patch say
ADDED, DELETED = b"A", b"D"
#: most bytes of both versions that are compared in one pass
_IN_MEMORY = 1 << 26
#: rounds of refinement that are always made, and the signatures after which no more are
_LEAST_ROUNDS, _WORK = 8, 200_000

_Colours = dict[bytes, bytes]
_Parts = list[bytes]


def difference(old: Lines, new: Lines, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the rows that turn the old version into the new one: what happened, and the line.

    ``size``: bytes of both together. Large versions are compared in several passes over both, in
    bounded memory, and the labels of their blank nodes as they are.
    """
    parts = size // _IN_MEMORY + 1
    for part in range(parts):
        before, after = (
            {line for line in _lines_of(each) if parts == 1 or crc32(line) % parts == part}
            for each in (old, new)
        )
        deleted, added = before - after, after - before
        if parts == 1 and any(b"_:" in line for line in (*deleted, *added)):
            deleted, added = _with_nodes_matched(before, after, deleted, added)
        for mark, lines in ((DELETED, deleted), (ADDED, added)):
            for line in sorted(lines):
                yield mark, line


def _lines_of(version: Lines) -> Iterator[bytes]:
    for piece in version():
        yield from piece.splitlines(keepends=True)


def _with_nodes_matched(
    before: set[bytes], after: set[bytes], deleted: set[bytes], added: set[bytes]
) -> tuple[set[bytes], set[bytes]]:
    """Return the difference with corresponding blank nodes under one label, if it is smaller."""
    split_before, split_after = _with_nodes(before), _with_nodes(after)
    deleted_plain = {line for line in deleted if line not in split_before}
    added_plain = {line for line in added if line not in split_after}
    rounds = _refined(list(split_before.values()), list(split_after.values()))
    final = rounds[-1]
    if _coloured(split_before, final[0]) == _coloured(split_after, final[1]):
        return deleted_plain, added_plain
    names = _matched(rounds)
    renamed = {_renamed(parts, names) for parts in split_after.values()}
    changed = split_before.keys() - renamed, renamed - split_before.keys()
    if sum(map(len, (*changed, deleted_plain, added_plain))) < len(deleted) + len(added):
        return deleted_plain | changed[0], added_plain | changed[1]
    return deleted, added


def _with_nodes(lines: Collection[bytes]) -> dict[bytes, _Parts]:
    """Return the lines with blank nodes, each split at their labels, which have odd numbers."""
    found = {}
    for line in lines:
        if b"_:" not in line:
            continue
        parts, end = [], 0
        for match in TERM.finditer(line):
            if match[2]:
                parts += [line[end : match.start(2)], match[2]]
                end = match.end(2)
        if parts:
            found[line] = [*parts, line[end:]]
    return found


def _renamed(parts: _Parts, names: _Colours) -> bytes:
    """Return a line with other labels; those without a name are left out."""
    line = parts.copy()
    for place in range(1, len(line), 2):
        line[place] = names.get(line[place], b"")
    return b"".join(line)


def _refined(before: Sequence[_Parts], after: Sequence[_Parts]) -> list[tuple[_Colours, _Colours]]:
    """Return the colours of the blank nodes of both versions after each round of refinement.

    Nodes of which the same is said, as far as the rounds reach, have the same colour.
    """
    versions = (before, after)
    colours = [{node: b"" for parts in each for node in parts[1::2]} for each in versions]
    rounds: list[tuple[_Colours, _Colours]] = []
    kinds, work = 0, 0
    while True:
        colours = [_next_colours(*each) for each in zip(versions, colours, strict=True)]
        rounds.append((colours[0], colours[1]))
        work += len(before) + len(after)
        told_apart = len({*colours[0].values(), *colours[1].values()})
        if told_apart == kinds or (len(rounds) >= _LEAST_ROUNDS and work > _WORK):
            return rounds
        kinds = told_apart


def _next_colours(lines: Sequence[_Parts], colours: _Colours) -> _Colours:
    said: dict[bytes, list[bytes]] = defaultdict(list)
    for parts in lines:
        for node in set(parts[1::2]):
            own = colours[node]
            colours[node] = b"@"
            said[node].append(_hash(_renamed(parts, colours)))
            colours[node] = own
    return {
        node: _hash(colours[node] + b"".join(sorted(signatures)))
        for node, signatures in said.items()
    }


def _hash(data: bytes) -> bytes:
    # hexadecimal, as it stands in place of a label
    return blake2b(data, digest_size=12).hexdigest().encode()


def _coloured(lines: Mapping[bytes, _Parts], colours: _Colours) -> Counter[bytes]:
    return Counter(_renamed(parts, colours) for parts in lines.values())


def _matched(rounds: Sequence[tuple[_Colours, _Colours]]) -> _Colours:
    """Return new names for the nodes of the new version: no two of them get the same.

    Nodes correspond if the same is said of both, as far as possible: nodes whose surroundings
    changed are still alike in what is said of themselves.
    """
    names: _Colours = {}
    taken: set[bytes] = set()
    for depth, (before, after) in enumerate(reversed(rounds)):
        former_by_colour = _by_colour(before, taken)
        for colour, candidates in _by_colour(after, names).items():
            former = former_by_colour.get(colour, [])
            if depth and (len(candidates) > 1 or len(former) > 1):
                continue  # what tells them apart has changed
            same = sorted(set(candidates).intersection(former))
            rest = (sorted(set(nodes).difference(same)) for nodes in (candidates, former))
            for new, old in [*zip(same, same, strict=True), *zip(*rest, strict=False)]:
                names[new] = old
                taken.add(old)
    known = rounds[0][0].keys() | rounds[0][1].keys()
    for node in rounds[0][1].keys() - names.keys():
        name = node
        while name in taken or (name != node and name in known):
            name += b"z"
        names[node] = name
        taken.add(name)
    return names


def _by_colour(colours: _Colours, known: Collection[bytes]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for node, colour in colours.items():
        if node not in known:
            found[colour].append(node)
    return found
