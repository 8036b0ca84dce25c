"""The embedded triple store: pyoxigraph, in a folder of the job folder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pyoxigraph

from semcrawl.results.stores.contract import (
    MOST_STATEMENTS,
    GraphContent,
    Statement,
    StoreRefused,
    StoreUnavailable,
    statement,
)

#: bytes of N-Quads from which the store's bulk loader is faster than a transaction (measured)
BULK_SIZE = 1 << 20


class EmbeddedStore:
    """A folder with pyoxigraph's store. Only one process at a time can open it."""

    def __init__(self, folder: Path) -> None:
        """Open or make the store; raise ``StoreUnavailable`` if that fails."""
        self.target = f"embedded:{folder.name}"
        #: whether the store was made now
        self.is_new = not folder.exists()
        try:
            self._store: pyoxigraph.Store | None = pyoxigraph.Store(str(folder))
        except OSError as error:
            raise StoreUnavailable(f"cannot open the store {folder}: {_line(error)}") from None

    def existing(self, names: Collection[str]) -> set[str]:
        """Return which of the graphs the store holds, including empty ones."""
        store = self._opened()
        return {name for name in names if store.contains_named_graph(graph_name(name))}

    def statements(self, name: str, limit: int = MOST_STATEMENTS) -> Iterator[Statement]:
        """Yield statements of a graph."""
        quads = self._opened().quads_for_pattern(None, None, None, graph_name(name))
        for quad in islice(quads, limit):
            yield statement(quad.subject, quad.predicate, quad.object)

    def count(self, name: str) -> int:
        """Return how many statements a graph has."""
        quads = self._opened().quads_for_pattern(None, None, None, graph_name(name))
        return sum(1 for _ in quads)

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content."""
        store = self._opened()
        try:
            for content in contents:
                if not content.is_new:
                    store.remove_graph(graph_name(content.name))
            # parse here: the store's own loaders rename blank nodes
            quads = pyoxigraph.parse(
                cast("IO[bytes]", _Lines(contents)), pyoxigraph.RdfFormat.N_QUADS
            )
            if sum(content.size for content in contents) < BULK_SIZE:
                store.extend(quads)
            else:
                store.bulk_extend(quads)
        except (SyntaxError, ValueError) as error:
            raise StoreRefused(_line(error)) from None
        except OSError as error:
            raise StoreUnavailable(f"the embedded store fails: {_line(error)}") from None

    def update(self, text: str) -> None:
        """Run a SPARQL Update."""
        try:
            self._opened().update(text)
        except (SyntaxError, ValueError) as error:
            raise StoreRefused(_line(error)) from None
        except OSError as error:
            raise StoreUnavailable(f"the embedded store fails: {_line(error)}") from None

    def close(self) -> None:
        """Write everything to disk and close the store."""
        if self._store is not None:
            self._store.flush()
            self._store = None

    def _opened(self) -> pyoxigraph.Store:
        if self._store is None:
            raise StoreUnavailable("the embedded store is closed")
        return self._store


def graph_name(name: str) -> pyoxigraph.NamedNode | pyoxigraph.BlankNode:
    """Return pyoxigraph's term for a graph name as N-Quads writes it."""
    if name.startswith("_:"):  # made by an older version of semcrawl
        return pyoxigraph.BlankNode(name[2:])
    return pyoxigraph.NamedNode(name[1:-1])


class _Lines:
    """A readable file of the N-Quads lines of several graphs."""

    def __init__(self, contents: Sequence[GraphContent]) -> None:
        self._pieces = (piece for content in contents for piece in content.quad_lines())
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = piece
        if size < 0:
            size = len(self._rest)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:500]
