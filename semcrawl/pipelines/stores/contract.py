"""The contract of a triple store backend, and the contents that it writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from semcrawl.errors import StoreError
from semcrawl.pipelines.stores.spans import Span
from semcrawl.pipelines.stores.statements import Statement, first_of, statements_of
from semcrawl.rdf.quadlines import line_ending

#: statements of a graph that are read to find out who made it
MOST_STATEMENTS = 10_000


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the server
    """The store is down or refuses everything; a later try may work."""


class StoreRefused(StoreError):  # noqa: N818 - the store's word on one batch
    """The store works, but refuses these statements."""


@dataclass(slots=True)
class GraphContent:
    """The content that a graph must have: lines of one document, under its name in the store."""

    #: the graph's name in the store, an IRI as N-Quads writes it
    name: str
    #: places of lines, each with the graph name in the lines; empty for the default graph
    parts: list[tuple[Span, str]] = field(default_factory=list)
    #: statements of our own about graphs, lines of N-Triples
    about: bytes = b""
    #: whether the store holds no graph of this name
    is_new: bool = False

    @property
    def is_as_written(self) -> bool:
        """Whether all content is lines that have the graph's name in the store already."""
        return not self.about and all(stated == self.name for _, stated in self.parts)

    @property
    def size(self) -> int:
        """Bytes to read, at least as many as the graph has."""
        return len(self.about) + sum(span.length for span in self._spans())

    @property
    def quads(self) -> int:
        """Statements to read, at least as many as the graph has."""
        return self.about.count(b"\n") + sum(span.quads for span in self._spans())

    def is_empty(self) -> bool:
        """Whether the graph has no statements."""
        return next(self.triples(), None) is None

    def witness(self) -> str:
        """Return a statement of the graph, in comparable form; empty if there is none."""
        line = next(self.triples(), b"").partition(b"\n")[0]
        try:
            return first_of(statements_of(line))
        except (SyntaxError, ValueError):
            return ""

    def has_blank_nodes(self) -> bool:
        """Whether the statements may have blank nodes."""
        return any(b"_:" in lines for lines in self.triples())

    def triples(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Triples."""
        yield from self._lines(b" .\n")

    def quad_lines(self) -> Iterator[bytes]:
        """Yield the graph's statements as whole lines of N-Quads."""
        yield from self._lines(line_ending(self.name))

    def _lines(self, ending: bytes) -> Iterator[bytes]:
        """Yield whole lines with this ending instead of their own graph name."""
        for span, stated in self.parts:
            stated_ending = line_ending(stated) if stated else b" .\n"
            for lines in span.lines(stated):
                yield lines if stated_ending == ending else lines.replace(stated_ending, ending)
        if self.about:
            yield self.about.replace(b" .\n", ending)

    def _spans(self) -> list[Span]:
        return list({id(span): span for span, _ in self.parts}.values())


class GraphStore(Protocol):
    """A triple store."""

    #: name of the store in the ledger: without a password, and the same in every run
    target: str

    def existing(self, names: Collection[str]) -> set[str]:
        """Return which of the graphs the store holds, whoever made them.

        Raises :class:`StoreUnavailable` if it is down or does not tell.
        """
        ...

    def statements(self, name: str, limit: int = MOST_STATEMENTS) -> Iterator[Statement]:
        """Yield at most ``limit`` statements of a graph; raise :class:`StoreUnavailable`."""
        ...

    def replace(self, contents: Sequence[GraphContent]) -> None:
        """Make each graph hold exactly its content; drop graphs without content.

        It may be repeated if the contents are no longer marked as new. Raises
        :class:`StoreUnavailable` if the store is down, and :class:`StoreRefused` if it works but
        refuses these statements.
        """
        ...

    def close(self) -> None:
        """Disconnect."""
        ...
