"""Opens the metadata database."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, unquote

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from semcrawl.errors import StoreError, UsageError
from semcrawl.filelocks import lock
from semcrawl.metadata.records import Base

#: newest Alembic revision; a new migration changes it
HEAD = "0011"
#: revisions that can be brought up to :data:`HEAD`
KNOWN = tuple(f"{number:04}" for number in range(1, int(HEAD) + 1))


@dataclass(frozen=True)
class Tables:
    """The tables of one kind of database, and their migrations."""

    metadata: MetaData
    #: package whose folder ``migrations`` has Alembic's migrations
    package: str
    #: Alembic's revisions in order, the current one last
    versions: tuple[str, ...]

    @property
    def head(self) -> str:
        """The current revision."""
        return self.versions[-1]


#: the crawl metadata
CRAWL = Tables(Base.metadata, "semcrawl.metadata", KNOWN)

_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def bring_up_to_date(engine: Engine, tables: Tables = CRAWL) -> None:
    """Make the tables, or migrate them to the current revision.

    Raises ``StoreError`` for a database of a newer semcrawl. Alembic is loaded only if there is
    something to migrate.
    """
    with engine.connect() as connection:
        if _version(connection) == tables.head:
            return
    with one_at_a_time(engine):
        with engine.begin() as connection:
            version = _version(connection)
            if version == tables.head:
                return
            if version is None:
                tables.metadata.create_all(connection)
                _VERSION.create(connection, checkfirst=True)
                connection.execute(_VERSION.insert().values(version_num=tables.head))
                return
        if version not in tables.versions:
            raise StoreError(
                f"the database {shown_url(engine.url)} has schema {version}, this semcrawl knows "
                f"up to {tables.head}: update semcrawl"
            )
        migrate(engine, tables.head, tables)


def migrate(engine: Engine, revision: str, tables: Tables = CRAWL) -> None:
    """Run Alembic's upgrade to a revision."""
    from alembic import command
    from alembic.config import Config

    with TemporaryDirectory(prefix="semcrawl-") as folder, engine.begin() as connection:
        # copy the migrations: Alembic needs files, and the package may be in an archive
        _copy(files(tables.package) / "migrations", Path(folder))
        config = Config()
        config.set_main_option("script_location", folder.replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for each in source.iterdir():
        if each.is_dir():
            _copy(each, target / each.name)
        elif each.name.endswith((".py", ".mako")):
            (target / each.name).write_bytes(each.read_bytes())


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_VERSION.name):
        return None
    return connection.execute(select(_VERSION.c.version_num)).scalar()


@contextmanager
def one_at_a_time(engine: Engine) -> Iterator[None]:
    """Hold a lock of the database, so that one process at a time runs the block."""
    backend = engine.url.get_backend_name()
    if backend == "sqlite":
        if not engine.url.database or engine.url.database == ":memory:":
            yield
            return
        with open(f"{engine.url.database}.lock", "ab") as file:
            lock(file)
            yield
        return
    lock_sql, unlock_sql = {
        "postgresql": ("SELECT pg_advisory_lock(7306)", "SELECT pg_advisory_unlock(7306)"),
        "mysql": ("SELECT GET_LOCK('semcrawl', 60)", "SELECT RELEASE_LOCK('semcrawl')"),
        "mariadb": ("SELECT GET_LOCK('semcrawl', 60)", "SELECT RELEASE_LOCK('semcrawl')"),
    }.get(backend, ("SELECT 1", "SELECT 1"))
    with engine.connect() as connection:
        connection.execute(text(lock_sql))
        try:
            yield
        finally:
            connection.execute(text(unlock_sql))


def shown_url(url: URL) -> str:
    """Return the path of an SQLite file, and other URLs without their password."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return url.render_as_string(hide_password=True)
    path = url.database.removeprefix("file:")
    return path if path == url.database else unquote(path)


#: file name of the default database in the job folder
CRAWL_DB = "crawl.db"
#: seconds to wait for other connections to a SQLite database
_PATIENCE = 30


def crawl_db_url(jobdir: Path, name: str = CRAWL_DB) -> str:
    """Return the URL of the job folder's own database.

    Raises ``UsageError`` for a folder whose name is not UTF-8.
    """
    # SQLAlchemy quotes the path: a folder may be called "what?" or "http%3A%2F%2Fexample.org"
    path = str(jobdir.absolute() / name)
    if not path.isascii() and any("\ud800" <= sign <= "\udfff" for sign in path):
        raise UsageError(f"the name of the folder {str(jobdir)!r} is not UTF-8")
    return URL.create("sqlite", database=path).render_as_string()


def readable_db_url(jobdir: Path, name: str = CRAWL_DB) -> str:
    """Return a URL for reading that database, even from a folder that cannot be written."""
    path = jobdir.absolute() / name
    if all(os.access(place, os.W_OK) for place in (jobdir, path)):
        return crawl_db_url(jobdir, name)
    query = {"uri": "true", "mode": "ro"}
    log = path.with_name(f"{name}-wal")
    if not (log.exists() and log.stat().st_size):
        query["immutable"] = "1"  # otherwise SQLite would make files beside it
    return URL.create("sqlite", database=f"file:{quote(str(path))}", query=query).render_as_string()


def one_line(error: BaseException) -> str:
    """Return an error's message in one line, preferably the driver's."""
    cause = getattr(error, "orig", None) or getattr(error, "strerror", None) or error
    return " ".join(str(cause).split())[:500] or type(cause).__name__


def connect(url: str, tables: Tables = CRAWL) -> Engine:
    """Return an engine; make or migrate its ``tables``.

    Raises ``UsageError`` for a wrong URL or a missing driver, and ``StoreError`` if the database
    cannot be reached or refuses.
    """
    try:
        parsed = make_url(url)
        engine = create_engine(parsed, pool_pre_ping=parsed.get_backend_name() != "sqlite")
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise UsageError(f"SEMCRAWL_METADATA_URL is no database URL: {one_line(error)}") from None
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the driver {error.name} of SEMCRAWL_METADATA_URL is not installed"
        ) from None
    shown = shown_url(parsed)
    try:
        if parsed.get_backend_name() == "sqlite":
            _set_up_sqlite(engine)
        bring_up_to_date(engine, tables)
    except (SQLAlchemyError, OSError) as error:
        engine.dispose()
        raise StoreError(f"cannot open the database {shown}: {one_line(error)}") from None
    return engine


@contextmanager
def opened(url: str) -> Iterator[Engine]:
    """Open a database for the block; raise as :func:`connect` does."""
    engine = connect(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _set_up_sqlite(engine: Engine) -> None:
    """Prepare SQLite for several writers: write-ahead log, timeout, immediate transactions.

    Transactions begin as writing ones, except with the execution option ``read_only``: SQLite
    refuses one that reads first and then writes if another connection has written in between. With
    ``synchronous=FULL`` a commit survives a power loss: links are acknowledged after it.
    """
    only_read = engine.url.query.get("mode") == "ro"

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        if only_read:
            return
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={_PATIENCE * 1000}")
        _write_ahead(cursor, engine)
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        is_read_only = only_read or connection.get_execution_options().get("read_only")
        connection.exec_driver_sql("BEGIN" if is_read_only else "BEGIN IMMEDIATE")


def _write_ahead(cursor: sqlite3.Cursor, engine: Engine) -> None:
    """Switch a new database to the write-ahead log.

    While another connection reads or switches, SQLite refuses this at once, whatever its timeout.
    So connections take turns, and try again while others read.
    """
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return
    end = time.monotonic() + _PATIENCE
    with one_at_a_time(engine):
        while True:
            try:
                cursor.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return
