"""Collects the triples of a page before their IRIs are resolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from semcrawl.rdf.embedded.rdfa_terms import PREFIXES
from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.terms import RDF

_TYPE = f"<{RDF}type>"
_COPY, _PATTERN = f"<{PREFIXES['rdfa']}copy>", f"<{PREFIXES['rdfa']}Pattern>"


class Triple(NamedTuple):
    """Three N-Triples terms, whose IRIs may be relative, and the line they come from."""

    subject: str
    predicate: str
    object: str
    line: int


class TripleList(list[Triple]):
    """The bounded triples of one page and kind: a few kilobytes can state millions."""

    def __init__(self, limit: int, size: int) -> None:
        """Allow at most ``limit`` triples of ``size`` characters, and forty steps for each."""
        super().__init__()
        self._limit = limit
        self._size = self._left = size
        self._steps = 40 * limit

    def add(self, triple: Triple) -> None:
        """Add a triple. Raises :class:`LimitReached`."""
        if len(self) >= self._limit:
            raise LimitReached(f"more than {self._limit} triples in one page")
        self._left -= len(triple.subject) + len(triple.predicate) + len(triple.object)
        if self._left < 0:
            raise LimitReached(f"triples of more than {self._size} characters in one page")
        self.append(triple)

    def step(self) -> None:
        """Count a visited element. Raises :class:`LimitReached`."""
        self._steps -= 1
        if self._steps < 0:
            raise LimitReached("the page's elements refer to each other too often")


def copy_patterns(triples: list[Triple]) -> Iterator[Triple]:
    """Yield ``triples`` with each ``rdfa:copy`` replaced by the pattern's statements.

    See HTML+RDFa 1.1, section 3.5.
    """
    if not any(t.predicate == _COPY for t in triples):
        yield from triples
        return
    patterns = {t.subject for t in triples if t.predicate == _TYPE and t.object == _PATTERN}
    about: dict[str, list[Triple]] = {}
    for triple in triples:
        about.setdefault(triple.subject, []).append(triple)
    used = {t.object for t in triples if t.predicate == _COPY and t.object in patterns}
    for triple in triples:
        if triple.subject in used:
            continue
        if triple.predicate != _COPY or triple.object not in patterns:
            yield triple
            continue
        seen, waiting = set[str](), [triple.object]
        while waiting:
            pattern = waiting.pop()
            if pattern in seen:
                continue
            seen.add(pattern)
            for other in about.get(pattern, ()):
                if other.predicate == _COPY and other.object in patterns:
                    waiting.append(other.object)
                elif other.object != _PATTERN:
                    yield Triple(triple.subject, other.predicate, other.object, other.line)
