"""Makes and migrates the tables of a database, in one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    inspect,
    select,
    text,
)

from semcrawl.errors import StoreError
from semcrawl.machine.filelocks import lock
from semcrawl.metadata.models import Base

#: newest Alembic revision; a new migration changes it
HEAD = "0010"
#: revisions that can be brought up to :data:`HEAD`
KNOWN = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010")


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
