"""Checks a job folder for damage, and notes what is lost so that the next run reads it again.

A database or file that cannot be mended is moved to a name that ends with ``.damaged``. Lines of
``quads.nq`` are compared with the ledger's checksums, kept files with the hash in their names, the
ledgers with the records of attempts. Databases are checked by SQLite, and their readable rows are
saved. SQLite keeps no checksums: a bit that changed inside a text of a row shows only where the row
has a hash of it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyoxigraph

from semcrawl.frontier.backends import frontier_file
from semcrawl.houses import houses
from semcrawl.items import EMBEDDED, FetchOutcome
from semcrawl.metadata.database import CRAWL, CRAWL_DB, Tables, connect, crawl_db_url
from semcrawl.metadata.history import unknown_row
from semcrawl.metadata.pastversions import HISTORIES, HISTORY
from semcrawl.metadata.records import Document, insert_rows, url_key
from semcrawl.pipelines.files import FILES_FOLDER, INDEX_FILE, LOST_FILES, lost_files
from semcrawl.pipelines.pagestore import PAGE, PAGES_LEDGER, SPOOLS
from semcrawl.pipelines.quadsfile import EMBEDDED_LEDGER, QuadsFile
from semcrawl.rdf.sink import graph_of
from semcrawl.results.querystore import CACHE
from semcrawl.results.stores.opening import EMBEDDED_FOLDER
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import FoundBy
from semcrawl.wholefiles import whole_file

#: ends the name of what could not be mended
DAMAGED = ".damaged"
#: bytes read at a time
_PIECE = 1 << 20


@dataclass
class Checked:
    """What a check found."""

    #: one line per damage
    damages: list[str] = field(default_factory=list)
    #: addresses that the next run reads again
    lost: dict[str, None] = field(default_factory=dict)
    #: seeds that a frontier begins with which had to be made anew; ``None`` if it was not
    seeds: list[str] | None = None
    documents: int = 0

    def note(self, what: Path, damage: str) -> None:
        """Note a damage of a file."""
        self.damages.append(f"{what}: {damage}")


def check_job(folder: Path) -> Checked:
    """Check a job folder that no crawl uses; mend and note what can be.

    The caller fills a new frontier with :attr:`Checked.seeds`. Raises ``StoreError`` for what
    cannot be read or written, and ``UsageError`` for a folder without results.
    """
    found = Checked()
    for _, ledger in SPOOLS:
        _check_database(folder / ledger, CRAWL, found)
    for name in HISTORIES.values():
        _check_database(folder / name, HISTORY, found)
    for house in houses():
        for name, tables in house.databases().items():
            _check_database(folder / name, tables, found)
    for name, ledger in SPOOLS:
        _check_spool(folder, name, ledger, found)
    _compare_with_records(folder, found)
    _check_frontier(folder, found)
    _check_files(folder, found)
    _check_recordings(folder, found)
    _check_stores(folder, found)
    return found


# -- databases
def _fault(path: Path) -> str:
    """Say what is wrong with a database; empty if nothing is."""
    if not path.stat().st_size:
        return "it is empty"
    try:
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("PRAGMA integrity_check(1)").fetchall()
            return "" if rows == [("ok",)] else str(rows[0][0]).splitlines()[-1]
    except sqlite3.Error as error:
        return str(error)


def _mended(path: Path) -> bool:
    """Make the indexes of a database anew; return whether it is whole then."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database:
        database.execute("REINDEX")
        database.commit()
    return not _fault(path)


def _set_aside(path: Path) -> Path:
    """Move a database, with its log, to a name that is free."""
    aside = path.with_name(path.name + DAMAGED)
    if aside.exists():
        aside = path.with_name(f"{path.name}.{time.time():.0f}{DAMAGED}")
    for end in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).replace(aside.with_name(aside.name + end))
    path.replace(aside)
    return aside


def _check_database(path: Path, tables: Tables, found: Checked) -> None:
    """Check a database; move one that cannot be mended aside, and save its rows."""
    if not path.is_file():
        partner = next((file for file, ledger in SPOOLS if ledger == path.name), "")
        if not partner or not _size(path.with_name(partner)):
            return
        found.note(path, f"it is missing, but {partner} has lines")
        saved = 0
        connect(crawl_db_url(path.parent, path.name), tables).dispose()
    else:
        fault = _fault(path)
        if not fault:
            return
        found.note(path, fault)
        if _mended(path):
            return
        aside = _set_aside(path)
        connect(crawl_db_url(path.parent, path.name), tables).dispose()
        saved = _save_rows(aside, path) or _save_without_head(aside, path)
        found.note(
            path, f"made anew with {saved:,} rows that could be read; the old one is {aside}"
        )
    if path.name == CRAWL_DB:
        _seeds_of(path, found)


def _save_rows(old: Path, new: Path) -> int:
    """Copy the rows that can be read; return their number.

    Tables whose rows have no number are left out: they are indexes, and made again.
    """
    saved = 0
    with closing(sqlite3.connect(new)) as target:
        names = [
            (name, [column[1] for column in target.execute(f'PRAGMA table_info("{name}")')])
            for (name,) in target.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'alembic_version'"
                " AND sql NOT LIKE '%WITHOUT ROWID%'"
            ).fetchall()
        ]
        for name, columns in names:
            listed = ", ".join(f'"{column}"' for column in columns)
            marks = ", ".join("?" * len(columns))
            for row in _readable(old, name, listed):
                values = dict(zip(columns, row, strict=True))
                if name == "document" and values["url_key"] != url_key(str(values["url"])):
                    continue
                if name == "document":
                    values["terms_complete"] = None
                with suppress(sqlite3.Error):  # a row that breaks a rule is damaged
                    sql = f'INSERT INTO "{name}" ({listed}) VALUES ({marks})'  # noqa: S608
                    target.execute(sql, list(values.values()))
                    saved += 1
        target.commit()
    return saved


def _save_without_head(old: Path, new: Path) -> int:
    """Copy the rows of a database whose first page is damaged, with the first page of a new one.

    The tables of a database that was made by this version begin at the same pages.
    """
    copy = new.with_name(f".{new.name}.copy")
    try:
        shutil.copyfile(old, copy)
        with closing(sqlite3.connect(new)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (page,) = database.execute("PRAGMA page_size").fetchone()
        head = bytearray(new.read_bytes()[:page])
        head[18:20] = b"\1\1"  # no write-ahead log
        head[28:32] = (_size(copy) // page).to_bytes(4)  # pages
        head[32:40] = bytes(8)  # no free pages
        with copy.open("r+b") as file:
            file.write(head)
        return _save_rows(copy, new)
    except (OSError, sqlite3.Error):
        return 0
    finally:
        copy.unlink(missing_ok=True)


def _readable(path: Path, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, past the pages that cannot be read."""
    last, step = -1, 1
    sql = f'SELECT rowid, {columns} FROM "{table}" WHERE rowid > ? ORDER BY rowid'  # noqa: S608
    while step < 1 << 40:
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                database.text_factory = lambda data: data.decode("utf-8")
                for row in database.execute(sql, (last,)):
                    last, step = row[0], 1
                    yield row[1:]
                return
        except (sqlite3.Error, UnicodeDecodeError):
            last += step
            step *= 2


def _seeds_of(path: Path, found: Checked) -> None:
    """Take the seeds out of the records: the crawl begins again, as its records have gaps."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(
            "SELECT DISTINCT url FROM fetch WHERE found_by = ?", (str(FoundBy.SEED),)
        )
        found.seeds = [url for (url,) in rows]
    if not found.seeds:
        found.seeds = [f"http://{root}/" for root in _roots_of(path.parent)]


def _roots_of(folder: Path) -> list[str]:
    """Return the sites that the crawl began with, as the frontier knows them."""
    if not frontier_file(folder).is_file():
        return []
    with suppress(sqlite3.Error, ValueError):
        with closing(sqlite3.connect(frontier_file(folder))) as database:
            sql = "SELECT value FROM state WHERE name = ?"
            row = database.execute(sql, (b"roots",)).fetchone()
        return bytes(row[0]).decode().split() if row else []
    return []


# -- files of quads
def _check_spool(folder: Path, name: str, ledger: str, found: Checked) -> None:
    """Compare a file of quads with its ledger, and note the lost documents."""
    path = folder / name
    if not (folder / ledger).is_file():
        return
    strangers = _strangers(folder, name, ledger)
    if not path.exists() and _spans(folder / ledger):
        found.note(path, "it is missing")
    file = QuadsFile(folder, name, ledger)
    try:
        lost = file.set_damaged_aside()
    finally:
        file.close()
    with closing(sqlite3.connect(folder / ledger)) as database:
        found.documents += database.execute("SELECT count(*) FROM document").fetchone()[0]
        rows = database.execute(
            "SELECT url FROM document WHERE gone_at IS NULL AND length = 0 AND quads > 0"
            " AND checksum IS NULL"
        )
        gone = [url for (url,) in rows]
    if gone:
        damaged = f"{len(lost):,} damaged" if lost else "cut off or damaged before"
        found.note(path, f"the lines of {len(gone):,} documents are lost ({damaged})")
    found.lost |= dict.fromkeys(gone)
    if strangers:
        found.note(path, f"lines of {len(strangers):,} documents that {ledger} does not list")
        _add_lost(folder, ledger, [(url, url) for url in strangers], found)


def _spans(ledger: Path) -> list[tuple[int, int]]:
    """Return the places of the documents that a ledger lists, in order."""
    with closing(sqlite3.connect(ledger)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'document'").fetchone():
            return []
        return database.execute(
            'SELECT "offset", length FROM document WHERE length > 0 ORDER BY "offset"'
        ).fetchall()


def _strangers(folder: Path, name: str, ledger: str) -> list[str]:
    """Return addresses of documents that have lines, but no row.

    They are the names of the lines' graphs, on hosts that the crawl has been to.
    """
    path = folder / name
    if not _size(path):
        return []
    gaps: list[tuple[int, int]] = []
    end = 0
    for offset, length in _spans(folder / ledger):
        if offset > end:
            gaps.append((end, offset))
        end = max(end, offset + length)
    gaps.append((end, _size(path)))
    graphs: dict[str, None] = {}
    with path.open("rb") as file:
        for begin, end in gaps:
            file.seek(begin)
            while file.tell() < end and (line := file.readline(end - file.tell())):
                with suppress(ValueError):
                    graphs[graph_of(line)] = None
    urls = [graph[1:-1] for graph in graphs if graph.startswith(("<http://", "<https://"))]
    with closing(sqlite3.connect(folder / CRAWL_DB)) as database:
        hosts = {netloc_of(url) for (url,) in database.execute("SELECT url FROM fetch")}
    hosts |= _hosts_of(folder)
    known = _known(folder / ledger)
    return [url for url in urls if netloc_of(url) in hosts and url_key(url) not in known]


def _hosts_of(folder: Path) -> set[str]:
    """Return the hosts that the frontier knows."""
    if not frontier_file(folder).is_file():
        return set()
    with suppress(sqlite3.Error), closing(sqlite3.connect(frontier_file(folder))) as database:
        rows = database.execute("SELECT name FROM host")
        return {bytes(name).decode("utf-8", "replace") for (name,) in rows}
    return set()


def _known(ledger: Path) -> set[str]:
    with closing(sqlite3.connect(ledger)) as database:
        return {key for (key,) in database.execute("SELECT url_key FROM document")}


def _add_lost(folder: Path, ledger: str, urls: list[tuple[str, str]], found: Checked) -> None:
    """Add rows of lost documents, of which only the addresses are known (final, requested)."""
    kind = {EMBEDDED_LEDGER: EMBEDDED, PAGES_LEDGER: PAGE}.get(ledger, "")
    engine = connect(crawl_db_url(folder, ledger))
    try:
        with engine.begin() as connection:
            rows = [
                {
                    **unknown_row(final),
                    "request_url": asked,
                    "format": kind,
                }
                for final, asked in dict(urls).items()
            ]
            insert_rows(connection, Document, rows)
    finally:
        engine.dispose()
    found.lost |= dict.fromkeys(final for final, _ in urls)


def _compare_with_records(folder: Path, found: Checked) -> None:
    """Note documents that were read, by the records of attempts, but are not in their ledger."""
    if not (folder / CRAWL_DB).is_file():
        return
    for ledger, condition in (
        (CRAWL_DB, f"outcome = '{FetchOutcome.FETCHED_RDF}' AND quads > 0"),
        (EMBEDDED_LEDGER, f"outcome = '{FetchOutcome.FETCHED_HTML}' AND quads > 0"),
    ):
        if not (folder / ledger).is_file():
            continue
        known = _known(folder / ledger)
        with closing(sqlite3.connect(folder / CRAWL_DB)) as database:
            rows = database.execute(
                f"SELECT DISTINCT final_url, url FROM fetch WHERE {condition}"  # noqa: S608
            ).fetchall()
        missing = [(final, asked) for final, asked in rows if url_key(final or asked) not in known]
        missing = [(final or asked, asked) for final, asked in missing]
        if missing:
            found.note(folder / ledger, f"{len(missing):,} documents that were read are not listed")
            _add_lost(folder, ledger, missing, found)


# -- the rest
def _check_frontier(folder: Path, found: Checked) -> None:
    """Check the frontier's file; one that cannot be mended is moved aside."""
    path = frontier_file(folder)
    fault = _fault(path) if path.is_file() else ""
    if fault:
        found.note(path, fault)
        if _mended(path) and found.seeds is None:
            return
        if found.seeds is None:
            _seeds_of(folder / CRAWL_DB, found)
    if path.is_file() and found.seeds is not None:
        found.note(path, f"moved to {_set_aside(path)}: the crawl begins again with its seeds")


def _check_files(folder: Path, found: Checked) -> None:
    """Compare kept files with the hashes in their names, and with their index."""
    files = folder / FILES_FOLDER
    index = files / INDEX_FILE
    if not files.is_dir():
        return
    entries: list[dict[str, Any]] = []
    good: list[bytes] = []
    lines = index.read_bytes().splitlines() if index.is_file() else []
    for line in lines:
        try:
            entry = json.loads(line)
            entries.append({"url": str(entry["url"]), "name": str(entry["name"])})
            good.append(line)
        except (ValueError, KeyError, TypeError):
            continue
    if len(good) < len(lines):
        found.note(index, f"{len(lines) - len(good):,} lines cannot be read")
    there = {
        path.name
        for path in files.iterdir()
        if path.is_file() and path.name not in (INDEX_FILE, LOST_FILES)
    }
    whole = set()
    for name in sorted(there):
        if name.startswith(".") or name.endswith(DAMAGED):
            continue
        with (files / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest == name[:64]:
            whole.add(name)
        else:
            found.note(files / name, "its content is not what its name says")
            (files / name).replace(_free_name(files / name))
    listed = {entry["name"] for entry in entries}
    for name in sorted(listed - there):
        found.note(files / name, "it is missing")
    if unlisted := sorted(whole - listed):
        found.note(index, f"{len(unlisted):,} files are not listed in it")
        _note_unlisted(folder, unlisted)
    if len(good) < len(lines):
        with whole_file(index) as file:
            file.writelines(line + b"\n" for line in good)
    found.lost |= dict.fromkeys(lost_files(folder))


def _note_unlisted(folder: Path, names: list[str]) -> None:
    """Note the addresses of files whose lines in the index are lost."""
    urls: dict[str, None] = {}
    with closing(sqlite3.connect(folder / CRAWL_DB)) as database:
        for name in names:
            rows = database.execute(
                "SELECT DISTINCT url FROM fetch WHERE content_hash = ?", (name[:64],)
            )
            urls |= dict.fromkeys(url for (url,) in rows)
    with (folder / FILES_FOLDER / LOST_FILES).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(url) + "\n" for url in urls)


def _free_name(path: Path) -> Path:
    return path.with_name(path.name + DAMAGED)


def _check_recordings(folder: Path, found: Checked) -> None:
    """Read the recordings (WARC) to their ends, and the summary."""
    for path in sorted(folder.glob("*.warc.gz")):
        try:
            with gzip.open(path) as file:
                if not file.read(1):
                    raise EOFError("it is empty")
                while file.read(_PIECE):
                    pass
        except (OSError, EOFError, zlib.error) as error:
            found.note(path, f"the recording is damaged: {error}")
    summary = folder / "summary.json"
    if summary.is_file():
        try:
            json.loads(summary.read_bytes())
        except ValueError:
            found.note(summary, "it is no JSON; the next run writes it anew")
            summary.replace(summary.with_name(summary.name + DAMAGED))


def _check_stores(folder: Path, found: Checked) -> None:
    """Drop the cache of queries, which is made again, and read the folder's own store."""
    shutil.rmtree(folder / CACHE, ignore_errors=True)
    path = folder / EMBEDDED_FOLDER
    if not path.is_dir():
        return
    try:
        store = pyoxigraph.Store.read_only(str(path))
        for _ in store.quads_for_pattern(None, None, None, None):
            pass
    except (OSError, ValueError, SyntaxError) as error:
        found.note(path, f"{' '.join(str(error).split())}; the next delivery fills a new store")
        path.replace(_free_name(path))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
