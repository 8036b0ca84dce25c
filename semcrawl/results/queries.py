"""SPARQL over results, in a process of its own.

Answers a query in a process: ``python -m semcrawl.results.queries``.
Only killing its process stops a query that takes too long. The process reads a :class:`Question` as
JSON from standard input, and writes a line of JSON with the kind of answer or an error, then the
answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from threading import Timer
from typing import IO, BinaryIO

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
from semcrawl.rdf.shortnames import PREFIXES, calls_service, namespace_of, query_error

SOLUTIONS = {
    "json": QueryResultsFormat.JSON,
    "csv": QueryResultsFormat.CSV,
    "tsv": QueryResultsFormat.TSV,
}
#: triples that are searched for the prefixes of Turtle
_LOOKED_THROUGH = 10_000
TRIPLES = {"ttl": RdfFormat.TURTLE, "nt": RdfFormat.N_TRIPLES}


@dataclass(frozen=True, slots=True)
class Question:
    """A query, the folder of the store, and the format of the answer; empty: the default."""

    store: str
    query: str
    format: str = ""


def evaluate(store: str, query: str) -> QuerySolutions | QueryBoolean | QueryTriples:
    """Run a query on a store, whose default graph is the union. Raises ``UsageError``."""
    if calls_service(query):
        raise UsageError("SERVICE is not allowed: a query may not call other servers")
    try:
        return Store.read_only(store).query(query, prefixes=PREFIXES)
    except SyntaxError as error:
        raise UsageError(query_error(error)) from None
    except ValueError as error:
        raise UsageError(f"the query is wrong: {' '.join(str(error).split())}") from None


def answer(question: Question, out: BinaryIO) -> None:
    """Write the kind of the answer as a line of JSON, then the answer."""
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
    """Return the prefixes whose namespaces the triples use."""
    nodes = {term.value for triple in triples for term in triple if isinstance(term, NamedNode)}
    used = {namespace_of(iri) for iri in nodes}
    return {name: iri for name, iri in PREFIXES.items() if iri in used}


def _kind(result: QuerySolutions | QueryBoolean | QueryTriples) -> tuple[str, list[str]]:
    if isinstance(result, QueryTriples):
        return "triples", list(TRIPLES)
    if isinstance(result, QueryBoolean):
        return "yes or no", ["json"]
    return "a table", list(SOLUTIONS)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its kind (a table, yes or no, triples) and its bytes."""

    kind: str
    stream: IO[bytes]


@contextmanager
def query_answer(
    store: Path, query: str, answer_format: str, seconds: float | None
) -> Iterator[Answer]:
    """Run a query in a process; read the answer within the context.

    Raises ``UsageError`` for an invalid query, and ``SemcrawlError`` for one that fails or takes
    more than ``seconds``.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "semcrawl.results.queries"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        process.kill()

    timer = Timer(seconds, end) if seconds else None
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise SemcrawlError("the query could not be asked")  # never: all are pipes
    try:
        if timer is not None:
            timer.daemon = True
            timer.start()
        with process.stdin as stdin:
            stdin.write(json.dumps(asdict(Question(str(store), query, answer_format))).encode())
        head = json.loads(process.stdout.readline() or b"{}")
        if "error" in head:
            raise UsageError(head["error"])
        failure: Exception | None = None
        if head:
            try:
                yield Answer(head["kind"], process.stdout)
            except (ValueError, SyntaxError) as error:  # an answer that was cut off
                failure = error
        process.stdout.close()
        words = process.stderr.read().decode("utf-8", "replace").strip()
        status = process.wait()
        if late:
            raise SemcrawlError(
                f"the query took more than {seconds:g} s; --timeout SECONDS lets it go on"
            )
        if status or failure or not head:
            reason = words.splitlines()[-1] if words else f"its process ended with {status}"
            raise SemcrawlError(f"the query failed: {reason}")
    finally:
        if timer is not None:
            timer.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):  # unsent input
                pipe.close()


if __name__ == "__main__":
    try:
        answer(Question(**json.load(sys.stdin)), sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # the caller stopped reading
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(" ".join(str(error).split()))
