"""Caches similarities for topics that compare words, as links repeat their texts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from semcrawl.rdf.shortnames import local_name

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: most texts whose similarity is cached
_MAX_KNOWN = 50_000


class Nearness(ABC):
    """Base of topics with words: cached :meth:`similarity` and :meth:`iri_similarity`."""

    takes_long = False
    knows_words = True

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: dict[tuple[str, str], float] = {}

    def similarity(self, text: str, language: str = "") -> float:
        """Similarity of a word or phrase to the topic, 0 to 1."""
        key = (text, language)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[key] = self._similarity(text, language)
        return known

    def iri_similarity(self, iri: str) -> float:
        """Similarity of the name of a property or class, 0 to 1."""
        return self.similarity(spaced(local_name(iri)))

    @abstractmethod
    def _similarity(self, text: str, language: str) -> float:
        """Compute :meth:`similarity`."""


def spaced(name: str) -> str:
    """Put spaces between the words of a name such as ``DataCatalog``."""
    return _CAMEL.sub(" ", name)
