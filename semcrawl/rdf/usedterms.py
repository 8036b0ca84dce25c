"""Classes and properties that N-Quads lines use, counted without parsing them."""

from __future__ import annotations

import re
from collections import Counter

from semcrawl.rdf.terms import RDF

_TYPE = f"<{RDF}type>".encode()
#: a whole line: the predicate, and the object where the predicate is ``rdf:type`` and that an IRI
_LINE = re.compile(rb"\S+ (<[^>]*>)(?: (?<=" + _TYPE + rb" )(<(?!<)[^>]*>))?.*\n")
#: bytes of an IRI above which it does not count as a term
MAX_IRI = 2048


class TermCounter:
    """Counts statements by property and instances by class, up to so many distinct terms."""

    def __init__(self, limit: int) -> None:
        """Keep ``limit`` distinct terms at most; 0 keeps none, and nothing is looked at."""
        self._limit = limit
        #: IRI → statements with it as predicate
        self.properties: Counter[str] = Counter()
        #: IRI → statements that say that something is of this class
        self.classes: Counter[str] = Counter()
        #: whether every term that was met is counted
        self.is_complete = True

    @property
    def is_on(self) -> bool:
        """Whether anything is counted at all."""
        return self._limit > 0

    def add(self, lines: bytes) -> None:
        """Count the terms of whole lines: one space between terms, no line break inside them."""
        if not self._limit:
            return
        # (Counter and findall run in C; the loop sees each distinct pair once)
        for (predicate, kind), count in Counter(_LINE.findall(lines)).items():
            self._count(self.properties, predicate, count)
            if kind:
                self._count(self.classes, kind, count)

    def _count(self, terms: Counter[str], term: bytes, count: int) -> None:
        iri = term[1:-1].decode("utf-8", "replace")
        if iri not in terms and (
            len(term) > MAX_IRI or len(self.properties) + len(self.classes) >= self._limit
        ):
            self.is_complete = False
            return
        terms[iri] += count
