"""SPARQL over results, in a process of its own.

Answers a query in a process: ``python -m semcrawl.results.queries``.
Only killing its process stops a query that takes too long. The process reads a :class:`Question` as
JSON from standard input, and writes a line of JSON with the kind of answer or an error, then the
answer.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import IO, BinaryIO, cast

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

from semcrawl.errors import SemcrawlError, StoreError, UsageError, os_errors_as
from semcrawl.filelocks import lock
from semcrawl.rdf.shortnames import PREFIXES, calls_service, namespace_of, query_error
from semcrawl.results.quadsource import QuadSource, Snapshot, Span, State

#: cache in the job folder; may be deleted at any time
CACHE = "query"
_STATE = "state.json"
#: bytes of lines loaded at once
_PORTION = 32_000_000
#: a line; group 1 is the triple
_LINE = re.compile(
    rb"(\S+ \S+ (?:<(?!<)[^>]*>|_:\S+|<<\(.*\)>>"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?))'
    rb"(?: (?:<[^>]*>|_:\S+))? \.\n"
)

#: called with the bytes loaded so far and the total
Progress = Callable[[int, int], None]


@contextmanager
def held_store(
    folder: Path, sources: Sequence[QuadSource], progress: Progress = lambda done, whole: None
) -> Iterator[Path]:
    """Yield the folder of a store with the present quads of the sources.

    New documents are added; after changes or removals the store is rebuilt. No other process
    changes it within the context. A read-only job folder gets a temporary store. Raises
    ``StoreError``.
    """
    cache = folder / CACHE
    if not os.access(cache if cache.exists() else folder, os.W_OK):
        with TemporaryDirectory(prefix="semcrawl-") as temporary:
            yield _up_to_date(Path(temporary), sources, progress)
        return
    with os_errors_as(StoreError, f"cannot write {cache}"):
        cache.mkdir(exist_ok=True)
        file = (cache / "lock").open("ab")
    with file:
        lock(file)
        store = _up_to_date(cache, sources, progress)
        lock(file, shared=True)
        yield store


def _up_to_date(cache: Path, sources: Sequence[QuadSource], progress: Progress) -> Path:
    store, note = cache / "store", cache / _STATE
    try:
        known, left_out = _known(note) if store.is_dir() else ({}, {})
        with ExitStack() as stack:
            snapshots = {one.path.name: stack.enter_context(one.snapshot()) for one in sources}
            states = {name: snapshot.state for name, snapshot in snapshots.items()}
            if known == states:
                for source in sources:
                    source.damaged |= dict.fromkeys(left_out.get(source.path.name, ()))
                return store
            if not all(_only_grew(state, states.get(name)) for name, state in known.items()):
                known = {}
            if known:
                for source in sources:
                    source.damaged |= dict.fromkeys(left_out.get(source.path.name, ()))
            # without its state file the store counts as broken, should the process be killed
            note.unlink(missing_ok=True)
            if not known:
                shutil.rmtree(store, ignore_errors=True)
            done = 0
            whole = sum(source.path.stat().st_size for source in sources if source.path.exists())
            progress(done, whole)
            target = Store(str(store))
            for name, snapshot in snapshots.items():
                newer_than = known[name].revision if name in known else 0
                for spans in _portions(snapshot.spans(newer_than=newer_than)):
                    lines = cast("IO[bytes]", _Lines(snapshot, spans))
                    target.bulk_load(lines, RdfFormat.N_QUADS, lenient=True)
                    done += sum(span.length for span in spans)
                    progress(done, whole)
            target.flush()
            del target
            content = {
                "states": {name: astuple(state) for name, state in states.items()},
                "left_out": {source.path.name: list(source.damaged) for source in sources},
            }
            note.write_text(json.dumps(content), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {store}: {error.strerror or error}") from None
    except SyntaxError as error:
        raise StoreError(f"the quads of {cache.parent} cannot be read: {error}") from None
    return store


def _known(note: Path) -> tuple[dict[str, State], dict[str, list[str]]]:
    """Return the state of each file in the store, and the damaged documents that it lacks.

    Both are empty if it is uncertain.
    """
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
        states = {name: State(*values) for name, values in content["states"].items()}
        return states, {name: list(map(str, each)) for name, each in content["left_out"].items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}, {}


def _only_grew(before: State, now: State | None) -> bool:
    return now is not None and before.changes == now.changes and before.documents <= now.documents


def _portions(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Group documents into portions to load at once; memory grows with their size.

    No document is split, as each load renames blank nodes.
    """
    portion: list[Span] = []
    size = 0
    for span in spans:
        portion.append(span)
        size += span.length
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


class _Lines:
    """A file of a snapshot's lines, each with and without its graph name.

    So the default graph is the union as a set: a statement of several documents is in it once. A
    union made at query time would count it several times.
    """

    def __init__(self, snapshot: Snapshot, spans: Sequence[Span]) -> None:
        self._pieces = (
            each
            for span in spans
            for lines in snapshot.lines(span)
            for each in (lines, _LINE.sub(rb"\1 .\n", lines))
        )
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes."""
        if not self._held:
            some, length = [], 0
            for piece in self._pieces:
                some.append(piece)
                length += len(piece)
                if 0 <= size <= length:
                    break
            self._held = b"".join(some)
        found = self._held if size < 0 else self._held[:size]
        self._held = self._held[len(found) :]
        return found


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
