"""Counts the classes and properties that N-Quads lines use, without a parser."""

from __future__ import annotations

import re
from collections import Counter

from semcrawl.rdf.quadlines import iri_text
from semcrawl.rdf.terms import RDF

_TYPE = f"<{RDF}type>".encode()
#: a line: the predicate, and with ``rdf:type`` the object if it is an IRI
_LINE = re.compile(rb"\S+ (<[^>]*>)(?: (?<=" + _TYPE + rb" )(<(?!<)[^>]*>))?.*\n")
#: bytes of the longest IRI that is counted
MAX_IRI = 2048


class TermCounter:
    """Counts statements by property and instances by class."""

    def __init__(self, limit: int) -> None:
        """Keep at most ``limit`` distinct terms; 0 turns counting off."""
        self._limit = limit
        #: IRI → statements with it as predicate
        self.properties: Counter[str] = Counter()
        #: IRI → statements that type a resource with it
        self.classes: Counter[str] = Counter()
        #: whether no term was left out
        self.is_complete = True

    @property
    def is_on(self) -> bool:
        """Whether counting is on."""
        return self._limit > 0

    def add(self, lines: bytes) -> None:
        """Count the terms of whole lines: one space between terms, no line break inside them."""
        if not self._limit:
            return
        # Counter and findall run in C; the loop handles each distinct pair once
        for (predicate, kind), count in Counter(_LINE.findall(lines)).items():
            self._count(self.properties, predicate, count)
            if kind:
                self._count(self.classes, kind, count)

    def _count(self, terms: Counter[str], term: bytes, count: int) -> None:
        iri = iri_text(term[1:-1])
        if iri not in terms and (
            len(term) > MAX_IRI or len(self.properties) + len(self.classes) >= self._limit
        ):
            self.is_complete = False
            return
        terms[iri] += count
