"""``semcrawl query``: answer SPARQL queries over all quads of a job."""

from __future__ import annotations

import argparse
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import IO, Self

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    parse_query_results,
)
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from semcrawl.commandline import JobCommand, print_table, refuse_several, remark, tell_of_damaged
from semcrawl.errors import UsageError
from semcrawl.rdf.shortnames import shorten
from semcrawl.rdf.terms import XSD
from semcrawl.results.job import Job
from semcrawl.results.queries import Answer, query_answer
from semcrawl.results.querystore import held_store
from semcrawl.terminal import plain_console

_FORMATS = {
    "csv": "SELECT as CSV",
    "tsv": "SELECT as TSV, terms as in Turtle",
    "json": "SELECT and ASK as SPARQL's JSON",
    "ttl": "CONSTRUCT and DESCRIBE as Turtle (the default)",
    "nt": "CONSTRUCT and DESCRIBE as N-Triples",
}
#: datatypes of columns that are aligned right
_FIGURES = frozenset(
    XSD + name for name in ("integer", "decimal", "double", "float", "int", "nonNegativeInteger")
)
_NOTHING = "the query has no results"
#: fewest bytes of quads for which loading is announced
_LARGE = 20_000_000


class Command(JobCommand):
    """Answers a query over the union of all graphs."""

    arguments = "[options] DIR QUERY"
    summary = "Query all quads of a job with SPARQL"
    description = (
        "Answer a SPARQL query over all quads of the job in DIR. The default graph is the "
        "union of all graphs; GRAPH ?document { … } gives the source of statements. Common "
        "prefixes (schema:, foaf:, dcterms: …) need no PREFIX. QUERY may be @FILE, or - for "
        "standard input. The folder query in DIR caches the quads in a store. Each query "
        "updates it, and you may delete it at any time."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        self.add_top(parser, 1000, "rows of the table")
        formats = parser.add_mutually_exclusive_group()
        for name, text in _FORMATS.items():
            formats.add_argument(
                f"--{name}", action="store_const", const=name, dest="format", default="", help=text
            )
        parser.add_argument(
            "--timeout",
            type=float,
            default=300.0,
            metavar="SECONDS",
            help="time limit of a query (300; 0: none)",
        )

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse missing and superfluous arguments."""
        super().check(args, opts)
        refuse_several(args[:-1])
        if len(args) != 2:
            raise UsageError("give a job folder and a query: semcrawl query DIR 'SELECT …'")
        if not 0 <= opts.timeout < 1e7:
            raise UsageError(f"--timeout must be a number of seconds, not {opts.timeout:g}")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Update the store and query it."""
        query = _query(args[1])
        with (
            Job(Path(args[0])) as job,
            _Filling() as progress,
            held_store(job.folder, job.sources, progress) as store,
            query_answer(store, query, opts.format, opts.timeout or None) as answer,
        ):
            if opts.format or answer.kind == "triples":
                _copy(answer.stream, sys.stdout.buffer, line=opts.format == "json")
            else:
                _show(answer, opts.top)
        self.exitcode = tell_of_damaged(job.damaged, [job.folder])


def _query(text: str) -> str:
    """Return the query in an argument, a file or standard input."""
    if text == "-":
        return sys.stdin.read()
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {text[1:]}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{text[1:]} is not UTF-8") from None


class _Filling:
    """Shows the loading of many quads into the store: a bar on a terminal, else a line."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, done: int, whole: int) -> None:
        """Show the progress; hide the bar at the end."""
        if whole <= _LARGE:
            return
        if not self._begun:
            self._begun = True
            console = plain_console(stderr=True)
            if not console.is_terminal:
                remark(f"loading {whole / 1e6:,.0f} MB of quads into the store first …")
                return
            columns = BarColumn(), DownloadColumn(), TimeRemainingColumn()
            self._bar = Progress("loading quads", *columns, console=console, transient=True)
            self._bar.add_task("", total=whole)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
        if done >= whole:
            self.__exit__()


def _show(answer: Answer, top: int) -> None:
    found = parse_query_results(answer.stream, QueryResultsFormat.JSON)
    if not isinstance(found, QuerySolutions):
        print("yes" if found else "no")
        return
    names = [variable.value for variable in found.variables]
    solutions = [tuple(solution) for solution in islice(found, top + 1)]
    if not solutions:
        remark(_NOTHING)
        return
    figures = [all(map(_is_figure, column)) for column in zip(*solutions, strict=True)]
    rows = [tuple(map(_shown, solution)) for solution in solutions]
    print_table("", dict(zip(names, figures, strict=True)), rows[:top])
    if len(rows) > top:
        remark(f"only the first {top:,} rows; --top N shows more, --csv all")


def _is_figure(term: object) -> bool:
    return term is None or (isinstance(term, Literal) and term.datatype.value in _FIGURES)


def _copy(answer: IO[bytes], out: IO[bytes], *, line: bool) -> None:
    """Copy an answer, as a whole ``line`` if its syntax does not end it."""
    if not (start := answer.read(1)):
        remark(_NOTHING)
    out.write(start)
    shutil.copyfileobj(answer, out)
    out.write(b"\n" if line else b"")
    out.flush()


def _shown(term: object) -> str:
    if isinstance(term, NamedNode):
        return shorten(term.value)
    if isinstance(term, BlankNode):
        return f"_:{term.value}"
    return term.value if isinstance(term, Literal) else "" if term is None else str(term)
