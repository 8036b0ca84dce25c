"""``semcrawl profile``: what the quads of a job consist of."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections import Counter
from html.parser import HTMLParser

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.results.job import Job
from semcrawl.results.profiling import HostLink, Profile, Use, flow_chart, profile_of, profile_page
from tests.readonly import read_only

from .jobs import ANN, FOAF, PERSON, SCHEMA, TYPE, add, changed, document, gone

XSD, RDF = "http://www.w3.org/2001/XMLSchema#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@pytest.fixture
def profile(job):
    with Job(job) as opened:
        return opened.profile()


def test_it_counts_documents_pages_and_statements(profile):
    assert (profile.documents, profile.pages, profile.statements) == (2, 1, 9)
    assert profile.objects == {"literal": 5, "IRI": 4}
    assert not profile.is_cut


def test_it_counts_terms_by_documents_and_statements(profile):
    assert profile.classes == [Use(f"{FOAF}Person", 2, 2), Use(f"{SCHEMA}Dataset", 1, 1)]
    assert profile.properties[:2] == [Use(TYPE, 3, 3), Use(f"{FOAF}name", 2, 3)]
    # with a property or a class of it
    assert profile.vocabularies == [Use(FOAF, 2, 7), Use(RDF, 3, 3), Use(SCHEMA, 1, 2)]


def test_languages_are_one_in_any_case_and_datatypes_are_those_of_rdf(profile):
    assert profile.languages == [Use("en", 1, 1), Use("fr", 1, 1)]
    assert profile.datatypes == [
        Use(f"{RDF}langString", 1, 2), Use(f"{XSD}string", 2, 2), Use(f"{XSD}integer", 1, 1),
    ]  # fmt: skip


def test_links_lead_from_a_documents_host_to_another(profile):
    assert profile.links == [HostLink("a.example", "b.example", 1, 1)]
    assert profile.hosts == [Use("a.example", 2, 7), Use("b.example", 1, 2)]
    assert profile.formats == [Use("turtle", 2, 7), Use("embedded", 1, 2)]


def test_what_changed_or_went_counts_as_it_is_now(job):
    add(job, changed(ANN, f"<{TYPE}> {PERSON}"), gone("http://b.example/bob"))
    with Job(job) as opened:
        profile = opened.profile()
    assert (profile.documents, profile.statements) == (1, 3)


iris = st.sampled_from(["http://a.example/x", "https://B.example:8080/y#z", "urn:u", "http://é/"])
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])) | st.just(
    f'" <{TYPE}> {PERSON} "\n@en .'
)
objects = st.one_of(
    iris.map(ox.NamedNode),
    st.just(ox.BlankNode("b")),
    texts.map(ox.Literal),
    texts.map(lambda text: ox.Literal(text, language="de-AT")),
    texts.map(lambda text: ox.Literal(text, datatype=ox.NamedNode("urn:d"))),
    st.just(
        ox.Triple(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal('" <urn:o> )>> <x> .'))
    ),
)
quads = st.builds(
    ox.Quad,
    iris.map(ox.NamedNode) | st.just(ox.BlankNode("a")),
    (iris | st.just(TYPE)).map(ox.NamedNode),
    objects,
    iris.map(ox.NamedNode) | st.just(ox.DefaultGraph()),
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(some=st.lists(quads, min_size=1, max_size=20))
def test_it_counts_what_a_parser_counts(some, tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    lines = ox.serialize(some, format=ox.RdfFormat.N_QUADS)
    assert lines is not None
    whole = document("http://a.example/")
    whole.nquads = lines
    add(folder, whole)
    with Job(folder) as job:
        profile = job.profile()
    assert profile.statements == len(some)
    assert as_counter(profile.properties) == Counter(q.predicate.value for q in some)
    literals = [q.object for q in some if isinstance(q.object, ox.Literal)]
    assert as_counter(profile.datatypes) == Counter(each.datatype.value for each in literals)
    assert as_counter(profile.languages) == Counter(
        each.language.lower() for each in literals if each.language
    )
    named = [q for q in some if isinstance(q.object, ox.NamedNode)]
    assert as_counter(profile.classes) == Counter(
        q.object.value for q in named if q.predicate.value == TYPE
    )
    assert {link.target for link in profile.links} == {
        host
        for q in named
        if q.predicate.value != TYPE
        and (host := re.sub("^https?://|[/#].*", "", q.object.value).lower()) != "a.example"
        and "urn:" not in host
    }
    kinds = {ox.Literal: "literal", ox.NamedNode: "IRI", ox.BlankNode: "blank node"}
    assert profile.objects == Counter(kinds.get(type(q.object), "triple") for q in some)


def as_counter(uses: list[Use]) -> Counter[str]:
    return Counter({use.name: use.statements for use in uses})


def test_of_too_many_things_the_frequent_ones_are_kept(tmp_path):
    common = [f'<urn:common> "{n}"' for n in range(50)]
    add(
        tmp_path,
        document("http://a.example/1", *common, *(f'<urn:p{n}> "x"' for n in range(50))),
        document("http://a.example/2", *common, *(f'<urn:q{n}> "x"' for n in range(50))),
    )
    with Job(tmp_path) as job:
        profile = profile_of(job.sources, most=20)
    assert profile.is_cut
    assert profile.properties[0] == Use("urn:common", 2, 100)
    assert len(profile.properties) <= 20


@pytest.mark.slow
def test_memory_does_not_grow_with_the_quads(tmp_path):
    """A document of 24 MB, each line with terms of its own."""
    lines = b"".join(
        b'<http://a.example/%d> <http://a.example/p%d> "%s"@x-%d <http://a.example/> .\n'
        % (n, n, b"x" * 160, n)
        for n in range(100_000)
    )
    large = document("http://a.example/")
    large.nquads = lines
    add(tmp_path, large)
    del lines, large
    with Job(tmp_path) as job:
        tracemalloc.start()
        profile = profile_of(job.sources, most=500)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert profile.statements == 100_000
    assert peak < 20_000_000


def test_tables_show_short_names(job, semcrawl):
    done = semcrawl("profile", job)
    assert (done.code, done.err) == (0, "")
    assert "9 statements in 2 RDF documents and 1 page with data" in done.out
    for word in ("foaf:Person", "schema:Dataset", "xsd:integer", "b.example", "fr"):
        assert word in done.out
    assert "properties (1 of 5)" in semcrawl("profile", job, "--top", "1").out


def test_json_has_all_of_it(job, semcrawl):
    content = json.loads(semcrawl("profile", job, "--json").out)
    assert content["statements"] == 9
    assert content["classes"][0] == {
        "name": f"{FOAF}Person", "documents": 2, "statements": 2, "short": "foaf:Person",
    }  # fmt: skip
    assert content["links"][0]["target"] == "b.example"


class Reader(HTMLParser):
    """Collects tags, attributes and text, and sees that every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.text = ""
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_needs_nothing_beside_itself(job, semcrawl, tmp_path):
    target = tmp_path / "profile.html"
    done = semcrawl("profile", job, "--html", target)
    assert (done.code, done.out) == (0, f"{target}\n")
    text = target.read_text("utf-8")
    page = Reader(text)
    assert page.addresses == ["data:,"]
    assert not page.tags & {"script", "img", "iframe", "object"}
    assert "url(" not in text
    assert "svg" in page.tags
    assert "foaf:Person" in page.text
    assert not page.open


def test_what_documents_say_has_no_effect_on_the_page():
    evil = '"><script>alert(1)</script>&amp;\x1b[31m'
    page = profile_page(
        Profile(
            documents=1, statements=1, objects={"IRI": 1},
            classes=[Use(evil, 1, 1)], languages=[Use(evil, 1, 1)],
            links=[HostLink(evil, evil, 1, 1), HostLink("a", evil, 1, 1)],
        ),
        evil,
    )  # fmt: skip
    read = Reader(page)
    assert "script" not in read.tags
    assert '"><script>alert(1)</script>&amp;\\x1b[31m' in read.text


def test_ribbons_are_as_broad_as_what_flows():
    chart = flow_chart([("a", "x", 300), ("a", "y", 100), ("b", "x", 100)])
    heights = [float(each) for each in re.findall(r'<rect [^>]*height="([0-9.]+)"', chart)]
    a, b, x, y = heights
    assert a == pytest.approx(x)
    assert b == pytest.approx(y)
    assert a == pytest.approx(4 * b)
    assert chart.count("<path") == 3


def test_a_page_that_cannot_be_written_is_one_clear_line(job, semcrawl):
    done = semcrawl("profile", job, "--html", job / "none" / "p.html")
    assert done.code == 1
    assert done.complaint.startswith(f"cannot write {job}/none/p.html: ")


def test_an_empty_job_is_one_clear_line(tmp_path, semcrawl):
    add(tmp_path)
    done = semcrawl("profile", tmp_path)
    assert done.code == 1
    assert "holds no statements" in done.complaint


def test_a_file_that_was_cut_is_told_of(job, semcrawl):
    with (job / "quads.nq").open("r+b") as file:
        file.truncate(100)
    done = semcrawl("profile", job)
    assert done.code == 1
    assert done.err.count("\n") == 3
    assert "2 documents left out: `semcrawl check" in done.err


def test_a_folder_that_may_only_be_read_is_profiled(job, semcrawl):
    with read_only(job):
        done = semcrawl("profile", job)
    assert done.code == 0, done.err
    assert "9 statements" in done.out
