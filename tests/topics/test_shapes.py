"""Topics that are an ASK query or SHACL shapes."""

import importlib.util
import sys
from dataclasses import replace

import pytest

from semcrawl.errors import UsageError
from semcrawl.rdf.shortnames import calls_service, terms_in
from semcrawl.topics import STOPPED, Closing, Document, about
from semcrawl.topics.shapes import ask, conform
from semcrawl.web.vocabulary import Kind

MEMORY = 1 << 62
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SCHEMA = "http://schema.org/"
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix schema: <http://schema.org/> .
<#s> a sh:NodeShape ; sh:targetClass schema:Dataset ;
    sh:property [ sh:path schema:name ; sh:minCount 1 ] .
"""
#: a comparison for each three statements of a document
ENDLESS = (
    "ASK { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(STRLEN(CONCAT(STR(?b), STR(?d), STR(?f))) = 1) }"
)
#: makes one string of each three statements of a document
LARGE = (
    "ASK { { SELECT (GROUP_CONCAT(CONCAT(STR(?b), STR(?d), STR(?b), STR(?d))) AS ?all)"
    " { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } } FILTER(STRLEN(?all) = 1) }"
)


def rdf(*lines: str) -> Document:
    data = [f"{line} <http://a.example/g> .\n".encode() for line in lines]
    return Document("http://a.example/", Kind.RDF, statements=lambda: data)


def dataset(node: str, name: str = "") -> list[str]:
    lines = [f"{node} <{TYPE}> <{SCHEMA}Dataset>"]
    return [*lines, f'{node} <{SCHEMA}name> "{name}"'] if name else lines


MANY = rdf(*(f"<http://n/{n}> <http://p> <http://n/{m}>" for n in range(60) for m in range(60)))


@pytest.fixture
def judged(request):
    """Judges documents by a topic that is closed at the end."""

    def judge(spec, *documents, **settings):
        topic = about(spec, settings)
        assert isinstance(topic, Closing)
        request.addfinalizer(topic.close)
        return [topic.judge(document) for document in documents]

    return judge


@pytest.mark.slow
def test_a_query_says_yes_or_no(judged, tmp_path):
    """Graph names do not matter, common prefixes are known."""
    file = tmp_path / "d.rq"
    file.write_text("ASK { ?d a schema:Dataset ; schema:name ?name }")
    yes, no, nothing = judged(
        f"shape:{file}", rdf(*dataset("_:d", "Fish")), rdf(*dataset("_:d")), rdf()
    )
    assert (yes.relevance, yes.reasons) == (1, (("shape", "ASK: True"),))
    assert (no.relevance, no.reasons) == (0, (("shape", "ASK: False"),))
    assert nothing.relevance == 0


@pytest.mark.slow
def test_a_query_may_stand_in_the_setting_itself(judged):
    """Alone or in a combination."""
    spec = "all(shape:ASK { ?d a schema:Dataset FILTER(isBlank(?d)) }, vocabulary:schema:)"
    yes, no = judged(spec, rdf(*dataset("_:d")), rdf(*dataset("<http://a.example/d>")))
    assert (yes.relevance, no.relevance) == (1, 0)


@pytest.mark.slow
def test_a_query_without_end_is_stopped(judged):
    """It counts as no, the reason says why, and the next document is judged again."""
    spec, small = f"shape:{ENDLESS}", rdf("<http://n/1> <http://p> <http://n/2>")
    endless, small = judged(spec, MANY, small, SEMCRAWL_ABOUT_SHAPE_TIMEOUT=1)
    assert endless.relevance == 0
    assert endless.reasons == (("shape", f"{STOPPED}: not finished after 1 seconds"),)
    assert small.reasons == (("shape", "ASK: False"),)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="memory is not bounded there")
def test_a_query_that_needs_too_much_memory_is_stopped(judged, monkeypatch):
    """It counts as no, and the next document is judged again."""
    spec, small = f"shape:{LARGE}", rdf("<http://n/1> <http://p> <http://n/2>")
    monkeypatch.setattr("semcrawl.topics.shapes.MEMORY", 1 << 29)
    settings = {"SEMCRAWL_ABOUT_SHAPE_TIMEOUT": 60}
    large, small = judged(spec, MANY, small, **settings)
    assert large.relevance == 0
    assert "ended: SIGABRT" in large.reasons[0][1]
    assert small.reasons == (("shape", "ASK: False"),)


@pytest.mark.slow
def test_shapes_grade_documents_by_the_nodes_that_conform(judged, tmp_path):
    """1 for all, above ½ for some, 0 for none, and 0 where there is no node to look at."""
    file = tmp_path / "shapes.ttl"
    file.write_text(SHAPES)
    good, bad = dataset("<http://a.example/1>", "Fish"), dataset("_:b")
    all_, some, none, no_node = judged(
        f"shape:{file}", rdf(*good), rdf(*good, *bad), rdf(*bad),
        rdf(f'<http://a.example/1> <{SCHEMA}name> "x"'),
    )  # fmt: skip
    assert [j.relevance for j in (all_, some, none, no_node)] == [1, 0.75, 0, 0]
    assert some.reasons == (("shape", "1 of 2 nodes conform"),)
    assert no_node.reasons == (("shape", "0 of 0 nodes conform"),)


@pytest.mark.slow
def test_terms_of_the_shape_are_near_to_it(tmp_path):
    """Words and properties around links are compared with those that it names."""
    file = tmp_path / "shapes.ttl"
    file.write_text(SHAPES)
    for spec in (f"shape:{file}", "shape:ASK { ?d a schema:Dataset }"):
        topic = about(spec, {})
        assert topic.similarity("a dataset") == 1
        assert topic.similarity("a fish") == 0
        assert topic.iri_similarity(SCHEMA + "Dataset") == 1
        naming = Document("http://a.example/", Kind.HTML, markup=b"<code>schema:Dataset</code>")
        assert topic.judge(naming).relevance == 0.4
        assert topic.judge(replace(naming, markup=b"schema:Fish")).relevance == 0
        topic.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.rq", "ASK { ?s ?p }", "the query is wrong in line 1, column 1"),
        ("q.rq", "ASK { ?s unknown:p ?o }", "prefix that is not known"),
        ("q.rq", "ASK { SERVICE <http://a.example/> { ?s ?p ?o } }", "ask other servers"),
        ("q.rq", "PREFIX a: <x:> SELECT * { ?s ?p ?o }", "no ASK query"),
        ("q.rq", "SELECT * { ?s ?p ?o }", "neither an ASK query nor SHACL"),
        ("s.ttl", "<#a> <http://xmlns.com/foaf/0.1/name> 'A' .", "no SHACL shape with a target"),
        ("s.ttl", SHAPES.replace("sh:minCount 1", 'sh:minCount "many"'), "s.ttl: .+"),
        (
            "s.ttl",
            SHAPES
            + '<#s> sh:sparql [ sh:select "SELECT $this { SERVICE <x:> { $this ?p ?o } }" ] .',
            "ask other servers",
        ),
    ],
)
def test_wrong_queries_and_shapes_are_told_at_the_start(tmp_path, name, text, said):
    """In one line each."""
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        about(f"shape:{tmp_path / name}", {})
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_no_file_are_told():
    """In one line each."""
    with pytest.raises(UsageError, match="cannot read none"):
        about("shape:none.rq", {})
    with pytest.raises(UsageError, match="name a file"):
        about("shape:", {})


@pytest.mark.slow
def test_shapes_without_pyshacl_are_told(tmp_path, monkeypatch):
    """With the command that installs it; queries need none."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "semcrawl.topics.shapes.find_spec", lambda name: None if name == "pyshacl" else find(name)
    )
    (tmp_path / "s.ttl").write_text(SHAPES)
    with pytest.raises(UsageError, match=r"SHACL needs pyshacl: pip install .*shacl"):
        about(f"shape:{tmp_path / 's.ttl'}", {})
    about("shape:ASK {}", {}).close()


def test_shapes_import_nothing_and_fetch_nothing(tmp_path):
    """An ``owl:imports`` is left alone; a FROM finds nothing rather than being fetched."""
    shapes = (
        b"<http://s> <%b> <http://www.w3.org/ns/shacl#NodeShape> .\n"
        b"<http://s> <http://www.w3.org/ns/shacl#targetClass> <http://schema.org/Dataset> .\n"
        b"<http://s> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/none> .\n"
    ) % TYPE.encode()
    lines = f"<http://d> <{TYPE}> <{SCHEMA}Dataset> .\n".encode()
    checked = conform(shapes, lines, MEMORY)
    assert (checked.holds, checked.nodes, checked.fault) == (True, 1, "")


def test_terms_that_no_parser_would_take_do_no_harm():
    """Odd IRIs and language tags of a document are read leniently."""
    lines = b'<http://a b> <http://p> "x"@e-n-- .\n'
    assert not ask("ASK { ?s ?p 'y' }", lines, MEMORY).holds


def test_terms_and_services_are_found_outside_of_strings_and_comments():
    """SERVICE as a variable, in a string, a comment or an IRI is none; escaped it is one."""
    assert not calls_service("ASK { ?service ?p 'SERVICE' , <http://SERVICE> } # SERVICE")
    assert calls_service("ASK { \\u0053ERVICE <x:> {} }")
    assert list(terms_in("ASK { ?s a foaf:Person ; none:x '<http://no>' , <http://yes> }")) == [
        "http://xmlns.com/foaf/0.1/Person",
        "http://yes",
    ]
