"""``semcrawl report``: what is broken, dead or badly served, from the records of a crawl."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from dataclasses import replace

import pyoxigraph as ox
import pytest

from semcrawl.items import DocumentError, FetchOutcome, FetchRecord
from semcrawl.metadata.database import crawl_db_url
from semcrawl.metadata.records import LINKS, errors_text, links_text, read_errors
from semcrawl.pipelines.metadata import MetadataPipeline
from semcrawl.results.job import Job
from semcrawl.results.reporting.checklist import CHECKS
from semcrawl.results.reporting.findings import Finding, Report
from semcrawl.results.reporting.making import known_of, report_of
from semcrawl.results.reporting.pages import report_page
from semcrawl.results.reporting.visits import Visit, Visits, faults_of

from .jobs import ANN, FOAF, SCHEMA, TYPE, add, changed, document, gone, record
from .test_profile import Reader

PAGE, FILE = "http://a.example/", "http://a.example/data.ttl"
RDF, HTML = FetchOutcome.FETCHED_RDF, FetchOutcome.FETCHED_HTML
LOST = FetchOutcome.HTTP_ERROR


def visit(outcome: str, url: str = FILE, **more: object) -> Visit:
    values = {
        "final_url": url, "parent_url": PAGE, "found_by": "link", "rules": "", "status": 200,
        "content_type": "", "real_type": "", "quads": 1, "errors": "", **more,
    }  # fmt: skip
    return Visit(url=url, outcome=outcome, **values)


def turtle(content_type: str, **more: object) -> Visit:
    return visit(RDF, real_type="rdf:turtle", content_type=content_type, **more)


def faults(one: Visit) -> list[str]:
    return [fault.check for fault in faults_of(one)]


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (turtle("text/turtle"), []),
        (turtle("text/turtle; charset=UTF-8"), []),
        (turtle('text/turtle; charset="iso-8859-1"'), ["charset"]),
        (turtle("text/plain"), ["wrong-type"]),
        (turtle("application/x-turtle"), ["vague-type"]),
        (turtle(""), ["no-type"]),
        (turtle("application/gzip"), []),
        (turtle("application/octet-stream", url=f"{FILE}.gz"), []),
        (visit(RDF, real_type="rdf:ntriples", content_type="text/turtle"), []),
        (visit(RDF, real_type="rdf:turtle", content_type="application/n-triples"), ["wrong-type"]),
        (visit(RDF, real_type="rdf:rdfxml", content_type="application/xml"), ["vague-type"]),
        (visit(RDF, real_type="rdf:jsonld", content_type="application/json"), ["vague-type"]),
        (turtle("text/turtle", errors="2 error(s); line 3, column 4: no dot"), ["partly-read"]),
        (
            turtle("text/turtle", errors="9 error(s); line 1, column 1: @forAll is beyond RDF"),
            ["beyond-rdf"],
        ),
        (visit(FetchOutcome.PARSE_ERROR, content_type="text/turtle", errors="no"), ["unreadable"]),
        (visit(HTML, PAGE, errors="1 error(s); line 1, column 9: no comma"), ["broken-in-page"]),
        (visit(HTML, PAGE, errors="status 206 without a range"), []),
        (visit(HTML), ["page-for-data"]),
        (visit(HTML, parent_url="http://b.example/"), []),
        (visit(LOST, status=404), ["not-found"]),
        (visit(LOST, status=410), ["not-found"]),
        (visit(LOST, status=403), ["closed"]),
        (visit(LOST, status=503), ["server-error"]),
        (visit(LOST, status=429), []),
        (visit(LOST, status=404, rules="guess well-known"), []),
        (visit(LOST, f"{PAGE}#as-rdf", status=404, found_by="negotiation"), []),
        (visit(LOST, status=404, rules="context"), ["context-missing"]),
        (visit(FetchOutcome.TIMEOUT, status=None, errors="no answer"), ["no-answer"]),
        (visit(FetchOutcome.ROBOTS_DENIED, status=None), ["robots-forbid-data"]),
        (visit(FetchOutcome.ROBOTS_DENIED, PAGE, status=None), []),
        (visit(FetchOutcome.FETCHED_SITEMAP, errors="not XML"), ["broken-list"]),
        (visit(FetchOutcome.INTERRUPTED, errors="ended"), []),
    ],
)
def test_an_answer_has_the_faults_that_a_publisher_can_mend(one, found):
    assert faults(one) == found


def test_the_last_attempt_counts_and_all_pages_that_brought_the_link():
    visits = Visits()
    visits.note(visit(LOST, "http://a.example/x", status=503))
    visits.note(visit(LOST, "http://a.example/x", status=404, parent_url="http://a.example/2"))
    visits.note(visit(LOST, "http://a.example/y", status=404))
    visits.note(visit(HTML, "http://a.example/y"))
    (found,) = visits.findings()
    assert (found.check, found.pages) == ("not-found", [PAGE, "http://a.example/2"])


def test_a_slash_that_the_crawl_added_is_not_the_publishers():
    visits = Visits()
    errors = "HTTP status 404; the link has no slash at its end"
    visits.note(visit(LOST, "http://a.example/x/", status=404, errors=errors))
    visits.note(visit(LOST, "http://a.example/x", status=404))
    assert [found.subject for found in visits.findings()] == ["http://a.example/x"]


def test_a_dead_end_names_the_redirects_that_lead_there():
    visits = Visits()
    hops = [f"http://a.example/{name}" for name in "abc"]
    for here, there in zip(hops, [*hops[1:], "http://a.example/gone"], strict=True):
        visits.note(visit(FetchOutcome.REDIRECTED, here, final_url=there, status=302))
    visits.note(visit(LOST, "http://a.example/gone", status=404))
    chain, dead = visits.findings()
    assert (chain.check, chain.subject, chain.reason) == ("redirect-chain", hops[0], "3 redirects")
    assert dead.evidence == f"reached by redirect from {' → '.join(hops)}"


def test_redirects_in_a_circle_end():
    visits = Visits()
    for here, there in (("a", "b"), ("b", "a")):
        there = f"http://a.example/{there}"
        one = visit(FetchOutcome.REDIRECTED, f"http://a.example/{here}", final_url=there)
        visits.note(one)
    assert list(visits.findings()) == []
    assert visits.end_of("http://a.example/a")


def test_negotiation_without_vary_is_told_of_and_with_it_is_not():
    visits = Visits()
    for name, vary in (("a", ""), ("b", "Vary: Accept-Encoding, Accept")):
        url, rdf = f"http://a.example/{name}", f"http://a.example/{name}#as-rdf"
        page = visit(FetchOutcome.REDIRECTED, url, final_url=f"{url}.html", served=vary)
        visits.note(page)
        visits.note(page._replace(url=rdf, final_url=f"{url}.ttl", found_by="negotiation"))
    for name, vary in (("c", "Vary: Accept-Language"), ("d", "Vary: accept")):
        url = f"http://a.example/{name}#as-rdf"
        visits.note(turtle("text/turtle", url=url, served=vary, found_by="negotiation"))
    found = [(one.check, one.subject) for one in visits.findings()]
    assert found == [("no-vary", "http://a.example/a"), ("no-vary", "http://a.example/c")]


def test_answers_that_scripts_may_read_are_counted_by_host():
    visits = Visits()
    for url, served in ((FILE, "Access-Control-Allow-Origin: *"), (f"{FILE}2", ""), ("x", None)):
        visits.note(turtle("text/turtle", url=url, served=served))
    assert (visits.answers["a.example"], visits.open_answers["a.example"]) == (2, 1)


def test_the_text_of_errors_is_read_as_it_was_written():
    errors = [DocumentError("no dot; perhaps a comma", 3, 7)]
    read = read_errors(f"status 206 without a range; {errors_text(4, errors)}")
    assert (read.count, read.line, read.column) == (4, 3, 7)
    assert str(read) == "line 3, column 7: no dot; perhaps a comma (the first of 4 errors)"
    assert str(read_errors("it is cut")) == "it is cut"


def test_every_check_says_how_it_is_judged_what_to_do_and_who_asks_for_it():
    for check in CHECKS.values():
        assert check.how.endswith(".")
        assert check.advice.endswith(".")
        assert all(source.url.startswith("https://") for source in check.sources)
        assert check.sources


@pytest.fixture
def broken(job):
    record(
        job,
        FetchRecord(
            FILE, FetchOutcome.PARSE_ERROR, FILE, PAGE, status=200, content_type="text/turtle",
            errors="1 error(s); line 2, column 5: \x1b[31m=cmd", found_by="link",
        ),
        FetchRecord("http://b.example/x", LOST, "http://b.example/x", PAGE, status=404),
    )  # fmt: skip
    return job


def test_it_prints_faults_with_place_page_and_advice(semcrawl, broken):
    done = semcrawl("report", broken)
    assert done.code == 0
    assert "2 RDF documents and 1 page with data, 9 statements\n1 broken, 2 dead" in done.out
    assert f"    {FILE}\n      line 2, column 5: " in done.out
    assert f"linked from {PAGE}" in done.out
    assert CHECKS["unreadable"].advice in done.out
    assert "\x1b" not in done.out


def test_json_has_all_and_csv_a_line_for_each_fault(semcrawl, broken):
    told = json.loads(semcrawl("report", broken, "--json").out)
    counts = told["counts"]
    assert (counts["broken"], counts["dead"], counts["served"]) == (1, 2, 0)
    checks = [one["check"] for one in told["findings"]]
    assert checks[:3] == ["unreadable", "not-found", "no-answer"]
    assert (told["findings"][0]["line"], told["findings"][0]["pages"]) == (2, [PAGE])
    rows = list(csv.DictReader(io.StringIO(semcrawl("report", broken, "--csv").out)))
    assert [row["subject"] for row in rows] == [one["subject"] for one in told["findings"]]
    assert not any(cell.startswith("=") for row in rows for cell in row.values())


def test_the_status_tells_of_the_areas_that_were_asked_for(semcrawl, broken):
    assert semcrawl("report", broken, "--fail-on", "served").code == 0
    assert semcrawl("report", broken, "--fail-on", "served,broken").code == 3
    assert semcrawl("report", broken, "--fail-on", "broken", "--host", "b.example").code == 0
    told = json.loads(semcrawl("report", broken, "--json", "--host", "a.example").out)
    assert "http://b.example/x" in [one["subject"] for one in told["findings"]]  # linked there
    refused = semcrawl("report", broken, "--fail-on", "ded")
    assert refused.code == 2
    assert "--fail-on knows broken" in refused.complaint


EARL = "http://www.w3.org/ns/earl#"
OWL = "http://www.w3.org/2002/07/owl#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"


def fetched(url: str, outcome: str = RDF, **more: object) -> FetchRecord:
    return FetchRecord(url, FetchOutcome(outcome), url, **{"status": 200, **more})


def made(folder, *items, since=None):
    add(folder, *(item for item in items if not isinstance(item, FetchRecord)))
    if records := [item for item in items if isinstance(item, FetchRecord)]:
        record(folder, *records)
    with Job(folder) as job:
        return report_of(job, since=since)


def named(report: Report, check: str) -> dict[str, list[str]]:
    return {one.subject: one.pages for one in report.findings if one.check == check}


def test_data_that_mention_a_dead_address_are_named_and_what_it_is_there(tmp_path):
    imported, thing, other = (f"http://a.example/{name}" for name in ("vocab", "thing", "other"))
    b = "http://b.example/doc"
    lost = [fetched(url, LOST, status=404) for url in (imported, thing, other)]
    report = made(
        tmp_path,
        document(b, f"<{OWL}imports> <{imported}>", f"<{RDFS}seeAlso> <{other}#it>"),
        document(ANN, f"<{RDFS}seeAlso> <{other}>"),
        *lost,
    )
    assert named(report, "import-dead") == {imported: [b]}
    assert named(report, "not-found") == {thing: [], other: [b, ANN]}


def test_a_thing_that_is_described_on_its_host_and_dead_is_no_mere_dead_link(tmp_path):
    thing = "http://a.example/thing"
    described = document(ANN)
    described.nquads = f"<{thing}#me> <{TYPE}> <{FOAF}Person> <{ANN}> .\n".encode()
    report = made(tmp_path, described, fetched(thing, LOST, status=410))
    assert named(report, "subject-dead") == {thing: [ANN]}
    assert not named(report, "not-found")


def test_a_thing_whose_address_gives_only_a_page_is_told_of_unless_the_page_leads_on(tmp_path):
    things = [f"http://a.example/thing/{name}" for name in "abc"]
    items = [fetched(url, HTML, found_by="rdf", parent_url=ANN) for url in things[:2]]
    items.append(fetched(things[2], HTML, found_by="rdf", quads=3))
    lines = "".join(f'<{url}> <{FOAF}name> "x" <{ANN}> .\n' for url in things)
    described = document(ANN, parent_url=things[1])
    described.nquads = lines.encode()
    assert named(made(tmp_path, described, *items), "only-a-page") == {things[0]: [ANN]}


def test_a_term_is_undefined_if_its_vocabulary_was_read_whole_and_lacks_it(tmp_path):
    ns, other = "http://v.example/ns", "http://v.example/unread#"
    vocabulary = document(ns)
    vocabulary.nquads = f"<{ns}#known> <{TYPE}> <{RDFS}Class> <{ns}> .\n".encode()
    uses = [f"<{TYPE}> <{ns}#known>", f"<{TYPE}> <{ns}#knwon>", f"<{other}x> <{ns}#value>"]
    report = made(tmp_path, vocabulary, document(ANN, *uses), fetched(ns))
    assert named(report, "term-undefined") == {f"{ns}#knwon": [ANN]}


def test_a_vocabulary_that_was_read_with_errors_or_imports_more_is_not_judged(tmp_path):
    ns, more = "http://v.example/ns", "http://w.example/ns"
    report = made(
        tmp_path,
        document(ns, f"<{RDFS}label> <x:y>", error_count=1),
        document(more, f"<{OWL}imports> <http://w.example/rest>"),
        document(ANN, f"<{TYPE}> <{ns}#x>", f"<{TYPE}> <{more}#y>"),
    )
    assert not named(report, "term-undefined")


def test_hosts_are_judged_by_what_their_documents_say(tmp_path):
    licence = "http://purl.org/dc/terms/license"
    data = document(
        ANN,
        f"<{TYPE}> <{SCHEMA}Dataset>",
        f'<{SCHEMA}name> "tides"',
        f"<{licence}> <https://creativecommons.org/licenses/by/4.0/>",
    )
    report = made(tmp_path, data, document("http://b.example/b", "<x:p> <x:o>"))
    verdicts = {(one.host, one.check): one for one in report.verdicts}
    a, b = "a.example", "b.example"
    assert verdicts[a, "licence"].passed is True
    assert verdicts[b, "licence"].passed is False
    assert verdicts[a, "links-out"].passed is True
    assert verdicts[a, "set-required"].passed is False
    assert "lacks description" in verdicts[a, "set-required"].evidence
    assert "lacks creator, distribution" in verdicts[a, "set-recommended"].evidence
    assert verdicts[b, "set-required"].passed is None
    assert verdicts[a, "sitemap"].passed is None
    assert "http://b.example/" in named(report, "licence")


@pytest.mark.slow
def test_all_pages_that_link_to_a_dead_address_are_named_if_their_links_are_on_record(tmp_path):
    old, gone_now = "http://a.example/old", "http://a.example/gone"
    pages = {f"http://a.example/{n}": (old if n else gone_now, f"Word\n {n}") for n in range(3)}
    items = [
        fetched(page, HTML, extra={LINKS: links_text([link, ("http://a.example/", "")])})
        for page, link in pages.items()
    ]
    items += [
        fetched(old, FetchOutcome.REDIRECTED),
        fetched(gone_now, LOST, status=404, parent_url="http://a.example/1"),
    ]
    items[-2].final_url = gone_now
    pipeline = MetadataPipeline(crawl_db_url(tmp_path))

    async def write() -> None:
        for item in items:
            await pipeline.process_item(item)
        await pipeline.process_item(items[0])  # a second visit replaces its links
        await pipeline.close_spider()

    pipeline.open_spider()
    asyncio.run(write())
    with Job(tmp_path) as job:
        report = job.report()
        words = known_of(job, old).words
    assert sorted(named(report, "not-found")[gone_now]) == list(pages)
    assert words == {"http://a.example/1": "Word 1", "http://a.example/2": "Word 2"}


@pytest.mark.parametrize("found_by", ["folder", "twin"])
def test_what_the_crawl_tried_by_itself_is_dead_only_if_data_or_pages_name_it(tmp_path, found_by):
    tried, named_one = "http://a.example/x/", "http://a.example/y/"
    lost = [
        fetched(url, LOST, status=404, parent_url=ANN, found_by=found_by)
        for url in (tried, named_one)
    ]
    report = made(tmp_path, document(ANN, f"<{RDFS}seeAlso> <{named_one}>"), *lost)
    assert named(report, "not-found") == {named_one: [ANN]}


@pytest.mark.parametrize("found_by", ["folder", "twin"])
def test_data_that_the_crawl_found_by_trying_are_judged_as_others(tmp_path, found_by):
    url = "http://a.example/x.rdf"
    answer = {"real_type": "rdf:rdfxml", "content_type": "application/xml"}
    report = made(tmp_path, fetched(url, found_by=found_by, **answer))
    assert named(report, "vague-type") == {url: []}


def test_changes_since_a_moment_are_told(job, semcrawl):
    add(job, changed(ANN, f"<{TYPE}> <x:y>"), gone("http://b.example/bob"))
    add(job, document("http://c.example/c", "<x:p> <x:o>", fetched_at=30.0))
    with Job(job) as opened:
        changes = report_of(opened, since=8.0).changes
    assert changes is not None
    assert (changes.new, changes.changed) == (["http://c.example/c"], [ANN])
    assert (changes.gone, changes.unvisited) == (["http://b.example/bob"], 1)
    assert (
        "1 new, 1 changed, 1 gone" in semcrawl("report", job, "--since", "1970-01-01T00:00:08").out
    )
    assert "--since must be a date" in semcrawl("report", job, "--since", "monday").complaint


def test_the_page_needs_nothing_beside_itself_and_hostile_texts_do_nothing(broken, semcrawl):
    evil = 'javascript:alert(1)//"><script>alert(1)</script>'
    target = broken / "report.html"
    assert semcrawl("report", broken, "--html", target).out == f"{target}\n"
    report = Report(evil, findings=[Finding("not-found", evil, evil, evil, evil, [evil], 1)])
    for text in (target.read_text("utf-8"), report_page(report)):
        page = Reader(text)
        assert not page.tags & {"script", "img", "iframe", "object"}
        assert not any(address.startswith("javascript") for address in page.addresses)
        assert "url(" not in text
        assert not page.open


def test_rdf_has_an_assertion_for_each_fault_and_verdict(broken, semcrawl):
    target = broken / "report.ttl"
    assert semcrawl("report", broken, "--rdf", target).code == 0
    with Job(broken) as job:
        report = report_of(job)
    triples = list(ox.parse(target.read_bytes(), ox.RdfFormat.TURTLE))
    failed = [one for one in triples if one.object == ox.NamedNode(f"{EARL}failed")]
    assert len(failed) == len(report.findings)
    tests = {one.object for one in triples if one.predicate == ox.NamedNode(f"{EARL}test")}
    assert len(tests) == len({one.check for one in (*report.findings, *report.verdicts)})
    refused = semcrawl("report", broken, "--rdf", broken / "report.pdf")
    assert (refused.code, refused.complaint[:5]) == (2, "--rdf")


SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix x: <http://x.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:Person a sh:NodeShape ; sh:targetClass foaf:Person ;
  sh:property [ sh:path foaf:name ; sh:minCount 1 ; sh:message "a person needs a name" ] ;
  sh:property [ sh:path foaf:age ; sh:datatype xsd:integer ; sh:severity sh:Warning ] .
"""


@pytest.mark.slow
def test_shapes_are_counted_over_all_that_was_harvested(tmp_path, semcrawl):
    """Statements of several documents make one thing; counts are by shape, with example nodes."""
    job, shapes = tmp_path / "job", tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES)

    def named(n: int) -> str:
        return f"http://a.example/{n}#me"

    said_by = {
        "d0": [f"<{named(n)}> <{TYPE}> <{FOAF}Person>" for n in range(5)],
        "d1": [f'<{named(n)}> <{FOAF}name> "N"' for n in (0, 1)],
        "d2": [f'<{named(2)}> <{FOAF}age> "old"'],
    }
    job.mkdir()
    for name, statements in said_by.items():
        url = f"http://a.example/{name}"
        lines = "".join(f"{statement} <{url}> .\n" for statement in statements).encode()
        add(job, replace(document(url), nquads=lines, quads=len(statements)))

    said = semcrawl("report", job, "--shapes", shapes, "--json", "--fail-on", "invalid")

    assert said.code == 3, said.err
    report = json.loads(said.out)
    assert report["counts"]["invalid"] == 2
    found = [
        (one["subject"], one["reason"], one["page_count"], set(one["pages"]))
        for one in report["findings"]
        if one["area"] == "invalid"
    ]
    assert found[0] == (
        "http://x.example/Person", "a person needs a name", 3, {named(n) for n in (2, 3, 4)},
    )  # fmt: skip
    assert found[1][2:] == (1, {named(2)})
    text = semcrawl("report", job, "--shapes", shapes).out
    assert "2 invalid" in text
    assert "violated by http://a.example/2#me" in text
    assert "invalid" not in semcrawl("report", job).out
    shapes.write_text("<#a> <#b> <#c> .")
    assert "no SHACL shape with a target" in semcrawl("report", job, "--shapes", shapes).complaint
