"""Terms that the markup of a page names: pages about RDF show it, or say what it is made with."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from semcrawl.rdf.shortnames import local_name, namespace_of, other_scheme

#: characters of a local name, and the markup that may stand before it: code is often coloured
_NAME = rb"[\w.-]*\w"
_COLOURED = rb"(?:<[^<>]{0,200}>){0,4}"


class Mentions:
    """Looks for IRIs and short names of terms in the bytes of a page.

    Single names are looked for only where their namespace or prefix occurs, so that a page without
    them costs two searches for each.
    """

    def __init__(self, terms: Iterable[str], prefixes: Mapping[str, str]) -> None:
        """Look for ``terms``; one that ends with ``#``, ``/`` or ``:`` stands for a namespace.

        ``prefixes``: those of namespaces, by namespace.
        """
        names: defaultdict[str, set[bytes]] = defaultdict(set)
        wholly = set()
        for term in terms:
            if term[-1] in "#/:":
                wholly.add(term)
            names[namespace_of(term)].add(local_name(term).encode())
        self._ways = [
            (mark, pattern, None if namespace in wholly else frozenset(found))
            for namespace, found in names.items()
            for mark, pattern in _ways(namespace, prefixes.get(namespace, ""))
        ]

    def first(self, markup: bytes) -> str:
        """Return the first term found, as the page writes it; empty if it names none."""
        for mark, pattern, names in self._ways:
            if mark not in markup:
                continue
            for found in pattern.finditer(markup):
                if names is None or found[1] in names:
                    return (mark + (found[1] or b"")).decode("utf-8", "replace")
        return ""


def _ways(namespace: str, prefix: str) -> Iterator[tuple[bytes, re.Pattern[bytes]]]:
    """Yield how terms of a namespace are written: what occurs, and the pattern of the whole."""
    for iri in (namespace, other_scheme(namespace)):
        mark = iri.encode()
        yield mark, re.compile(re.escape(mark) + rb"(" + _NAME + rb")?")
    if prefix:
        mark = f"{prefix}:".encode()
        whole = rb"(?<![\w.-])" + re.escape(mark) + _COLOURED + rb"(" + _NAME + rb")"
        yield mark, re.compile(whole)
