"""The graph of :class:`~semcrawl.relevance.linkrank.LinkRank` as bytes (no pickle)."""

from __future__ import annotations

import math
import zlib
from array import array
from itertools import islice
from typing import Any

import msgpack

from semcrawl.relevance.linkrank import LinkRank, Node
from semcrawl.relevance.strategy import state_error

_VERSION = 1
#: largest state that is unpacked, in bytes
_LARGEST = 1 << 31


def dump_rank(strategy: str, graph: LinkRank) -> bytes:
    """Return a graph as bytes that :func:`load_rank` reads."""
    nodes = list(graph.nodes.values())
    numbers = {node: number for number, node in enumerate(nodes)}
    links = [(node, to, weight) for node in graph.sources for to, weight in node.links.items()]
    plain = msgpack.packb(
        [
            strategy,
            _VERSION,
            [node.url for node in nodes],
            array("d", [node.value for node in nodes]).tobytes(),
            array("d", [node.residual for node in nodes]).tobytes(),
            bytes(node.waiting for node in nodes),
            [[numbers[node], len(node.links), node.total] for node in graph.sources],
            array("Q", [numbers[to] for _, to, _ in links]).tobytes(),
            array("d", [weight for _, _, weight in links]).tobytes(),
        ],
        unicode_errors="surrogatepass",
    )
    return zlib.compress(plain, 1)


def load_rank(strategy: str, state: bytes, graph: LinkRank) -> None:
    """Fill an empty graph; raise ``UsageError`` for what :func:`dump_rank` did not write."""
    try:
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(state, _LARGEST)
        fields = msgpack.unpackb(plain, unicode_errors="surrogatepass")
        if not unpacker.eof or fields[:2] != [strategy, _VERSION]:
            raise ValueError("another's")
        nodes, sources = _read(*fields[2:])
    except (
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        AttributeError,
        OverflowError,
        zlib.error,
        msgpack.UnpackException,
    ) as error:
        raise state_error(strategy) from error
    graph.take_over(nodes, sources)


def _read(
    urls: list[str],
    values: bytes,
    residuals: bytes,
    waiting: bytes,
    sources: list[Any],
    targets: bytes,
    weights: bytes,
) -> tuple[list[Node], list[Node]]:
    """Put the nodes together again; return them, and those whose links are held."""
    columns = _doubles(values), _doubles(residuals), waiting
    nodes = [
        Node(url, value, residual, value + residual, bool(waits))
        for url, value, residual, waits in zip(urls, *columns, strict=True)
    ]
    if not all(isinstance(url, str) for url in urls):
        raise ValueError("an address is none")
    to = array("Q")
    to.frombytes(targets)
    links = zip(to, _doubles(weights), strict=True)
    held = []
    for number, count, total in sources:
        node = nodes[number]
        node.links = {nodes[n]: weight for n, weight in islice(links, count)}
        node.total = float(total)
        if node.total <= 0 or len(node.links) != count or min(node.links.values()) <= 0:
            raise ValueError("links without a weight")
        for linked in node.links:
            linked.cited += 1
        held.append(node)
    return nodes, held


def _doubles(data: bytes) -> array[float]:
    numbers = array("d")
    numbers.frombytes(data)
    if not all(map(math.isfinite, numbers)):
        raise ValueError("not a number")
    return numbers
