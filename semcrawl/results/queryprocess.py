"""Queries to the store of a job: ``python -m semcrawl.results.queryprocess`` answers one.

In a process of its own, as nothing else ends a query that takes too long. It reads a
:class:`Question` as JSON from standard input, and writes a line of JSON that says what comes, then
the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO

from pyoxigraph import (
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Store,
    Triple,
    serialize,
)

from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.rdf.shortnames import PREFIXES, namespace_of
from semcrawl.rdf.sparqltext import asks_others, query_error

SOLUTIONS = {
    "json": QueryResultsFormat.JSON,
    "csv": QueryResultsFormat.CSV,
    "tsv": QueryResultsFormat.TSV,
}
#: triples that the prefixes of Turtle are taken from
_LOOKED_THROUGH = 10_000
TRIPLES = {"ttl": RdfFormat.TURTLE, "nt": RdfFormat.N_TRIPLES}


@dataclass(frozen=True, slots=True)
class Question:
    """A query, the folder of the store, and the format of the answer; empty: the usual one."""

    store: str
    query: str
    format: str = ""


def evaluate(store: str, query: str) -> QuerySolutions | QueryBoolean | QueryTriples:
    """Ask a store, whose default graph is the union of all. Raises ``UsageError``."""
    if asks_others(query):
        raise UsageError("a query with SERVICE would ask other servers, which it may not")
    try:
        return Store.read_only(store).query(query, prefixes=PREFIXES)
    except SyntaxError as error:
        raise UsageError(query_error(error)) from None
    except ValueError as error:
        raise UsageError(f"the query is wrong: {' '.join(str(error).split())}") from None


def answer(question: Question, out: BinaryIO) -> None:
    """Write what comes as a line of JSON, then the answer."""
    try:
        result = evaluate(question.store, question.query)
        kind, formats = _kind(result)
        if question.format and question.format not in formats:
            usable = " or ".join(f"--{name}" for name in formats)
            raise UsageError(f"the answer to this query is {kind}: give {usable}")
    except SemcrawlError as error:
        out.write(json.dumps({"error": str(error)}).encode() + b"\n")
        return
    out.write(json.dumps({"kind": kind}).encode() + b"\n")
    if isinstance(result, QueryTriples):
        syntax = TRIPLES[question.format or "ttl"]
        first = list(islice(result, _LOOKED_THROUGH))
        prefixes = _prefixes_in(first) if syntax == RdfFormat.TURTLE else None
        serialize(chain(first, result), out, syntax, prefixes=prefixes)
    else:
        result.serialize(out, SOLUTIONS[question.format or "json"])


def _prefixes_in(triples: Iterable[Triple]) -> dict[str, str]:
    """Return the prefixes that these triples have a use for."""
    nodes = {term.value for triple in triples for term in triple if isinstance(term, NamedNode)}
    used = {namespace_of(iri) for iri in nodes}
    return {name: iri for name, iri in PREFIXES.items() if iri in used}


def _kind(result: QuerySolutions | QueryBoolean | QueryTriples) -> tuple[str, list[str]]:
    if isinstance(result, QueryTriples):
        return "triples", list(TRIPLES)
    if isinstance(result, QueryBoolean):
        return "yes or no", ["json"]
    return "a table", list(SOLUTIONS)


if __name__ == "__main__":
    try:
        answer(Question(**json.load(sys.stdin)), sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # who asked has seen enough
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(" ".join(str(error).split()))
