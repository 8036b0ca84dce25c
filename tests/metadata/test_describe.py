"""A crawl is itself a dataset: PROV-O, VoID, DCAT, and tables for analysis."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import dataclass

import pyoxigraph
import pytest
from sqlalchemy import insert

from semcrawl.commands.describe import Command
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.pipelines.quadsfile import QuadsFile
from tests.inprocess import exit_status
from tests.readonly import read_only

SEED, DATA, GONE = "http://example.org/", "http://example.org/a b|c", "http://example.org/gone"
READ_ONLY = os.strerror(errno.EROFS)
PREFIXES = """
PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX void: <http://rdfs.org/ns/void#>
PREFIX semcrawl: <https://github.com/semcrawl/semcrawl/ns#>
"""


@pytest.fixture
def job(tmp_path):
    file = QuadsFile(tmp_path)
    line = '<http://x/s> <http://x/p> "1" <{}> .\n'
    file.append(
        [
            RdfDocument(
                DATA, quads=1, format="turtle", nquads=line.format(DATA).encode(), fetched_at=5.5
            ),
            RdfDocument(GONE, quads=1, nquads=line.format(GONE).encode(), fetched_at=6.0),
            FetchRecord(GONE, FetchOutcome.HTTP_ERROR, status=410, started_at=9.0, revisit=True),
        ]
    )
    file.close()
    engine = connect(crawl_db_url(tmp_path))
    records = [
        FetchRecord(f"{SEED}robots.txt", FetchOutcome.FETCHED_ROBOTS, started_at=3.0),
        FetchRecord(SEED, FetchOutcome.FETCHED_HTML, SEED, status=200, started_at=4.0),
        FetchRecord(
            DATA, FetchOutcome.FETCHED_RDF, DATA, SEED, 1, "R", ("ex1", "an2"),
            status=200, quads=1, started_at=5.0, elapsed=0.5,
        ),
        FetchRecord("http://example.org/x", FetchOutcome.TIMEOUT, depth=1, parent_url=SEED),
    ]  # fmt: skip
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record) for record in records])
    engine.dispose()
    return tmp_path


@dataclass
class Done:
    code: int
    stdout: str
    stderr: str


@pytest.fixture
def semcrawl(capfdbinary):
    """The command in this process: starting one takes longer than the work."""

    def run(*args: object) -> Done:
        status = exit_status(Command(), *args)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Done(status, out.decode(), err.decode())

    return run


def one(store: pyoxigraph.Store, pattern: str) -> list[list]:
    return [[t.value for t in row] for row in store.query(PREFIXES + pattern)]


def test_the_description_tells_what_came_from_where_and_when(job, semcrawl):
    done = semcrawl(job, "--base", "http://me.example/crawl")
    assert done.code == 0, done.stderr
    store = pyoxigraph.Store()
    store.load(done.stdout.encode(), pyoxigraph.RdfFormat.TURTLE)
    assert one(
        store,
        "SELECT ?d ?n ?t { ?d a dcat:Dataset, void:Dataset ; void:documents ?n ; void:triples ?t }",
    ) == [["http://me.example/crawl", "1", "1"]]
    assert one(
        store,
        "SELECT ?url ?outcome ?start { ?c void:subset ?d . ?d void:dataDump ?url ;"
        " prov:wasGeneratedBy ?f . ?f prov:startedAtTime ?start ; semcrawl:outcome ?outcome }",
    ) == [
        [
            "http://example.org/a%20b%7Cc",
            "https://github.com/semcrawl/semcrawl/ns#fetched-rdf",
            "1970-01-01T00:00:05Z",
        ]
    ]
    assert one(
        store, "SELECT ?u ?at { ?d prov:invalidatedAtTime ?at ; prov:hadPrimarySource ?u }"
    ) == [[GONE, "1970-01-01T00:00:09Z"]]
    assert len(one(store, "SELECT ?f { ?f semcrawl:outcome ?o }")) == 4
    assert one(store, "SELECT ?seed { ?c prov:used ?seed ; prov:wasAssociatedWith ?a }") == [[SEED]]


def test_the_description_goes_to_a_file_in_its_format_and_is_the_same_each_time(
    job, tmp_path, semcrawl
):
    for _ in range(2):
        done = semcrawl(job, "-o", tmp_path / "d.nt", "--documents-only")
        assert done.code == 0, done.stderr
    triples = list(pyoxigraph.parse(path=str(tmp_path / "d.nt")))
    assert len(triples) > 20
    assert sum("outcome" in t.predicate.value for t in triples) == 1


def test_an_ending_that_names_no_format_is_refused(job, tmp_path, semcrawl):
    """Turtle in a file called .nq would mislead; with --format it is what the user wants."""
    file = tmp_path / "crawl.nq"
    refused = semcrawl(job, "-o", file)
    assert (refused.code, refused.stderr.count("\n")) == (2, 1)
    assert ".nq" in refused.stderr
    assert not file.exists()
    assert semcrawl(job, "-o", file, "--format", "nt").code == 0
    assert file.read_bytes().startswith(b"<")


def test_a_pipe_stays_a_pipe_and_a_link_a_link(job, tmp_path, semcrawl):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.ttl").symlink_to("real.ttl")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    assert semcrawl(job, "-o", tmp_path / "pipe").code == 0
    piped, _ = reader.communicate(timeout=60)
    assert semcrawl(job, "-o", tmp_path / "link.ttl").code == 0
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link.ttl").is_symlink()
    assert (tmp_path / "real.ttl").read_bytes() == piped
    assert b"dcat:Dataset" in piped


def test_a_reader_that_leaves_is_no_error_of_a_file(job, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with suppress(BrokenPipeError), open(write, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(BrokenPipeError):  # which the command line takes for what it is
            exit_status(Command(), job)


def test_a_file_that_cannot_be_written_is_named_as_the_user_did(job, semcrawl):
    done = semcrawl(job, "-o", job / "none" / "d.ttl")
    assert done.code == 1
    assert f"cannot write {job}/none/d.ttl: " in done.stderr


def test_a_folder_that_may_only_be_read_is_described_all_the_same(job, semcrawl):
    expected = semcrawl(job).stdout
    with read_only(job):
        done = semcrawl(job)
        assert (done.code, done.stdout) == (0, expected), done.stderr
        done = semcrawl(job, "-o", job / "d.ttl")
        assert (done.code, done.stderr) == (1, f"semcrawl: cannot write {job}/d.ttl: {READ_ONLY}\n")


def test_a_damaged_database_is_one_clear_line(job, semcrawl):
    with closing(sqlite3.connect(job / "crawl.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = database.execute("PRAGMA page_size").fetchone()
        where = "SELECT rootpage FROM sqlite_schema WHERE name = 'fetch'"
        (page,) = database.execute(where).fetchone()
    with (job / "crawl.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    done = semcrawl(job)
    assert done.code == 1
    assert done.stderr.startswith("semcrawl: cannot read the records: ")
    assert done.stderr.count("\n") == 1


def test_a_database_without_a_record_is_no_dataset(tmp_path, semcrawl):
    """Workers with a database elsewhere have an empty one in their folders."""
    QuadsFile(tmp_path).close()
    done = semcrawl(tmp_path, "-o", tmp_path / "d.ttl")
    assert done.code == 2
    assert "SEMCRAWL_METADATA_URL" in done.stderr
    assert not (tmp_path / "d.ttl").exists()


def test_a_database_that_does_not_know_the_file_says_nothing_of_its_size(tmp_path, semcrawl):
    """Workers share it, and each has a file of its own."""
    engine = connect(f"sqlite:///{tmp_path}/shared.db")
    with engine.begin() as connection:
        record = FetchRecord(DATA, FetchOutcome.FETCHED_RDF, quads=1, started_at=5.0)
        connection.execute(insert(Fetch), [fetch_row(record)])
    engine.dispose()
    done = semcrawl(tmp_path, "-s", f"SEMCRAWL_METADATA_URL=sqlite:///{tmp_path}/shared.db")
    assert done.code == 0, done.stderr
    assert "byteSize" not in done.stdout


def test_tables_for_analysis(job, semcrawl):
    pq = pytest.importorskip("pyarrow.parquet")
    done = semcrawl(job, "--metadata", "parquet")
    assert done.code == 0, done.stderr
    fetch = pq.read_table(job / "fetch.parquet")
    assert fetch.num_rows == 4
    assert fetch.column("outcome").to_pylist() == [
        *("fetched-robots", "fetched-html", "fetched-rdf", "timeout")
    ]
    assert fetch.column("status").to_pylist() == [None, 200, 200, None]
    assert pq.read_table(job / "document.parquet").column("url").to_pylist() == [DATA, GONE]


@pytest.mark.slow
def test_a_wrong_folder_is_one_clear_line(tmp_path):
    """Through the whole command line."""
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "describe", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "semcrawl.settings"},
    )
    assert done.returncode == 2
    assert f"{tmp_path} holds no crawl.db" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--base", "--download-url"])
def test_a_wrong_iri_is_one_clear_line(option, job, semcrawl):
    done = semcrawl(job, option, "no iri")
    assert done.stdout == ""
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
