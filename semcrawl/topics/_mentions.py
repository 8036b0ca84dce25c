"""Finds terms that the markup of a page mentions, as pages about RDF do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from semcrawl.rdf.shortnames import local_name, namespace_of, other_scheme

#: a local name, and the markup before it where code is coloured
_NAME = rb"[\w.-]*\w"
_COLOURED = rb"(?:<[^<>]{0,200}>){0,4}"


class Mentions:
    """Searches the bytes of a page for the IRIs and prefixed names of terms.

    Local names are checked only where their namespace or prefix occurs. A page without them costs
    two or three searches per namespace.
    """

    def __init__(self, terms: Iterable[str], prefixes: Mapping[str, str]) -> None:
        """Search for ``terms``; one that ends with ``#``, ``/`` or ``:`` means a namespace.

        ``prefixes`` maps namespaces to their prefixes.
        """
        names: defaultdict[str, set[bytes]] = defaultdict(set)
        whole_namespaces = set()
        for term in terms:
            if term[-1] in "#/:":
                whole_namespaces.add(term)
            names[namespace_of(term)].add(local_name(term).encode())
        self._searches = [
            (mark, pattern, None if namespace in whole_namespaces else frozenset(found))
            for namespace, found in names.items()
            for mark, pattern in _spellings(namespace, prefixes.get(namespace, ""))
        ]

    def first(self, markup: bytes) -> str:
        """Return a term that the page mentions, as it is written there; empty if there is none."""
        for mark, pattern, names in self._searches:
            if mark not in markup:
                continue
            for found in pattern.finditer(markup):
                if names is None or found[1] in names:
                    return (mark + (found[1] or b"")).decode("utf-8", "replace")
        return ""


def _spellings(namespace: str, prefix: str) -> Iterator[tuple[bytes, re.Pattern[bytes]]]:
    """Yield the spellings of a namespace's terms: a fixed beginning, and a pattern of the whole."""
    for iri in (namespace, other_scheme(namespace)):
        mark = iri.encode()
        yield mark, re.compile(re.escape(mark) + rb"(" + _NAME + rb")?")
    if prefix:
        mark = f"{prefix}:".encode()
        whole = rb"(?<![\w.-])" + re.escape(mark) + _COLOURED + rb"(" + _NAME + rb")"
        yield mark, re.compile(whole)
