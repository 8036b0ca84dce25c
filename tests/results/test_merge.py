"""Job folders merged into one, and written as a Parquet data set."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from harvest.runs import harvest, start_harvest

from semcrawl import results
from semcrawl.errors import UsageError
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.items import FetchedFile, FetchOutcome, FetchRecord
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.pipelines.files import FilesPipeline, kept_files
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, QUADS_FILE, QuadsFile

from .jobs import ANN, BOB, FOAF, PAGE, add, changed, document, gone, page, people, record

CAL = "http://c.example/cal"
DOCS = Path(__file__).parents[2] / "docs" / "results.md"


@pytest.fixture
def other(tmp_path):
    """What another worker did: Ann's document again, later and changed; Cal's; a page again."""
    folder = tmp_path / "other"
    folder.mkdir()
    add(folder, *people()[:1], document(CAL, f"<{FOAF}knows> <{ANN}>", fetched_at=7.0), page())
    add(folder, changed(ANN, f'<{FOAF}name> "Ann B."'))
    record(
        folder,
        FetchRecord(ANN, FetchOutcome.FETCHED_RDF, ANN, status=200, quads=1, started_at=5.5),
        FetchRecord(CAL, FetchOutcome.FETCHED_RDF, CAL, status=200, quads=1, started_at=7.0),
    )
    return folder


def lines(folder: Path, name: str = QUADS_FILE) -> Counter[str]:
    return Counter((folder / name).read_text().splitlines())


@pytest.mark.slow
def test_each_document_is_there_once_as_it_was_seen_last(job, other, tmp_path, semcrawl):
    done = semcrawl("merge", job, other, "--out", tmp_path / "all")
    assert done.code == 0, done.err
    assert "4 documents (2 of them in several)" in done.out
    with results.open(tmp_path / "all") as merged:
        documents = {row.url: row for row in merged.documents()}
        assert set(documents) == {ANN, BOB, CAL, PAGE}
        assert documents[ANN].visits == 3  # (of which two are the other worker's)
        assert [row.url for row in merged.records()] == [ANN, ANN, "http://a.example/x", CAL]
        # the index of terms is that of what counts now
        assert [one.url for one in merged.find(f"{FOAF}knows").documents] == [CAL]
    ann = [line for line in lines(tmp_path / "all") if f"<{ANN}> ." in line and "Ann" in line]
    assert ann == [f'<{ANN}> <{FOAF}name> "Ann B." <{ANN}> .']
    assert lines(tmp_path / "all", EMBEDDED_FILE) == lines(job, EMBEDDED_FILE)
    summary = json.loads((tmp_path / "all" / "summary.json").read_text())
    assert summary["requests"] == 4


@pytest.mark.slow
def test_the_targets_of_the_folders_count_in_the_harvest_rate(job, other, tmp_path, semcrawl):
    """Also pages about a topic, from its threshold on; a summary of something else says nothing."""
    for name, relevance in (("cod", 0.9), ("imprint", 0.4)):
        url, html = f"http://c.example/{name}", FetchOutcome.FETCHED_HTML
        record(other, FetchRecord(url, html, url, status=200, relevance=relevance))
    merged, aim = tmp_path / "all", {"target_kinds": "rdf,html", "about": "keywords:fish"}
    for told, targets in (
        ({**aim, "threshold": 0.5}, 3),
        ({**aim, "threshold": 0.95}, 2),
        ({"target_kinds": "fish", "threshold": "high", "about": 7}, 2),
    ):
        (other / "summary.json").write_text(json.dumps(told))
        done = semcrawl("merge", job, other, "--out", merged)
        assert done.code == 0, done.err
        summary = json.loads((merged / "summary.json").read_text())
        assert (summary["requests"], summary["targets"]) == (6, targets)
        assert summary.get("about") == (told["about"] if told["about"] != 7 else None)
        shutil.rmtree(merged)


@pytest.mark.slow
def test_a_merged_folder_is_one_that_a_crawl_goes_on_writing(job, other, tmp_path, semcrawl):
    semcrawl("merge", other, job, "--out", tmp_path / "all")
    file = QuadsFile(tmp_path / "all")
    assert not file.missing
    file.append([document("http://d.example/", f"<{FOAF}knows> <{ANN}>")])
    file.close()
    with results.open(tmp_path / "all") as merged:
        assert sum(1 for _ in merged.quads()) == 2 + 1 + 1 + 2 + 1


def test_a_document_that_went_away_later_is_gone(job, other, tmp_path, semcrawl):
    add(other, gone(ANN))
    semcrawl("merge", job, other, "--out", tmp_path / "all")
    with results.open(tmp_path / "all") as merged:
        assert {row.url for row in merged.documents()} == {BOB, CAL, PAGE}
        assert {row.url for row in merged.documents(gone=True)} == {ANN, BOB, CAL, PAGE}
    assert not [line for line in lines(tmp_path / "all") if line.startswith(f"<{ANN}>")]


def test_an_attempt_that_two_workers_made_has_one_record(job, other, tmp_path, semcrawl):
    for folder, moment in ((job, 30.0), (other, 31.0)):
        record(folder, FetchRecord(BOB, FetchOutcome.TIMEOUT, started_at=moment, attempt=17))
    semcrawl("merge", other, job, "--out", tmp_path / "all")
    with results.open(tmp_path / "all") as merged:
        assert [row.started_at for row in merged.records() if row.attempt == 17] == [31.0]


def test_kept_files_are_there_with_one_index(job, other, tmp_path, semcrawl):
    for folder, body in ((job, b"a,b"), (other, b"c,d")):
        FilesPipeline(folder / "files").keep(
            FetchedFile(f"http://x.example/{body[:1].decode()}.csv", body=body,
                        content_hash=body.hex(), content_type="text/csv")
        )  # fmt: skip
    semcrawl("merge", job, other, "--out", tmp_path / "all")
    kept = kept_files(tmp_path / "all")
    assert kept == {**kept_files(job), **kept_files(other)}
    assert (tmp_path / "all" / "files" / f"{b'a,b'.hex()}.csv").read_bytes() == b"a,b"


def test_wrong_folders_get_one_line_and_nothing_is_written(job, tmp_path, semcrawl):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for arguments, words in (
        ((), "give the job folders"),
        ((job,), "--out"),
        ((job, job, "--out", tmp_path / "all"), "twice"),
        ((job, tmp_path / "none", "--out", tmp_path / "all"), "there is no folder"),
        ((job, tmp_path / "full", "--out", tmp_path / "all"), "is not a job folder"),
        ((job, "--out", tmp_path / "full"), "exists already"),
    ):
        done = semcrawl("merge", *arguments)
        assert done.code == 2
        assert words in done.complaint
    assert not (tmp_path / "all").exists()
    assert not list(tmp_path.glob(".semcrawl-merge-*"))


def rows(dataset: Path, table: str) -> list[dict[str, object]]:
    pq = pytest.importorskip("pyarrow.parquet")
    return pq.read_table(dataset / table).to_pylist()


def test_the_data_set_has_every_quad_with_its_document(job, other, tmp_path, semcrawl):
    pytest.importorskip("pyarrow")
    dataset = tmp_path / "set"
    done = semcrawl("parquet", job, other, "--out", dataset)
    assert done.code == 0, done.err
    quads = rows(dataset, "quads")
    with results.open(job) as opened:
        expected = {str(quad) for quad in opened.quads() if ANN not in str(quad.subject)}
    assert expected <= {as_line(row) for row in quads}
    assert {row["document"] for row in quads} == {ANN, BOB, CAL, PAGE}
    assert {(row["job"], row["date"]) for row in quads} == {
        ("job", "1970-01-01"), ("other", "1970-01-01"),
    }  # fmt: skip
    assert len(rows(dataset, "documents")) == 4
    assert len(rows(dataset, "records")) == 4


def as_line(row: dict[str, object]) -> str:
    """The quad of a row as pyoxigraph shows it."""
    term = row["object"] if row["object_type"] == "blank" else f"<{row['object']}>"
    if row["object_type"] == "literal":
        term = json.dumps(row["object"], ensure_ascii=False)
        if row["language"]:
            term += f"@{row['language']}"
        elif row["datatype"] != "http://www.w3.org/2001/XMLSchema#string":
            term += f"^^<{row['datatype']}>"
    subject = row["subject"] if str(row["subject"]).startswith("_:") else f"<{row['subject']}>"
    return f"{subject} <{row['predicate']}> {term} <{row['graph']}>"


def test_a_job_replaces_its_own_parts_alone(job, other, tmp_path, semcrawl):
    pytest.importorskip("pyarrow")
    dataset = tmp_path / "set"
    semcrawl("parquet", job, "--out", dataset)
    semcrawl("parquet", other, "--job", "second", "--out", dataset)
    before = len(rows(dataset, "quads"))
    add(job, gone(BOB))
    semcrawl("parquet", job, "--out", dataset)
    assert len(rows(dataset, "quads")) == before - 2
    assert not list(dataset.rglob(".*"))


def test_wrong_data_sets_get_one_line(job, tmp_path, semcrawl):
    pytest.importorskip("pyarrow")
    for arguments, words in (
        ((), "give the job folders"),
        ((job,), "--out"),
        ((job, tmp_path, "--job", "x", "--out", tmp_path / "set"), "one folder"),
        ((job, "--job", "a/b", "--out", tmp_path / "set"), "cannot name"),
        ((job, job, "--out", tmp_path / "set"), "its own name"),
        ((tmp_path / "none", "--out", tmp_path / "set"), "there is no folder"),
    ):
        done = semcrawl("parquet", *arguments)
        assert done.code == 2
        assert words in done.complaint
    assert not (tmp_path / "set").exists()
    (tmp_path / "file").touch()
    done = semcrawl("parquet", job, "--out", tmp_path / "file")
    assert done.code == 1
    assert "cannot write" in done.complaint


def test_names_of_jobs_are_those_of_their_folders(tmp_path):
    assert job_names_of(tmp_path / "a", tmp_path / "b") == ["a", "b"]
    with pytest.raises(UsageError):
        job_names_of(tmp_path / "a", tmp_path / "x" / "a")


def job_names_of(*folders: Path) -> list[str]:
    from semcrawl.results.partitions import job_names

    return job_names(folders)


QUICK = ("--fast", "-s", "SEMCRAWL_ENDPOINTS=found")


@pytest.mark.slow
def test_two_workers_on_two_folders_give_the_data_set_of_one(tmp_path, semcrawl):
    """Quad by quad, as a merged folder and as Parquet that DuckDB reads."""
    duckdb = pytest.importorskip("duckdb")
    web = DemoWeb()
    with serve(web) as server:
        place = {"proxy": server.proxy_url, "guesses": True}
        one = harvest(web.start, *QUICK, folder=tmp_path / "one", **place)
        assert one.status == 0, one.err
        with RedisServer(tmp_path / "redis") as redis:
            place["REDIS_URL"] = f"unix://{redis.socket}"
            # (the second, which is there later, has something left to do)
            some = (web.start, *QUICK, "--pages", "150")
            first = start_harvest(*some, folder=tmp_path / "first", **place)
            assert first.process.stderr is not None
            name = first.process.stderr.readline().split("--join ")[1].split()[0]
            second = start_harvest("--join", name, *QUICK, folder=tmp_path / "second", **place)
            runs = [first.wait(), second.wait()]
    assert [run.status for run in runs] == [0, 0], runs[0].err + runs[1].err
    assert all(run.documents() for run in runs)  # each did its part
    done = semcrawl("merge", tmp_path / "first", tmp_path / "second", "--out", tmp_path / "all")
    assert done.code == 0, done.err
    for name in (QUADS_FILE, EMBEDDED_FILE):
        assert lines(tmp_path / "all", name) == lines(tmp_path / "one", name)
    for target, jobs in (("set-1", ["one"]), ("set-2", ["first", "second"])):
        semcrawl("parquet", *(tmp_path / job for job in jobs), "--out", tmp_path / target)
    columns = "subject, predicate, object, object_type, datatype, language, graph, document"
    read = "read_parquet('{}/quads/*/*/*.parquet', hive_partitioning = true)"
    sets = [f"SELECT {columns} FROM {read.format(tmp_path / name)}" for name in ("set-1", "set-2")]
    for this, that in (sets, sets[::-1]):
        assert duckdb.sql(f"SELECT count(*) FROM ({this} EXCEPT ALL {that})").fetchall() == [(0,)]
    assert duckdb.sql(f"SELECT count(*) FROM ({sets[0]})").fetchall()[0][0] > 4000
    # the queries of the documentation run, and find something
    queries = re.findall(r"-- DuckDB\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert queries
    for query in queries:
        found = duckdb.sql(query.replace("dataset/", f"{tmp_path / 'set-2'}/")).fetchall()
        assert found, query
