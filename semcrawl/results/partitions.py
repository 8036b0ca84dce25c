"""Writes job folders as a partitioned Parquet data set, which Spark, DuckDB and Polars read.

It has the tables ``quads``, ``documents`` and ``records``, partitioned by job and day (UTC)::

    TABLE/job=NAME/date=2026-11-24/part-00000.parquet

A job writes only its own parts, each atomically, so jobs of many machines may share a data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyoxigraph as ox
from sqlalchemy import Table, select

from semcrawl.errors import StoreError, UsageError
from semcrawl.metadata.database import CRAWL_DB, opened, readable_db_url
from semcrawl.metadata.parquet import arrow_schema, check_parquet
from semcrawl.metadata.records import Document, Fetch
from semcrawl.pipelines.pagestore import SPOOLS
from semcrawl.results.job import Job
from semcrawl.results.mergedjobs import latest_versions, snapshots_of
from semcrawl.results.quadsource import Snapshot, Span, store_errors
from semcrawl.wholefiles import whole_file

#: rows per row group, and per file
_GROUP = 100_000
_LARGEST = 5_000_000
#: open files at a time
_OPEN = 30
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: columns of the ledger that only concern its own file
_OF_FILE = ("id", "url_key", "offset", "length", "checksum", "revision", "terms_complete")
_DOCUMENT, _FETCH = cast("Table", Document.__table__), cast("Table", Fetch.__table__)
#: columns of ``quads``; ``object_type`` is iri, blank, literal or triple
QUAD_COLUMNS = (
    "subject", "predicate", "object", "object_type", "datatype", "language", "graph", "document",
)  # fmt: skip


def job_names(folders: Sequence[Path], name: str = "") -> list[str]:
    """Return the names of jobs in a data set: those of their folders, or the given one.

    Raises ``UsageError`` for invalid or equal names.
    """
    names = [name] if name else [folder.resolve().name for folder in folders]
    for each in names:
        if not _NAME.fullmatch(each):
            raise UsageError(f"{each!r} cannot name a part of a data set: give --job NAME")
    if len(set(names)) < len(folders):
        raise UsageError(
            "each folder needs its own name in a data set: "
            f"{', '.join(sorted(names))} (rename one, or write one at a time with --job NAME)"
        )
    return names


def write_partitions(
    folders: Sequence[Path], names: Sequence[str], out: Path
) -> tuple[dict[str, int], list[str]]:
    """Write job folders into the data set ``out``, and replace their former parts.

    Only the latest version of a document is written. Returns the number of rows of each table, and
    the addresses of documents that are left out, as no folder has them undamaged.
    Raises ``UsageError`` for a folder that is not a job folder and without pyarrow, and
    ``StoreError`` for what cannot be read or written.
    """
    check_parquet()
    for folder in folders:
        Job(folder).close()  # raises UsageError
    tables = {
        "quads": _quad_schema(),
        "documents": arrow_schema(_DOCUMENT, without=_OF_FILE),
        "records": arrow_schema(_FETCH, without=("id",)),
    }
    rows = dict.fromkeys(tables, 0)
    damaged: list[str] = []
    try:
        with ExitStack() as stack:
            parts = {
                (table, name): stack.enter_context(_Parts(out / table / f"job={name}", schema))
                for table, schema in tables.items()
                for name in names
            }
            for file, ledger in SPOOLS[:2]:
                _write_quads(folders, names, file, ledger, parts, damaged)
            for folder, name in zip(folders, names, strict=True):
                _write_records(folder, parts["records", name])
        for (table, _), part in parts.items():
            part.remove_former()
            rows[table] += part.rows
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or out}: {error.strerror}") from None
    return rows, damaged


def _write_quads(
    folders: Sequence[Path],
    names: Sequence[str],
    file: str,
    ledger: str,
    parts: Mapping[tuple[str, str], _Parts],
    damaged: list[str],
) -> None:
    there = [(f, n) for f, n in zip(folders, names, strict=True) if (f / ledger).is_file()]
    with ExitStack() as stack:
        snapshots = snapshots_of(stack, [folder for folder, _ in there], file, ledger)
        with store_errors(ledger):
            known = latest_versions(snapshots)
            for number, (snapshot, (_, name)) in enumerate(zip(snapshots, there, strict=True)):
                query = select(_DOCUMENT).order_by(Document.offset)
                for row in snapshot.connection.execution_options(yield_per=1000).execute(query):
                    version = known[bytes.fromhex(row.url_key)]
                    if version.source == number:
                        if not version.is_sound and row.gone_at is None:
                            damaged.append(row.url)
                            continue
                        day = _day(row.fetched_at)
                        parts["documents", name].add(day, dict(row._mapping))
                        for quad in _quads(snapshot, row) if row.gone_at is None else ():
                            parts["quads", name].add(day, quad)


def _write_records(folder: Path, part: _Parts) -> None:
    with (
        store_errors(folder / CRAWL_DB),
        opened(readable_db_url(folder)) as engine,
        engine.execution_options(read_only=True).connect() as connection,
    ):
        query = select(_FETCH).order_by(_FETCH.c.id)
        for row in connection.execution_options(yield_per=1000).execute(query):
            part.add(_day(row.started_at), dict(row._mapping))


def _quads(snapshot: Snapshot, row: Any) -> Iterator[dict[str, Any]]:
    span = Span(*(getattr(row, name) for name in Span._fields))
    for lines in snapshot.lines(span):
        for quad in ox.parse(lines, ox.RdfFormat.N_QUADS, lenient=True):
            yield {**_object(quad.object), **_names(quad), "document": row.url}


def _names(quad: ox.Quad) -> dict[str, str | None]:
    graph = quad.graph_name
    return {
        "subject": _name(quad.subject),
        "predicate": quad.predicate.value,
        "graph": None if isinstance(graph, ox.DefaultGraph) else _name(graph),
    }


def _name(term: Any) -> str:
    """Return an IRI without brackets, any other term as N-Triples."""
    return term.value if isinstance(term, ox.NamedNode) else str(term)


def _object(term: Any) -> dict[str, str | None]:
    if isinstance(term, ox.Literal):
        return {
            "object": term.value,
            "object_type": "literal",
            "datatype": term.datatype.value,
            "language": term.language,
        }
    kind = {ox.NamedNode: "iri", ox.BlankNode: "blank"}.get(type(term), "triple")
    return {"object": _name(term), "object_type": kind, "datatype": None, "language": None}


def _quad_schema() -> Any:
    import pyarrow as pa

    optional = {"datatype", "language", "graph"}
    return pa.schema([pa.field(name, pa.string(), name in optional) for name in QUAD_COLUMNS])


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


@dataclass
class _Day:
    """The part files of one day, of which one may be open."""

    files: int = 0
    rows: int = 0
    writer: Any = None
    stack: ExitStack = field(default_factory=ExitStack)
    waiting: list[dict[str, Any]] = field(default_factory=list)


class _Parts:
    """Writes the part files of one job in one table. A file gets its name when it is complete."""

    def __init__(self, folder: Path, schema: Any) -> None:
        self.rows = 0
        self._folder = folder
        self._schema = schema
        self._days: dict[str, _Day] = {}
        self._written: set[Path] = set()

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        for name, day in self._days.items():
            if kind is None:
                self._flush(name, day)
                day.stack.close()
            else:
                day.stack.__exit__(kind, error, trace)

    def add(self, name: str, row: dict[str, Any]) -> None:
        """Add a row to the day ``name``."""
        day = self._days.setdefault(name, _Day())
        day.waiting.append(row)
        self.rows += 1
        if len(day.waiting) >= _GROUP:
            self._flush(name, day)
            if day.rows >= _LARGEST or len(self._days) > _OPEN:
                day.stack.close()
                day.writer = None

    def remove_former(self) -> None:
        """Delete the parts of an earlier run that this one did not replace."""
        for path in self._folder.glob("date=*/*.parquet"):
            if path not in self._written:
                path.unlink(missing_ok=True)

    def _flush(self, name: str, day: _Day) -> None:
        import pyarrow as pa

        if not day.waiting:
            return
        if day.writer is None:
            self._open(name, day)
        day.writer.write_table(pa.Table.from_pylist(day.waiting, schema=self._schema))
        day.rows += len(day.waiting)
        day.waiting = []

    def _open(self, name: str, day: _Day) -> None:
        import pyarrow.parquet as pq

        folder = self._folder / f"date={name}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"part-{day.files:05d}.parquet"
        day.files, day.rows, day.stack = day.files + 1, 0, ExitStack()
        file = day.stack.enter_context(whole_file(path))
        day.writer = pq.ParquetWriter(file, self._schema, compression="zstd")
        day.stack.enter_context(day.writer)
        self._written.add(path)
