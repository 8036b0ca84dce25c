"""The contract of a triple store backend, and what it is handed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from semcrawl.errors import StoreError
from semcrawl.pipelines.graphs import line_ending
from semcrawl.pipelines.stores.spans import Span


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the server
    """The store is away, or refuses everything; the same may work later."""


class StoreRefused(StoreError):  # noqa: N818 - the store's word on one batch
    """The store is well and will not take these statements."""


@dataclass(slots=True)
class GraphContent:
    """What a graph is to hold: lines of one document, or of all that have statements in it.

    ``graph`` is written as in N-Quads; empty for the default graph.
    """

    graph: str
    spans: list[Span] = field(default_factory=list)
    #: whether no other content of it has been delivered before
    is_new: bool = False

    @property
    def address(self) -> str:
        """The graph's name as SPARQL can address it: blank nodes get an IRI of ours."""
        is_blank = self.graph.startswith("_:")
        return f"<urn:semcrawl:graph:{self.graph[2:]}>" if is_blank else self.graph

    @property
    def size(self) -> int:
        """Bytes to be read, at least those of the graph."""
        return sum(span.length for span in self.spans)

    @property
    def quads(self) -> int:
        """Statements in the documents, at least those of the graph."""
        return sum(span.quads for span in self.spans)

    def has_blank_nodes(self) -> bool:
        """Say whether there may be blank nodes among the terms."""
        return any(b"_:" in lines for lines in self.quad_lines())

    def triples(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Triples."""
        if not self.graph:
            yield from self.quad_lines()
            return
        ending = line_ending(self.graph)
        for lines in self.quad_lines():
            yield lines.replace(ending, b" .\n")

    def quad_lines(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Quads."""
        for span in self.spans:
            yield from span.lines(self.graph)


class GraphStore(Protocol):
    """A triple store that graphs are put into."""

    #: names the store in the ledger: no password, the same on every run
    target: str

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content; graphs without content are dropped.

        Safe to repeat. Raises :class:`StoreUnavailable` when the store is away and
        :class:`StoreRefused` when it is well and refuses these statements.
        """
        ...

    def close(self) -> None:
        """Disconnect."""
        ...
