"""``semcrawl query``: SPARQL over the quads of a job."""

from __future__ import annotations

import csv
import io
import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.rdf.shortnames import calls_service
from semcrawl.results.job import Job
from semcrawl.results.querystore import held_store
from tests.readonly import read_only

from .jobs import ANN, BOB, FOAF, PAGE, PERSON, TYPE, add, changed, document, gone

NAMES = "SELECT ?who ?name { ?who foaf:name ?name } ORDER BY ?name"
ENDLESS = "SELECT (COUNT(*) AS ?n) {" + " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(30)) + "}"


def names(job) -> list[str]:
    with Job(job) as opened:
        return [row["name"].value for row in opened.query(NAMES)]


@pytest.mark.slow
def test_a_table_has_short_names_and_plain_values(job, semcrawl):
    done = semcrawl("query", job, "SELECT ?class ?who { ?who a ?class } ORDER BY ?class ?who")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines() if "│" in line]
    assert [(row[1], row[3]) for row in rows] == [
        ("foaf:Person", ANN), ("foaf:Person", BOB), ("https://schema.org/Dataset", PAGE),
    ] or [row[1] for row in rows][2] == "schema:Dataset"  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("option", "divider"), [("--csv", ","), ("--tsv", "\t")])
def test_rows_come_as_csv_and_tsv(option, divider, job, semcrawl):
    rows = list(
        csv.reader(
            io.StringIO(semcrawl("query", job, NAMES, option).out), delimiter=divider, quoting=3
        )
    )
    assert [row[-1].strip('"') for row in rows[1:]][1:] in (["Anne", "Bob"], ['Anne"@fr', "Bob"])


@pytest.mark.slow
def test_rows_come_as_json(job, semcrawl):
    content = json.loads(semcrawl("query", job, NAMES, "--json").out)
    assert content["head"]["vars"] == ["who", "name"]
    assert content["results"]["bindings"][2] == {
        "who": {"type": "uri", "value": BOB}, "name": {"type": "literal", "value": "Bob"},
    }  # fmt: skip


@pytest.mark.slow
def test_yes_and_no(job, semcrawl):
    assert semcrawl("query", job, "ASK { ?s a foaf:Person }").out == "yes\n"
    assert semcrawl("query", job, "ASK { ?s a foaf:Group }").out == "no\n"
    assert json.loads(semcrawl("query", job, "ASK { ?s a foaf:Group }", "--json").out) == {
        "head": {}, "boolean": False,
    }  # fmt: skip


@pytest.mark.slow
def test_triples_come_as_turtle_and_n_triples(job, semcrawl):
    query = "CONSTRUCT { ?s a foaf:Agent } { ?s a foaf:Person }"
    turtle = semcrawl("query", job, query).out
    assert "@prefix foaf:" in turtle
    plain = semcrawl("query", job, query, "--nt").out
    assert len(plain.splitlines()) == 2
    assert set(ox.parse(turtle.encode(), ox.RdfFormat.TURTLE)) == set(
        ox.parse(plain.encode(), ox.RdfFormat.N_TRIPLES)
    )


@pytest.mark.slow
def test_turtle_declares_the_prefixes_that_it_uses(job, semcrawl):
    turtle = semcrawl("query", job, "CONSTRUCT { ?s a foaf:Agent } { ?s a foaf:Person }").out
    declared = {line.split()[1] for line in turtle.splitlines() if line.startswith("@prefix")}
    assert declared == {"rdf:", "foaf:"}


def test_what_several_documents_say_counts_once(tmp_path):
    """The default graph is a set; each document's graph has its own statement."""
    objects = ['"a \\"b\\" <c> ."@en', "<urn:o>", '"1"^^<urn:d>', '"x"']
    said = "".join(f"<urn:s> <urn:p> {each} {{0}} .\n" for each in objects)
    whole = [document(f"http://a.example/{n}") for n in range(3)]
    for each in whole:
        each.nquads = said.format(f"<{each.url}>").encode()
    whole[2].nquads = said.replace(" {0}", "").encode()
    add(tmp_path, *whole)
    with Job(tmp_path) as job:
        counted = "SELECT (COUNT(*) AS ?n) {{ {0} }}"
        for pattern, number in (("?s ?p ?o", 4), ("GRAPH ?g { ?s ?p ?o }", 8)):
            (row,) = job.query(counted.format(pattern))
            assert row["n"].value == str(number)


@pytest.mark.slow
def test_graphs_tell_who_says_it(job, semcrawl):
    done = semcrawl("query", job, "SELECT ?g { GRAPH ?g { ?s foaf:age ?age } }", "--csv")
    assert done.out.split() == ["g", ANN]


@pytest.mark.slow
def test_a_query_may_be_in_a_file_or_on_standard_input(job, semcrawl, tmp_path, monkeypatch):
    file = tmp_path / "names.rq"
    file.write_text(NAMES, encoding="utf-8")
    assert "Bob" in semcrawl("query", job, f"@{file}").out
    monkeypatch.setattr("sys.stdin", io.StringIO(NAMES))
    assert "Bob" in semcrawl("query", job, "-").out


@pytest.mark.slow
def test_a_table_that_is_cut_says_so(job, semcrawl):
    done = semcrawl("query", job, NAMES, "--top", "2")
    assert "Bob" not in done.out
    assert done.err == "only the first 2 rows; --top N shows more, --csv all\n"


@pytest.mark.slow
def test_no_row_is_no_fault(job, semcrawl):
    done = semcrawl("query", job, "SELECT * { ?s foaf:nothing ?o }")
    assert (done.code, done.out, done.err) == (0, "", "the query has no results\n")


@pytest.mark.slow
def test_no_triple_is_no_fault(job, semcrawl):
    done = semcrawl("query", job, "DESCRIBE <urn:nothing>")
    assert (done.code, done.out, done.err) == (0, "", "the query has no results\n")


@pytest.mark.slow
def test_figures_are_aligned_right_and_json_ends_its_line(job, semcrawl):
    query = "SELECT ?name ?n { VALUES (?name ?n) { ('a' 1) ('b' 1000) ('c' UNDEF) } }"
    assert "│ a    │    1 │" in semcrawl("query", job, query).out
    assert semcrawl("query", job, query, "--json").out.endswith("}\n")


@pytest.mark.slow
def test_the_store_follows_the_crawl(job):
    assert names(job) == ["Ann", "Anne", "Bob"]
    add(job, document("http://a.example/cy", f'<{FOAF}name> "Cy"'))
    assert names(job) == ["Ann", "Anne", "Bob", "Cy"]
    add(job, changed(ANN, f'<{FOAF}name> "Annie"'))
    assert names(job) == ["Annie", "Bob", "Cy"]
    add(job, gone(BOB))
    assert names(job) == ["Annie", "Cy"]


def test_the_store_is_made_once(job):
    names(job)
    before = (job / "query" / "state.json").stat().st_mtime_ns
    names(job)
    assert (job / "query" / "state.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("broken", ["state", "store", "all"])
def test_a_store_that_is_broken_or_removed_is_made_anew(broken, job):
    names(job)
    cache = job / "query"
    if broken == "state":
        (cache / "state.json").write_text("{", encoding="utf-8")
    else:
        shutil.rmtree(cache if broken == "all" else cache / "store")
    assert names(job) == ["Ann", "Anne", "Bob"]


@pytest.mark.slow
def test_several_ask_at_a_time(job):
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(names, [job] * 12))
    assert found == [["Ann", "Anne", "Bob"]] * 12


def test_a_folder_that_may_only_be_read_is_queried(job):
    with read_only(job):
        assert names(job) == ["Ann", "Anne", "Bob"]
    assert not (job / "query").exists()


def test_blank_nodes_of_one_document_stay_together(tmp_path):
    whole = document("http://a.example/")
    whole.nquads = b"".join(
        b'_:n%d <urn:p> "%d" <http://a.example/> .\n_:n%d <urn:q> "%d" <http://a.example/> .\n'
        % (n, n, n, n)
        for n in range(1000)
    )
    add(tmp_path, whole)
    with Job(tmp_path) as job:
        rows = list(job.query("SELECT ?a ?b { ?s <urn:p> ?a ; <urn:q> ?b }"))
    assert len(rows) == 1000
    assert all(row["a"] == row["b"] for row in rows)


@pytest.mark.slow
def test_a_query_that_never_ends_is_ended(job, semcrawl):
    add(job, *(document(f"http://c.example/{n}", f"<{TYPE}> {PERSON}") for n in range(300)))
    done = semcrawl("query", job, ENDLESS, "--timeout", "0.5")
    assert done.code == 1
    assert done.complaint == (
        "the query took more than 0.5 s; --timeout SECONDS lets it go on"
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT * { ?s ?p\n ?? }", " in line 2, column "),
        ("SELECT * { ?s a nope:x }", ": a prefix that is not known; declare it with PREFIX"),
        ("", " in line 1, column "),
        ("INSERT DATA { <urn:a> <urn:b> 1 }", " in line 1, column "),
    ],
)
def test_a_wrong_query_is_one_clear_line_with_the_place(query, place, job, semcrawl):
    done = semcrawl("query", job, query)
    assert done.code == 2
    assert done.complaint.startswith("the query is wrong")
    assert place in done.complaint
    assert len(done.complaint) < 300


@pytest.mark.slow
def test_no_other_server_is_asked(job, semcrawl):
    done = semcrawl("query", job, "SELECT * { service silent <http://127.0.0.1:9/> { ?s ?p ?o } }")
    assert done.code == 2
    assert "SERVICE" in done.complaint
    with Job(job) as opened, pytest.raises(UsageError, match="SERVICE"):
        opened.query("SELECT * { SERVICE ?where { ?s ?p ?o } }")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?service ?p 'SERVICE' }",
        'SELECT * { ?s ?p """ " SERVICE \\""" SERVICE """ }',
        "SELECT * { ?s <http://x/#SERVICE> service:SERVICE } # SERVICE",
        "SELECT * { ?s :SERVICE $SERVICE, 'a\\' SERVICE' }",
    ],
)
def test_the_word_service_may_stand_where_it_calls_nobody(query):
    assert not calls_service(query)


before = st.sampled_from(
    ["", "'a' ", '"\\"" ', "<urn:x#y> ", "# it's\n", "?a ", "p:q ", "'''' ' '''", "1<2 "]
)


@given(st.lists(before), st.sampled_from(["SERVICE", "service", "Service", "\\u0053ERVICE"]))
def test_no_text_before_it_hides_a_call(parts, word):
    assert calls_service("".join(parts) + word + " <http://x/> {}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([NAMES, "--nt"], "a table: give --json or --csv or --tsv"),
        (["ASK {}", "--csv"], "yes or no: give --json"),
        (["CONSTRUCT WHERE { ?s ?p ?o }", "--json"], "triples: give --ttl or --nt"),
    ],
)
def test_a_format_that_does_not_fit_is_one_clear_line(args, said, job, semcrawl):
    done = semcrawl("query", job, *args)
    assert done.code == 2
    assert done.complaint == f"the answer to this query is {said}"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "give a job folder and a query"),
        (["@none.rq"], "cannot read none.rq: "),
        ([NAMES, "--timeout", "-1"], "--timeout must be"),
    ],
)
def test_a_wrong_command_line_is_one_clear_line(args, said, job, semcrawl):
    done = semcrawl("query", job, *args)
    assert done.code == 2
    assert said in done.complaint


@pytest.mark.slow
def test_a_job_that_found_nothing_answers(tmp_path, semcrawl):
    add(tmp_path)
    done = semcrawl("query", tmp_path, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--csv")
    assert (done.code, done.out.split()) == (0, ["n", "0"])


@pytest.mark.slow
def test_reading_many_quads_is_told(job, semcrawl, monkeypatch):
    """In a line where there is no terminal for a bar; the second query has nothing to read."""
    monkeypatch.setattr("semcrawl.commands.query._LARGE", 0)
    assert "of quads into the store first" in semcrawl("query", job, NAMES).err
    assert semcrawl("query", job, NAMES).err == ""


def test_how_far_reading_is_goes_up_to_the_whole(job, monkeypatch):
    """Portion by portion."""
    monkeypatch.setattr("semcrawl.results.querystore._PORTION", 1)
    told: list[tuple[int, int]] = []
    with Job(job) as opened, held_store(job, opened.sources, lambda *one: told.append(one)):
        pass
    done = [one for one, _ in told]
    assert done == sorted(set(done))
    assert (done[0], len({whole for _, whole in told})) == (0, 1)
    assert done[-1] == told[-1][1]
