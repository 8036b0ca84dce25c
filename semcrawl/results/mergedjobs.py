"""Merges job folders: each document once, every record, one index.

The latest version of a document is copied byte for byte: blank node labels depend on the document's
address only, so two workers write the same lines. The folder gets its name when it is complete.
"""

from __future__ import annotations

import heapq
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

from sqlalchemy import Connection, Table, func, insert, select

from semcrawl.errors import StoreError, UsageError, os_errors_as
from semcrawl.houses import houses
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url, opened
from semcrawl.metadata.history import LOST
from semcrawl.metadata.records import Contribution, Document, Fetch
from semcrawl.pipelines.files import FILES_FOLDER, INDEX_FILE
from semcrawl.pipelines.pagestore import SPOOLS
from semcrawl.pipelines.quadsfile import is_lost, new_checksum
from semcrawl.results.job import Job
from semcrawl.results.quadsource import QuadSource, Snapshot, Span, store_errors
from semcrawl.wholefiles import umask

#: rows per insert
_ROWS = 1000

_DOCUMENT = cast("Table", Document.__table__)
_CONTRIBUTION = cast("Table", Contribution.__table__)
_FETCH = cast("Table", Fetch.__table__)


@dataclass
class Merged:
    """The numbers of a merged folder."""

    documents: int = 0
    #: documents in more than one folder
    in_several: int = 0
    quads: int = 0
    records: int = 0
    #: amounts of what houses keep, in words
    others: list[str] = field(default_factory=list)
    #: addresses of the documents that no folder has undamaged; a run in the new folder reads them
    damaged: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Version:
    """The folder with a document's latest version, and the figures of all its versions."""

    source: int
    last_seen_at: float
    first_seen_at: float
    visits: int
    changes: int
    folders: int = 1
    is_sound: bool = False


def merge_jobs(
    folders: Sequence[Path], out: Path, settings: Mapping[str, Any] | None = None
) -> Merged:
    """Merge job folders into the new folder ``out``; they stay unchanged.

    ``settings``: those of houses, such as what counts as a copy of an image. Raises ``UsageError``
    for a folder that is not a job folder and for an ``out`` that is not new or empty, and
    ``StoreError`` for what cannot be read or written.
    """
    for folder in folders:
        Job(folder).close()  # raises UsageError
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("a folder is named twice")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists already: give a new folder")
    with os_errors_as(StoreError, f"cannot write {out}"):
        out.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".semcrawl-merge-", dir=out.parent))
    try:
        merged = _merged(folders, part, settings or {})
        part.chmod(0o777 & ~umask())
        part.replace(out)
    except OSError as error:
        raise StoreError(f"cannot write {out}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return merged


def _merged(folders: Sequence[Path], part: Path, settings: Mapping[str, Any]) -> Merged:
    merged = Merged()
    for name, ledger in SPOOLS:
        # a job without embedded data has no ledger of it
        there = [folder for folder in folders if (folder / ledger).is_file()]
        if there:
            _merge_quads(there, part, name, ledger, merged)
    _merge_records(folders, part, merged)
    _merge_files(folders, part)
    for house in houses():
        for name in house.databases():
            with store_errors(name):
                merged.others += filter(None, [house.merge(folders, part, settings)])
    with Job(part) as job:
        job.index()
    return merged


def latest_versions(snapshots: Sequence[Snapshot]) -> dict[bytes, _Version]:
    """Return the latest version of each document by the key of its address.

    A version whose lines are damaged or lost counts only if there is no other.
    """
    known: dict[bytes, _Version] = {}
    columns = (
        Document.url_key, Document.last_seen_at, Document.first_seen_at, Document.visits,
        Document.changes, Document.id,
    )  # fmt: skip
    for number, snapshot in enumerate(snapshots):
        unsound = snapshot.unsound()
        query = select(*columns)
        for key, last, first, visits, changes, row in snapshot.connection.execute(query):
            before = known.setdefault(bytes.fromhex(key), _Version(number, last, first, 0, 0, 0))
            is_sound = row not in unsound
            before.folders += 1
            before.visits += visits
            before.changes += changes
            before.first_seen_at = min(before.first_seen_at, first)
            if (is_sound, last) > (before.is_sound, before.last_seen_at):
                before.source, before.last_seen_at, before.is_sound = number, last, is_sound
    return known


def snapshots_of(
    stack: ExitStack, folders: Sequence[Path], name: str, ledger: str
) -> list[Snapshot]:
    """Open snapshots of the same file in several folders."""
    found = []
    for folder in folders:
        source = QuadSource(folder, name, ledger)
        stack.callback(source.close)
        found.append(stack.enter_context(source.snapshot()))
    return found


def _merge_quads(
    folders: Sequence[Path], part: Path, name: str, ledger: str, merged: Merged
) -> None:
    with ExitStack() as stack:
        snapshots = snapshots_of(stack, folders, name, ledger)
        with store_errors(ledger):
            known = latest_versions(snapshots)
        engine = stack.enter_context(opened(crawl_db_url(part, ledger)))
        with (part / name).open("wb") as file, engine.begin() as connection:
            for number, snapshot in enumerate(snapshots):
                rows = _rows_of_latest(snapshot, number, known, file)
                while batch := list(islice(rows, _ROWS)):
                    merged.damaged += [row["url"] for row in batch if is_lost(row)]
                    first = merged.documents + 1
                    for revision, row in enumerate(batch, first):
                        row["revision"] = revision
                    merged.documents += len(batch)
                    merged.quads += sum(
                        row["quads"] for row in batch if row["gone_at"] is None and row["length"]
                    )
                    connection.execute(insert(_DOCUMENT), batch)
                _copy_contributions(snapshot, number, known, connection)
        merged.in_several += sum(one.folders > 1 for one in known.values())


def _rows_of_latest(
    snapshot: Snapshot, number: int, known: dict[bytes, _Version], file: BinaryIO
) -> Iterator[dict[str, Any]]:
    """Copy the lines of the documents whose latest version is here; yield their rows."""
    query = select(_DOCUMENT).order_by(Document.offset, Document.length)
    for found in snapshot.connection.execution_options(yield_per=_ROWS).execute(query):
        row = dict(found._mapping)
        one = known[bytes.fromhex(row["url_key"])]
        if one.source != number:
            continue
        span = Span(*(row[name] for name in Span._fields))
        row["offset"] = file.tell()
        if row["gone_at"] is None and not one.is_sound:
            row |= LOST
        elif row["gone_at"] is None:
            checksum = new_checksum()
            for lines in snapshot.lines(span):
                file.write(lines)
                checksum.update(lines)
            row["checksum"] = checksum.hexdigest()
        row["length"] = file.tell() - row["offset"] if row["length"] else 0
        row["visits"], row["changes"] = one.visits, one.changes
        row["first_seen_at"] = one.first_seen_at
        del row["id"]
        row["terms_complete"] = None  # not indexed yet
        yield row


def _copy_contributions(
    snapshot: Snapshot, number: int, known: dict[bytes, _Version], connection: Connection
) -> None:
    query = select(Contribution.document_key, Contribution.graph_key, Contribution.graph)
    rows = (
        dict(row._mapping)
        for row in snapshot.connection.execute(query)
        if known[bytes.fromhex(row.document_key)].source == number
    )
    while batch := list(islice(rows, _ROWS)):
        connection.execute(insert(_CONTRIBUTION), batch)


def _merge_records(folders: Sequence[Path], part: Path, merged: Merged) -> None:
    """Copy the records in order of the attempts' ends.

    An attempt that a second worker repeated after the first was killed keeps one record.
    """
    with ExitStack() as stack:
        streams = []
        for folder in folders:
            engine = stack.enter_context(opened(crawl_db_url(folder)))
            reading = engine.execution_options(read_only=True)
            connection = stack.enter_context(reading.connect())
            query = select(_FETCH).order_by(_FETCH.c.id)
            streams.append(connection.execution_options(yield_per=_ROWS).execute(query))
        engine = connect(crawl_db_url(part))
        stack.callback(engine.dispose)
        with store_errors(CRAWL_DB), engine.begin() as target:
            ended = attrgetter("started_at", "elapsed")
            rows = (
                {name: value for name, value in row._mapping.items() if name != "id"}
                for row in heapq.merge(*streams, key=lambda row: sum(ended(row)))
            )
            statement = insert(_FETCH).prefix_with("OR REPLACE")
            while batch := list(islice(rows, _ROWS)):
                target.execute(statement, batch)
            merged.records = target.scalar(select(func.count(_FETCH.c.id))) or 0


def _merge_files(folders: Sequence[Path], part: Path) -> None:
    """Copy or link kept files, with one index, and WARC files."""
    lines: list[tuple[float, bytes]] = []
    for folder in folders:
        for path in sorted((folder / FILES_FOLDER).glob("*")):
            if path.name == INDEX_FILE:
                lines += [(_time_of(line), line) for line in path.read_bytes().splitlines()]
            elif path.is_file():
                _link_or_copy(path, part / FILES_FOLDER / path.name)
        for path in sorted(folder.glob("*.warc.gz")):
            _link_or_copy(path, part / path.name)
    if lines:
        lines.sort(key=lambda pair: pair[0])
        (part / FILES_FOLDER).mkdir(exist_ok=True)
        unique = dict.fromkeys(line for _, line in lines)
        (part / FILES_FOLDER / INDEX_FILE).write_bytes(b"".join(line + b"\n" for line in unique))


def _link_or_copy(path: Path, target: Path) -> None:
    """Add a file that never changes: as a hard link if possible, else as a copy."""
    if target.exists():
        return  # names depend on the content or the process: it is the same file
    target.parent.mkdir(exist_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def _time_of(line: bytes) -> float:
    try:
        return float(json.loads(line).get("fetched_at") or 0.0)
    except (ValueError, AttributeError, TypeError):
        return 0.0
