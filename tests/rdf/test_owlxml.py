"""Ontologies in OWL/XML."""

import sys
from pathlib import Path

import pytest
from harvest.runs import harvest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from semcrawl.rdf import ReadOptions, detect, read
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://example.org/dir/doc.owl"
ONTOLOGY = """<?xml version="1.0"?>
<!DOCTYPE Ontology [ <!ENTITY x "http://a.org/x#"> ]>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://a.org/base/"
    ontologyIRI="http://a.org/onto">
  <Prefix name="rdfs" IRI="http://www.w3.org/2000/01/rdf-schema#"/>
  <Import>other</Import>
  <Declaration><Class IRI="#A"/></Declaration>
  <SubClassOf><Class IRI="#A"/><Class IRI="&x;B"/></SubClassOf>
  <AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#A</IRI>
    <Literal xml:lang="en">A &amp; b</Literal></AnnotationAssertion>
</Ontology>
"""
LINES = {
    "<http://a.org/onto> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<http://www.w3.org/2002/07/owl#Ontology>",
    "<http://a.org/onto> <http://www.w3.org/2002/07/owl#imports> <http://a.org/base/other>",
    "<http://a.org/base/#A> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<http://www.w3.org/2002/07/owl#Class>",
    "<http://a.org/base/#A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://a.org/x#B>",
    '<http://a.org/base/#A> <http://www.w3.org/2000/01/rdf-schema#label> "A & b"@en',
}


@pytest.mark.parametrize("media", ["application/rdf+xml", "application/owl+xml", "text/xml", None])
def test_it_is_known_by_its_content(media):
    found = detect(ONTOLOGY.encode(), media, URL)
    assert (found.kind, found.format) == (Kind.RDF, RdfFormat.OWL_XML)


def test_an_ontology_in_rdfxml_is_not_taken_for_it():
    body = (
        b'<owl:Ontology xmlns:owl="http://www.w3.org/2002/07/owl#" rdf:about="x" '
        b'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
    )
    assert detect(body, "application/rdf+xml", URL).format is RdfFormat.RDF_XML


def test_it_is_mapped_to_rdf():
    pytest.importorskip("pyhornedowl")
    reading = read(ONTOLOGY.encode(), URL)
    lines = {line.rsplit(f" <{URL}> .")[0] for line in reading.nquads.decode().splitlines()}
    assert (lines, reading.errors) == (LINES, [])


def test_without_a_base_its_iris_are_those_of_its_address():
    pytest.importorskip("pyhornedowl")
    body = ONTOLOGY.replace(' xml:base="http://a.org/base/"', "")
    assert b"<http://example.org/dir/doc.owl#A>" in read(body.encode(), URL).nquads


def test_without_the_package_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyhornedowl", None)
    reading = read(ONTOLOGY.encode(), URL)
    assert reading.quads == 0
    assert "pip install py-horned-owl" in reading.errors[0].message


@pytest.mark.parametrize(
    "body",
    [
        ONTOLOGY[:300],
        ONTOLOGY.replace("<Class IRI", "<Klass IRI"),
        ONTOLOGY.replace("&x;B", "&y;B"),
        ONTOLOGY.replace("<Declaration>", "<ObjectUnionOf>" * 400),
    ],
)
def test_what_is_wrong_is_an_error(body):
    pytest.importorskip("pyhornedowl")
    reading = read(body.encode(), URL)
    assert reading.error_count >= 1


def test_entities_are_bounded():
    pytest.importorskip("pyhornedowl")
    entities = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 20 if n else "x" * 99}">' for n in range(9)
    )
    body = ONTOLOGY.replace('<!ENTITY x "http://a.org/x#">', entities).replace("&x;B", "&e8;")
    reading = read(body.encode(), URL, options=ReadOptions())
    assert "grow" in reading.errors[0].message


@given(st.integers(0, len(ONTOLOGY)), st.text(st.sampled_from('<>/&;#"= aIR:é'), max_size=9))
def test_no_ontology_makes_it_fail(place, noise):
    pytest.importorskip("pyhornedowl")
    read((ONTOLOGY[:place] + noise + ONTOLOGY[place + len(noise) :]).encode(), URL)


async def answer(request: Request, out: Stream) -> None:
    if request.path == "/o.owl":
        await out.whole(200, [("Content-Type", "application/rdf+xml")], ONTOLOGY.encode())
    else:
        await out.whole(200, [("Content-Type", "text/html")], b"<a href='/o.owl'>RDF</a>")


@pytest.mark.slow
def test_a_crawl_reads_it_or_says_why_not(tmp_path: Path):
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        run = harvest(
            "http://d.example/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url
        )
    [record] = [r for r in run.records if r["url"].endswith("/o.owl")]
    try:
        import pyhornedowl  # noqa: F401
    except ImportError:
        assert record["outcome"] == "parse-error"
        assert "py-horned-owl" in record["errors"]
    else:
        assert (record["outcome"], record["quads"]) == ("fetched-rdf", len(LINES))


@pytest.mark.parametrize("noise", ["&", "&no;", "=", '"', "I=1", 'lang="a" lang="b"', "\x01"])
def test_a_spoilt_root_is_read_once(noise):
    """Whatever stands in its tag, reading comes to an end and says what is wrong."""
    pytest.importorskip("pyhornedowl")
    place = ONTOLOGY.index("<Ontology") + len("<Ontology ")
    reading = read((ONTOLOGY[:place] + noise + " " + ONTOLOGY[place:]).encode(), URL)
    assert reading.error_count
