"""A hash of a document's graph, to find the same graph under several URLs.

RDFC-1.0 (the W3C's canonicalisation) for documents with few blank nodes; it may take exponential
time for graphs made to be hard. Without blank nodes it comes down to the sorted lines.
"""

from __future__ import annotations

import re
from hashlib import sha256

import pyoxigraph

#: more blank nodes than this, and none is worth the time
MAX_BLANK_NODES = 2_000

_BLANK = re.compile(rb"(?:^| )_:(\S+)", re.MULTILINE)


def graph_hash(nquads: bytes, graph: str) -> str:
    """Return the hexadecimal SHA-256 of the canonical N-Quads, ``graph`` as the default graph.

    Empty for documents with more than :data:`MAX_BLANK_NODES` blank nodes, or whose blank nodes all
    hang together in many like ways (more than 8 that nothing but each other tells apart).
    """
    lines = nquads.replace(b" <" + graph.encode("utf-8", "replace") + b"> .\n", b" .\n")
    if b"_:" in lines and (labels := set(_BLANK.findall(lines))):
        if len(labels) > MAX_BLANK_NODES or _symmetric(lines, labels) > 8:
            return ""
        dataset = pyoxigraph.Dataset(pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS))
        dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        lines = pyoxigraph.serialize(iter(dataset), format=pyoxigraph.RdfFormat.N_QUADS) or b""
    unique = sorted(set(lines.splitlines()))
    return sha256(b"\n".join(unique)).hexdigest()


def _symmetric(lines: bytes, labels: set[bytes]) -> int:
    """Return how many blank nodes share their statements, blank nodes seen as equal."""
    shapes: dict[bytes, list[bytes]] = {label: [] for label in labels}
    for line in lines.splitlines():
        found = _BLANK.findall(line)
        shape = _BLANK.sub(b" _", line)
        for place, label in enumerate(found):
            shapes[label].append(shape + b"%d" % place)
    counts: dict[tuple[bytes, ...], int] = {}
    for said in shapes.values():
        key = tuple(sorted(said))
        counts[key] = counts.get(key, 0) + 1
    return max(counts.values(), default=0)
