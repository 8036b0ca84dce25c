"""N-Quads lines by graph, without parsing where it can be avoided.

The lines come from our own reader or from pyoxigraph: one space between terms, `` .`` at the end,
and every line break inside a literal escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: the terms of a line after subject and predicate: object, graph
_TAIL = re.compile(
    rb"^(?:<[^>]*>|_:\S+) +<[^>]*> +"
    rb'(?:<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:\^\^<[^>]*>|@[A-Za-z0-9-]+)?|<<\(.*\)>>)'
    rb" *(<[^>]*>|_:\S+)? *\.\s*$"
)


def iri(url: str) -> str:
    """Return a URL as N-Quads writes it."""
    return f"<{url}>"


def graph_of(line: bytes) -> str:
    """Return the graph name of a line as N-Quads writes it; empty for the default graph."""
    match = _TAIL.match(line)
    if match is None:
        return ""
    return (match[1] or b"").decode("utf-8", "replace")


def is_all_in(lines: bytes, graph: str) -> bool:
    """Say whether every line ends with this graph name; cheap."""
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
