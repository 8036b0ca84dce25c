"""The contract of a triple store backend, and the data that it gets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from semcrawl.errors import StoreError
from semcrawl.pipelines.stores.spans import Span
from semcrawl.pipelines.stores.statements import Statement, first_of, statements_of
from semcrawl.rdf.quadlines import line_ending

#: statements of a graph in a store that are looked at to see whose it is
MOST_STATEMENTS = 10_000


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the server
    """The store is away, or refuses everything; the same may work later."""


class StoreRefused(StoreError):  # noqa: N818 - the store's word on one batch
    """The store is well and will not take these statements."""


@dataclass(slots=True)
class GraphContent:
    """The wanted content of a graph: lines of one document, under the graph's name in the store."""

    #: the graph's name in the store, as N-Quads writes it; an IRI
    name: str
    #: places of lines, and the graph name that these state; empty for the default graph
    parts: list[tuple[Span, str]] = field(default_factory=list)
    #: statements of our own about graphs, lines of N-Triples
    about: bytes = b""
    #: whether the store holds no graph of this name
    is_new: bool = False

    @property
    def is_as_written(self) -> bool:
        """Whether the lines state the graph's name in the store, and nothing else is to be held."""
        return not self.about and all(stated == self.name for _, stated in self.parts)

    @property
    def size(self) -> int:
        """Bytes to be read, at least those of the graph."""
        return len(self.about) + sum(span.length for span in self._spans())

    @property
    def quads(self) -> int:
        """Statements in the documents, at least those of the graph."""
        return self.about.count(b"\n") + sum(span.quads for span in self._spans())

    def is_empty(self) -> bool:
        """Say whether there are no statements."""
        return next(self.triples(), None) is None

    def witness(self) -> str:
        """Return a statement of the graph in the form that stores do not change; or nothing."""
        line = next(self.triples(), b"").partition(b"\n")[0]
        try:
            return first_of(statements_of(line))
        except (SyntaxError, ValueError):
            return ""

    def has_blank_nodes(self) -> bool:
        """Say whether there may be blank nodes among the terms."""
        return any(b"_:" in lines for lines in self.triples())

    def triples(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Triples."""
        yield from self._lines(b" .\n")

    def quad_lines(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Quads."""
        yield from self._lines(line_ending(self.name))

    def _lines(self, ending: bytes) -> Iterator[bytes]:
        """Yield whole lines that end so, in place of the graph name that they state."""
        for span, stated in self.parts:
            stated_ending = line_ending(stated) if stated else b" .\n"
            for lines in span.lines(stated):
                yield lines if stated_ending == ending else lines.replace(stated_ending, ending)
        if self.about:
            yield self.about.replace(b" .\n", ending)

    def _spans(self) -> list[Span]:
        return list({id(span): span for span, _ in self.parts}.values())


class GraphStore(Protocol):
    """A triple store that graphs are put into."""

    #: names the store in the ledger: no password, the same on every run
    target: str

    def existing(self, names: Collection[str]) -> set[str]:
        """Return those of the graphs that the store holds, whether or not we made them.

        Raises :class:`StoreUnavailable` when it is away or does not answer.
        """
        ...

    def statements(self, name: str, limit: int = MOST_STATEMENTS) -> Iterator[Statement]:
        """Yield statements of a graph, so many at most; raises :class:`StoreUnavailable`."""
        ...

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content; graphs without content are dropped.

        Safe to repeat, with contents that are not called new. Raises :class:`StoreUnavailable` when
        the store is away and :class:`StoreRefused` when it is well and refuses these statements.
        """
        ...

    def close(self) -> None:
        """Disconnect."""
        ...
