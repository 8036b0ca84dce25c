"""``semcrawl find``: who uses a class or a property."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import update

from semcrawl.errors import UsageError
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Document
from semcrawl.pipelines.metadata import MetadataPipeline
from semcrawl.rdf.shortnames import expand, shorten
from semcrawl.results.job import Job
from tests.readonly import read_only

from .jobs import ANN, BOB, FOAF, PAGE, PERSON, SCHEMA, TYPE, add, changed, gone, people


def found(job, term: str) -> tuple[list[tuple[str, str, int, int]], list[tuple[str, int]]]:
    with Job(job) as opened:
        result = opened.find(term)
    return (
        [(each.name, each.kind, each.documents, each.statements) for each in result.terms],
        [(each.url, each.statements) for each in result.documents],
    )


def test_a_class_has_its_documents(job):
    assert found(job, "foaf:Person") == (
        [("foaf:Person", "class", 2, 2)],
        [(ANN, 1), (BOB, 1)],
    )


@pytest.mark.parametrize("term", [f"<{FOAF}name>", f"{FOAF}name", "foaf:name", "name"])
def test_a_property_may_be_asked_for_in_several_ways(term, job):
    terms, documents = found(job, term)
    assert ("foaf:name", "property", 2, 3) in terms
    assert [each for each in documents if each[0] != PAGE] == [(ANN, 2), (BOB, 1)]


def test_http_and_https_are_one_and_pages_are_among_the_documents(job):
    assert found(job, "schema:Dataset") == ([("schema:Dataset", "class", 1, 1)], [(PAGE, 1)])


def test_a_prefix_stands_for_all_its_terms(job):
    terms, documents = found(job, "foaf:")
    assert [each[0] for each in terms] == [
        "foaf:name", "foaf:Person", "foaf:age", "foaf:knows",
    ]  # fmt: skip
    assert documents == [(ANN, 5), (BOB, 2)]
    assert found(job, FOAF) == (terms, documents)


def test_a_bare_word_is_a_name_of_any_vocabulary(job):
    terms, _ = found(job, "NAME")
    assert {each[0] for each in terms} == {"foaf:name", "schema:name"}


def test_a_revisit_changes_who_has_it(job):
    add(job, changed(ANN, f"<{TYPE}> <{SCHEMA}Person>"), gone(BOB))
    assert found(job, "foaf:Person") == ([], [])
    assert found(job, "schema:Person")[1] == [(ANN, 1)]


def test_a_job_without_an_index_gets_it_from_its_quads(tmp_path, semcrawl):
    add(tmp_path, *people(), terms=0)
    done = semcrawl("find", "foaf:Person", tmp_path)
    assert (done.code, done.err) == (0, "indexing 2 documents first, only once …\n")
    assert ANN in done.out
    assert semcrawl("find", "foaf:Person", tmp_path).err == ""


def test_many_documents_are_indexed_afterwards_as_while_crawling(tmp_path):
    some = [changed(f"http://a.example/{n}", f"<{TYPE}> {PERSON}") for n in range(450)]
    add(tmp_path, *some, terms=0)
    terms, documents = found(tmp_path, "foaf:")
    assert terms == [("foaf:Person", "class", 450, 450)]
    assert len(documents) == 450


def test_what_an_older_version_crawled_cannot_be_indexed_where_nothing_can_be_written(
    tmp_path, semcrawl
):
    add(tmp_path, *people(), terms=0)
    with read_only(tmp_path):
        said = semcrawl("find", "foaf:Person", tmp_path).complaint
    assert said.startswith("2 documents of ")
    assert "is read-only" in said


def test_a_job_that_may_only_be_read_is_searched(job, semcrawl):
    with read_only(job):
        done = semcrawl("find", "foaf:Person", job)
    assert done.code == 0, done.err
    assert BOB in done.out


def test_documents_with_too_many_terms_are_told_of(tmp_path, semcrawl):
    add(tmp_path, *people(), terms=2)
    done = semcrawl("find", "foaf:Person", tmp_path)
    assert done.code == 0
    assert done.err.startswith("2 large documents have more terms than the index keeps")


def test_tables_name_the_term_and_the_documents(job, semcrawl):
    done = semcrawl("find", "foaf:name", job, "--top", "1")
    assert done.code == 0
    assert "foaf:name" in done.out
    assert "documents (1 of 2; --all shows every one)" in done.out
    assert BOB not in done.out
    assert BOB in semcrawl("find", "foaf:name", job, "--all", "--top", "1").out


def test_json_has_all_of_it(job, semcrawl):
    done = semcrawl("find", "foaf:name", job, "--json")
    content = json.loads(done.out)
    assert content["terms"] == [
        {
            "iri": f"{FOAF}name", "name": "foaf:name", "kind": "property",
            "documents": 2, "statements": 3,
        }
    ]  # fmt: skip
    assert content["total"] == 2
    assert content["documents"][0] == {"url": ANN, "format": "turtle", "statements": 2}


def test_the_folder_may_be_the_current_one(job, semcrawl, monkeypatch):
    monkeypatch.chdir(job)
    assert semcrawl("find", "foaf:name").code == 0


async def test_a_database_of_several_workers_is_searched(tmp_path, semcrawl):
    url = f"sqlite:///{tmp_path}/shared.db"
    pipeline = MetadataPipeline(url, documents=True)
    pipeline.open_spider()
    for each in people():
        await pipeline.process_item(each)
    await pipeline.close_spider()
    done = semcrawl("find", "foaf:Person", "-s", f"SEMCRAWL_METADATA_URL={url}")
    assert done.code == 0, done.err
    assert ANN in done.out


@pytest.mark.parametrize(
    ("term", "hint"),
    [
        ("foaf:Persn", "did you mean foaf:Person?"),
        ("schema:Person", "did you mean foaf:Person?"),
        ("dcat:zzzz", "`semcrawl profile` shows what they use"),
    ],
)
def test_nothing_found_names_what_is_near(term, hint, job, semcrawl):
    done = semcrawl("find", term, job)
    assert done.code == 1
    assert done.complaint == f"no document in {job} uses {term}; {hint}"
    assert json.loads(semcrawl("find", term, job, "--json").out)["terms"] == []


def test_an_unknown_prefix_is_one_clear_line(job, semcrawl):
    done = semcrawl("find", "shcema:Dataset", job)
    assert done.code == 2
    assert done.complaint == "the prefix shcema: is not known; did you mean schema:Dataset?"


@pytest.mark.parametrize("args", [[], [""], ["a", "b", "c"], ["a", "--top", "0"]])
def test_a_wrong_command_line_is_one_clear_line(args, semcrawl):
    done = semcrawl("find", *args)
    assert done.code == 2
    assert done.complaint


def test_a_document_whose_lines_are_not_there_is_told_of(job):
    """Somebody cut the file: an index of what is left would say that the rest uses no term."""
    engine = connect(crawl_db_url(job))
    with engine.begin() as connection:
        connection.execute(update(Document).values(terms_complete=None))
    engine.dispose()
    (job / "quads.nq").write_bytes(b"")
    with Job(job) as opened:
        opened.find("foaf:Person")
        assert opened.damaged == [ANN, BOB]


@pytest.mark.parametrize(
    "iri", [f"{FOAF}name", f"{SCHEMA}Dataset", "urn:x:y", "http://z.example/a#b", "nothing"]
)
def test_short_names_lead_back(iri):
    short = shorten(iri)
    back = expand(short) if ":" in short else short
    assert back.replace("http://schema", "https://schema") == iri


def test_an_unknown_prefix_that_is_like_none_is_told_how_to_go_on():
    with pytest.raises(UsageError, match="give the IRI"):
        expand("qqqqqq:x")
