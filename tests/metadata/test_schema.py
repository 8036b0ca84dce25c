"""The metadata database migrates itself, and Alembic's steps lead to the models."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from semcrawl.errors import StoreError, UsageError
from semcrawl.metadata import database
from semcrawl.metadata.database import connect
from semcrawl.metadata.records import Base


def differences(engine) -> list:
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection), Base.metadata)


def test_a_database_of_the_first_version_is_migrated_with_its_rows(tmp_path):
    url = f"sqlite:///{tmp_path}/crawl.db"
    engine = create_engine(url)
    database.migrate(engine, "0001")
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO fetch (url, final_url, depth, label, rules, outcome, content_type,"
                " real_type, bytes, quads, errors, started_at, elapsed)"
                " VALUES ('http://x/', '', 0, 'R', '', 'timeout', '', '', 0, 0, '', 1.5, 2)"
            )
        )
    engine = connect(url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT url, spider FROM fetch")).all() == [
            ("http://x/", "")
        ]
    assert differences(engine) == []


def test_a_new_database_equals_a_migrated_one(tmp_path):
    engine = connect(f"sqlite:///{tmp_path}/crawl.db")
    assert differences(engine) == []
    with engine.connect() as connection:
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    assert version == database.HEAD == database.KNOWN[-1]


def test_the_newest_migration_is_the_head():
    scripts = ScriptDirectory(database.__file__.replace("database.py", "migrations"))
    assert scripts.get_current_head() == database.HEAD


@pytest.mark.slow
def test_opening_needs_no_alembic_when_nothing_is_to_do(tmp_path):
    """Alembic takes a while to load; a crawl is not to wait for it."""
    code = (
        "import sys; from semcrawl.metadata.database import connect;"
        f"connect('sqlite:///{tmp_path}/crawl.db'); assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_database_of_a_newer_version_is_refused(tmp_path):
    url = f"sqlite:///{tmp_path}/crawl.db"
    with connect(url).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="schema 9999"):
        connect(url)


@pytest.mark.parametrize("url", ["nonsense", "cobol://x/y"])
def test_a_wrong_database_url_is_one_clear_line(url):
    with pytest.raises(UsageError, match="is no database URL"):
        connect(url)


def test_an_unreachable_database_is_one_clear_line(tmp_path):
    with pytest.raises(StoreError, match=r"cannot open the database .*: unable to open"):
        connect(f"sqlite:///{tmp_path}/missing/crawl.db")


def test_a_server_that_is_away_is_one_clear_line():
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as caught:
        connect("postgresql+psycopg://me:secret@127.0.0.1:1/x")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_a_new_database_waits_for_those_who_read_it(tmp_path):
    path = tmp_path / "crawl.db"
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("CREATE TABLE other (x)")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM other").fetchall()
    with ThreadPoolExecutor(4) as threads:
        engines = [threads.submit(connect, f"sqlite:///{path}") for _ in range(4)]
        wait(engines, timeout=0.3)
        assert not any(engine.done() for engine in engines)
        reader.execute("COMMIT")
        for engine in engines:
            engine.result().dispose()
    reader.close()
    with closing(sqlite3.connect(path)) as after:
        assert after.execute("PRAGMA journal_mode").fetchone() == ("wal",)
