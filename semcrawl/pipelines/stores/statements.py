"""Compares statements of a graph in a store with those of a document.

Stores rename blank nodes and may rewrite typed literals (``"01"^^xsd:integer`` as 1). So any two
blank nodes, and any two typed literals, count as equal. Texts and IRIs must be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Any, TypeAlias

import pyoxigraph

#: a statement in comparable form: stores do not change it
Statement: TypeAlias = tuple[str, str, str]

_BLANK = "_:"
_TYPED = '""^^'
_PLAIN = frozenset(
    {
        "http://www.w3.org/2001/XMLSchema#string",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
    }
)


def is_part_of(there: Iterable[Statement], lines: Iterable[bytes]) -> bool:
    """Whether all the statements of a graph are among those of N-Triples lines.

    It is false for lines that cannot be parsed.
    """
    left = set(there)
    if not left:
        return True
    try:
        for piece in lines:
            left.difference_update(statements_of(piece))
            if not left:
                return True
    except (SyntaxError, ValueError):
        return False
    return False


def first_of(there: Iterable[Statement]) -> str:
    """Return the first statement as a line without its end; empty if there is none."""
    return "\t".join(next(iter(there), ())).replace("\\", "\\\\").replace("\n", "\\n")


def statements_of(ntriples: bytes) -> Iterator[Statement]:
    """Yield the statements of N-Triples; raise ``SyntaxError`` or ``ValueError`` if invalid."""
    for quad in pyoxigraph.parse(BytesIO(ntriples), pyoxigraph.RdfFormat.N_TRIPLES, lenient=True):
        yield statement(quad.subject, quad.predicate, quad.object)


def statement(*terms: object) -> Statement:
    """Return the comparable form of a statement's three terms."""
    subject, predicate, value = map(_plain, terms)
    return subject, predicate, value


def _plain(term: object) -> str:
    if isinstance(term, pyoxigraph.NamedNode):
        return f"<{term.value}>"
    if isinstance(term, pyoxigraph.BlankNode):
        return _BLANK
    if isinstance(term, pyoxigraph.Literal):
        return _literal(term.value, term.language or "", term.datatype.value)
    return _TYPED  # a statement about a statement


def of_binding(binding: Mapping[str, Any]) -> Statement:
    """Return the statement in a row of SPARQL's JSON results with variables s, p and o."""
    subject, predicate, value = (_of_json(binding[name]) for name in "spo")
    return subject, predicate, value


def _of_json(term: Mapping[str, Any]) -> str:
    kind = term["type"]
    # Virtuoso sometimes returns blank nodes as IRIs
    if kind == "bnode" or term["value"].startswith("nodeID://"):
        return _BLANK
    if kind == "uri":
        return f"<{term['value']}>"
    if kind in ("literal", "typed-literal"):
        return _literal(term["value"], term.get("xml:lang", ""), term.get("datatype", ""))
    return _TYPED


def _literal(value: str, language: str, datatype: str) -> str:
    if language or not datatype or datatype in _PLAIN:
        return f'"{value}"@{language.lower()}'
    return _TYPED
