"""Crawl metadata on PostgreSQL and MariaDB as on SQLite."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from harvest.runs import pages, start_harvest
from sqlalchemy import create_engine, func, select, text

from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.metadata import database
from semcrawl.metadata.database import connect
from semcrawl.metadata.history import visited_documents
from semcrawl.metadata.records import Base, Fetch, Term, TermUse
from semcrawl.pipelines.metadata import MetadataPipeline
from tests.waiting import until

from .servers import MariaDB, PostgreSQL

pytestmark = [pytest.mark.server, pytest.mark.slow]
LONG = "http://example.org/" + "é😀" * 2000


@pytest.fixture(scope="module", params=[PostgreSQL, MariaDB])
def server(request):
    kind = request.param
    if not (kind.binaries if kind is PostgreSQL else kind.binary):
        pytest.skip(f"needs {kind.__name__}")
    server = kind()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def url(server):
    """A database of its own."""
    engine = create_engine(server.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS crawl"))
        utf8 = " CHARACTER SET utf8mb4" if isinstance(server, MariaDB) else ""
        connection.execute(text(f"CREATE DATABASE crawl{utf8}"))
    engine.dispose()
    head, _, tail = server.url.rpartition("/")
    return f"{head}/crawl{'?charset=utf8mb4' if 'charset' in tail else ''}"


def record(**more) -> FetchRecord:
    return FetchRecord(LONG, FetchOutcome.FETCHED_RDF, started_at=1234567890.123456, **more)


def fetched(url: str) -> list:
    engine = connect(url)
    with engine.connect() as connection:
        rows = connection.execute(select(Fetch.url, Fetch.started_at, Fetch.errors))
        found = [tuple(row) for row in rows]
    engine.dispose()
    return found


async def test_records_and_documents_arrive(url):
    pipeline = MetadataPipeline(url, documents=True)
    pipeline.open_spider()
    await asyncio.gather(
        *(pipeline.process_item(record(errors="a\0b")) for _ in range(450)),
        *(
            pipeline.process_item(RdfDocument(f"{LONG}{i}", quads=i, fetched_at=1.0))
            for i in range(30)
        ),
    )
    gone = FetchRecord(
        f"{LONG}7", FetchOutcome.HTTP_ERROR, status=410, started_at=2.0, revisit=True
    )
    await pipeline.process_item(gone)
    await pipeline.close_spider()
    rows = fetched(url)
    assert len(rows) == 451
    assert rows[0] == (LONG, 1234567890.123456, "a\\x00b")
    engine = connect(url)
    known = {document.url: document for document in visited_documents(engine)}
    engine.dispose()
    assert len(known) == 29
    assert known[f"{LONG}29"].richness == 29


async def test_workers_index_the_same_terms_at_the_same_time(url):
    connect(url).dispose()
    pipelines = [MetadataPipeline(url, documents=True) for _ in range(3)]
    for pipeline in pipelines:
        pipeline.open_spider()
    lines = "".join(f'<urn:s> <urn:{name}> "x" .\n' for name in ("p", "é😀", "q", LONG[:500]))
    await asyncio.gather(
        *(
            pipelines[i % 3].process_item(RdfDocument(f"{LONG}{i}", nquads=lines.encode()))
            for i in range(300)
        )
    )
    again = RdfDocument(
        f"{LONG}7",
        nquads=b'<urn:s> <urn:r> "x" .\n',
        fetched_at=1.0,
        content_hash="x",
        revisit=True,
    )
    await pipelines[0].process_item(again)
    for pipeline in pipelines:
        await pipeline.close_spider()
    counted = (
        select(Term.iri, func.count(), func.sum(TermUse.count))
        .join(TermUse, TermUse.term_id == Term.id)
        .group_by(Term.id, Term.iri)
    )
    engine = connect(url)
    with engine.connect() as connection:
        found = {
            iri: (documents, int(uses)) for iri, documents, uses in connection.execute(counted)
        }
    engine.dispose()
    shared = dict.fromkeys(("urn:p", "urn:é😀", "urn:q", f"urn:{LONG[:500]}"), (299, 299))
    assert found == {**shared, "urn:r": (1, 1)}


async def test_a_server_that_is_killed_and_comes_back_gets_every_row(server, url, caplog):
    pipeline = MetadataPipeline(url, patience=60)
    pipeline.open_spider()
    await pipeline.process_item(record())
    server.kill()
    starter = threading.Timer(1.0, server.start)
    starter.start()
    await asyncio.gather(*(pipeline.process_item(record()) for _ in range(50)))
    await pipeline.close_spider()
    starter.join()
    assert len(fetched(url)) == 51
    away, back = caplog.messages
    assert away.startswith("the metadata database is not usable: ")
    assert back == "the metadata database is back"


@pytest.fixture
def away(server, url):
    """The database's server is away until the test is over."""
    pipeline = MetadataPipeline(url, patience=3)
    pipeline.open_spider()
    server.kill()
    yield pipeline
    server.start()


async def test_a_server_that_stays_away_is_waited_for_as_long_as_its_patience(away, caplog):
    begin = time.monotonic()
    with pytest.raises(ItemNotWritten):
        await away.process_item(record())
    assert time.monotonic() - begin >= 3
    assert [message.partition(":")[0] for message in caplog.messages] == [
        "the metadata database is not usable",
        "the metadata database is still down",
    ]
    await away.close_spider()


def test_a_harvest_tells_of_a_server_that_stays_away(server, url, tmp_path):
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log) as web:
        settings = ["-s", f"SEMCRAWL_METADATA_URL={url}", "-s", "SEMCRAWL_METADATA_PATIENCE=1"]
        started = start_harvest(
            *(DemoWeb().start, "--fast", "--pages", "40", *settings),
            folder=tmp_path / "out",
            proxy=web.proxy_url,
        )
        until(lambda: log.exists() and pages(log) > 5)
        server.kill()
        run = started.wait()
    server.start()
    run.is_calm()
    assert run.status == 1
    assert run.err.count("the metadata database is not usable: ") in (1, 2)  # each spider's
    lines = [line for line in run.err.splitlines() if not line.startswith("requests ")]
    assert f"frontier {run.folder} --requeue" in lines[-2]
    assert lines[-1].startswith("semcrawl: cannot open the database")


def test_migrations_lead_to_the_models(url):
    engine = create_engine(url)
    database.migrate(engine, "0001")
    engine.dispose()
    engine = connect(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_several_workers_may_come_first(url):
    """They make the tables one at a time."""
    errors = []

    def come() -> None:
        try:
            connect(url).dispose()
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=come) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
