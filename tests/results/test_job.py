"""A job folder opened in Python, and folders that cannot be opened."""

from __future__ import annotations

import os
import subprocess
import sys

import pyoxigraph as ox
import pytest
import rdflib
from sqlalchemy import text

from semcrawl import results
from semcrawl.errors import StoreError, UsageError
from semcrawl.items import EMBEDDED
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, QUADS_FILE

from .jobs import ANN, BOB, FOAF, PAGE, PERSON, TYPE, add, document, gone

COMMANDS = [
    ("find", "foaf:Person", "{}"),
    ("profile", "{}"),
    ("query", "{}", "ASK { ?s ?p ?o }"),
]


def test_records_and_documents_are_rows(job):
    with results.open(job) as opened:
        assert [(row.url, row.outcome, row.quads) for row in opened.records()] == [
            (ANN, "fetched-rdf", 5), ("http://a.example/x", "timeout", 0),
        ]  # fmt: skip
        documents = list(opened.documents())
    assert [(row.url, row.format) for row in documents] == [
        (ANN, "turtle"), (BOB, "turtle"), (PAGE, EMBEDDED),
    ]  # fmt: skip


def test_a_job_and_its_rows_show_what_they_are(job):
    """As a notebook shows the value of a cell."""
    with results.open(job) as opened:
        assert repr(opened) == f"Job({str(job)!r})"
        records = list(opened.records())
    assert repr(records[0]).startswith("Fetch(id=1, url=")
    assert "outcome='fetched-rdf'" in repr(records[0])
    assert all(len(repr(record)) < 2500 and "=None" not in repr(record) for record in records)


def test_documents_that_are_gone_come_when_asked_for(job):
    add(job, gone(BOB))
    with results.open(str(job)) as opened:
        assert [row.url for row in opened.documents()] == [ANN, PAGE]
        assert [row.url for row in opened.documents(gone=True)] == [ANN, BOB, PAGE]


def test_quads_are_those_of_both_files(job):
    lines = (job / QUADS_FILE).read_bytes() + (job / EMBEDDED_FILE).read_bytes()
    with results.open(job) as opened:
        quads = list(opened.quads())
    assert quads == list(ox.parse(lines, ox.RdfFormat.N_QUADS))


def test_the_dataset_is_what_rdflib_reads_itself(tmp_path):
    odd = document("http://a.example/")
    odd.nquads = (
        b'_:n <urn:p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:g> .\n'
        b'_:n <urn:p> "a\\n\\"b\\""@en-gb .\n'
        b'<urn:s> <urn:p> _:n <http://a.example/> .\n'
        b'<urn:s> <urn:p> "1"^^<urn:d> <urn:g> .\n'
        b'<urn:s> <urn:p> "plain" <urn:g> .\n'
    )  # fmt: skip
    add(tmp_path, odd)
    with results.open(tmp_path) as opened:
        dataset = opened.dataset()
    rdflib.NORMALIZE_LITERALS = False
    try:
        expected = rdflib.Dataset()
        expected.parse(data=odd.nquads.decode(), format="nquads")
    finally:
        rdflib.NORMALIZE_LITERALS = True

    def shape(one: rdflib.Dataset) -> set:
        blank = rdflib.URIRef("urn:blank")
        return {
            tuple(blank if isinstance(term, rdflib.BNode) else term for term in quad)
            for quad in one.quads()
        }

    assert len(list(dataset.quads())) == 5
    assert shape(dataset) == shape(expected)
    # its default graph is the union of all
    assert len(list(dataset.query("SELECT * { ?s <urn:p> ?o }"))) == 5


@pytest.mark.parametrize("name", ["records", "documents", "terms"])
def test_tables_come_as_data_frames(name, job):
    pd = pytest.importorskip("pandas")
    with results.open(job) as opened:
        frame = opened.frame(name)
    assert len(frame) == {"records": 2, "documents": 3, "terms": 11}[name]
    if name == "records":
        assert frame["started_at"].tolist() == [
            pd.Timestamp(second, unit="s", tz="UTC") for second in (5, 6)
        ]
        assert frame["status"].isna().tolist() == [False, True]
    if name == "terms":
        uses = frame[frame["iri"] == f"{FOAF}name"].set_index("url")["count"]
        assert dict(uses) == {ANN: 2, BOB: 1}


def test_an_unknown_frame_is_one_clear_line(job):
    with results.open(job) as opened, pytest.raises(UsageError, match="there are records, doc"):
        opened.frame("nonsense")


@pytest.mark.slow
def test_opening_a_job_loads_no_rdflib():
    """Nor does the process of a query load a database."""
    code = (
        "import sys, semcrawl.results.queries as process; "
        "assert not {'sqlalchemy', 'scrapy', 'rdflib'} & set(sys.modules); "
        "import semcrawl.results.job; assert not {'rdflib', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_job_is_opened_while_it_is_written(job):
    """What comes after the opening of a snapshot does not belong to it."""
    with results.open(job) as opened:
        quads = opened.quads()
        first = next(quads)
        add(job, document("http://c.example/", f"<{TYPE}> {PERSON}"), gone(ANN))
        assert first.graph_name.value == ANN
        assert sum(1 for _ in quads) == 8
        assert sum(1 for _ in opened.quads()) == 5


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
class TestFoldersThatCannotBeOpened:
    def complaint(self, semcrawl, command, folder, status) -> str:
        name, *args = command
        done = semcrawl(name, *(str(folder) if arg == "{}" else arg for arg in args))
        assert done.code == status
        return done.complaint

    def test_a_folder_that_is_not_there(self, command, semcrawl, tmp_path):
        said = self.complaint(semcrawl, command, tmp_path / "none", 2)
        assert said == f"there is no folder {tmp_path}/none"

    def test_a_folder_without_a_job(self, command, semcrawl, tmp_path):
        said = self.complaint(semcrawl, command, tmp_path, 2)
        assert said == f"{tmp_path} is not a job folder: it has no crawl.db"

    def test_a_damaged_database(self, command, semcrawl, job):
        (job / "crawl.db").write_bytes(b"no database at all" * 1000)
        said = self.complaint(semcrawl, command, job, 1)
        assert said.startswith("cannot open the database")

    def test_a_database_that_is_damaged_inside(self, command, semcrawl, job):
        content = bytearray((job / "crawl.db").read_bytes())
        content[8192:] = os.urandom(len(content) - 8192)
        (job / "crawl.db").write_bytes(content)
        said = self.complaint(semcrawl, command, job, 1)
        assert "malformed" in said or "corrupt" in said or "schema" in said

    def test_a_database_of_a_newer_version(self, command, semcrawl, job):
        engine = connect(crawl_db_url(job))
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        engine.dispose()
        assert "schema 9999" in self.complaint(semcrawl, command, job, 1)

    def test_quads_that_somebody_removed(self, command, semcrawl, job):
        if command[0] == "find":
            pytest.skip("needs the index alone")
        (job / QUADS_FILE).unlink()
        said = self.complaint(semcrawl, command, job, 1)
        assert said == f"cannot read {job}/{QUADS_FILE}: No such file or directory"


def test_the_same_in_python(tmp_path):
    with pytest.raises(UsageError):
        results.open(tmp_path)
    (tmp_path / "crawl.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError):
        results.open(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ("frontier", "{}"),
        ("limits", "{}"),
        ("pages", "{}"),
        ("describe", "{}"),
        ("load", "{}", "--store", "embedded"),
        ("profile", "{}"),
        ("images", "search", "fish", "{}"),
    ],
    ids=lambda command: command[0],
)
def test_a_path_that_is_no_folder(command, tmp_path, semcrawl):
    """Every command says so, instead of what the folder lacks."""
    (tmp_path / "file").touch()
    for name, said in (("file", "{} is no folder"), ("none", "there is no folder {}")):
        path = tmp_path / name
        done = semcrawl(*(str(path) if each == "{}" else each for each in command))
        assert done.code == 2
        assert done.complaint == said.format(path)
