"""RDF/XML: faults of XML cost what they touch, and the fast way is the true way."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Quad

from semcrawl.rdf import ReadOptions, read
from semcrawl.rdf.documentreader import Reading
from semcrawl.rdf.syntaxes import rdfxml
from semcrawl.web.vocabulary import RdfFormat

from . import forms
from .forms import Form, folded

URL = "http://h.example/dir/doc"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
HEAD = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/">\n'
A = '<rdf:Description rdf:about="a">{}</rdf:Description>\n'
LAST = '<rdf:Description rdf:about="z"><e:p>last</e:p></rdf:Description>'
often = settings(suppress_health_check=list(HealthCheck))


def statements(reading: Reading) -> set[str]:
    """Return ``subject predicate object`` of each quad, shortened."""
    return {
        str(Quad(*quad.triple)).replace("http://h.example/dir/", "").replace("http://e/", "")
        for quad in forms.quads_of(reading.nquads)
    }


@pytest.mark.parametrize(
    ("content", "found", "counted"),
    [
        pytest.param(A.format("<e:p>AT&T, R & D</e:p>"), {'<a> <p> "AT&T, R & D"'}, 2, id="bare &"),
        pytest.param(
            A.format('<e:p rdf:resource="http://x/?a=1&b=2"/>'),
            {"<a> <p> <http://x/?a=1&b=2>"}, 1, id="bare & in a value",
        ),
        pytest.param(
            A.format("<e:p>a&nbsp;b&eacute;</e:p><e:q>&what;</e:q>"),
            {'<a> <p> "a\u00a0bé"'}, 3, id="entities that are not declared",
        ),
        pytest.param(
            A.format("<e:p>1 < 2</e:p><e:q>a<b</e:q><e:r>3</e:r>"),
            {'<a> <p> "1 < 2"', '<a> <r> "3"'}, 2, id="bare <",
        ),
        pytest.param(
            A.format("<!-- a -- b --><e:p>1</e:p>"), {'<a> <p> "1"'}, 1, id="-- in a comment"
        ),
        pytest.param(
            A.format('<e:p rdf:resource="x"><e:q>1</e:q><e:r>2</e:r>'),
            {"<a> <p> <x>", '<a> <q> "1"', '<a> <r> "2"'}, None, id="slash missing",
        ),
        pytest.param(
            A.format("<e:p>1<e:q>2</e:q>"), {'<a> <q> "2"'}, None, id="end tag missing"
        ),
        pytest.param(
            '<rdf:Description rdf:about="a"><e:p>1</e:p>\n' + A.format("<e:q>2</e:q>"),
            {'<a> <p> "1"', '<a> <q> "2"'}, None, id="end tag of a node missing",
        ),
        pytest.param(
            A.format("<e:p>1</e:P><e:q>2</e:q>"), {'<a> <q> "2"'}, 1, id="another end tag"
        ),
        pytest.param(A.format("<e:p>1</e:p></e:p><e:q>2</e:q>"),
                     {'<a> <p> "1"', '<a> <q> "2"'}, 1, id="one end tag more"),
        pytest.param(A.format("<e:p>1</e:p").replace("Desc", "Desc", 1),
                     {'<a> <p> "1"'}, None, id="> missing"),
        pytest.param(
            '<rdf:Description rdf:about="a" rdf:about="b"><e:p>1</e:p></rdf:Description>',
            set(), None, id="two subjects",
        ),
        pytest.param(
            '<rdf:Description rdf:about="a"e:p="1" e:q=2 />', {'<a> <p> "1"'}, None,
            id="no space, no quotes",
        ),
        pytest.param(
            A.format('<e:p><e:B rdf:resource="x"/></e:p><e:q>2</e:q>'), {'<a> <q> "2"'}, None,
            id="a node with rdf:resource",
        ),
        pytest.param(
            A.format('<e:p rdf:about="x">1</e:p><e:q>2</e:q>'), {'<a> <q> "2"'}, None,
            id="a property with rdf:about",
        ),
    ],
)  # fmt: skip
def test_a_fault_costs_what_it_touches(content: str, found: set[str], counted: int | None) -> None:
    """A spot that can only mean one thing is mended, and all else stays."""
    reading = read((HEAD + content + LAST + "</rdf:RDF>").encode(), URL)
    assert statements(reading) == found | {'<z> <p> "last"'}
    assert reading.errors
    assert all(error.line for error in reading.errors)
    assert counted is None or reading.error_count == counted


def test_default_attributes_and_entities_of_the_document_type_count() -> None:
    body = f"""<!-- first --><!DOCTYPE rdf:RDF [ <!ENTITY e 'http://e/'> <!ENTITY m "<e:q>2</e:q>">
      <!ATTLIST e:p rdf:datatype CDATA #FIXED "&e;t"> <!ENTITY % no SYSTEM "file:///etc/passwd"> ]>
      {HEAD}{A.format("<e:p>1</e:p>&m;")}</rdf:RDF>"""
    reading = read(body.encode(), URL)
    assert statements(reading) == {'<a> <p> "1"^^<t>', '<a> <q> "2"'}
    assert reading.errors == []


def test_several_documents_in_one_are_read() -> None:
    one = HEAD + A.format("<e:p>1</e:p>") + "</rdf:RDF>\n"
    two = '<?xml version="1.0"?>\n' + HEAD + LAST + "</rdf:RDF>\n"
    assert statements(read((one + two).encode(), URL)) == {'<a> <p> "1"', '<z> <p> "last"'}
    reading = read((one + "Warning: x" + two).encode(), URL)
    assert len(statements(reading)) == 2
    assert [error.line for error in reading.errors] == [4]


@pytest.mark.slow
@pytest.mark.parametrize(
    "spot", ["a & b", "a\x0bb", "&nbsp;&x;", "a<b", "1</e:q>", "<![CDATA[\x0b]]>"]
)
def test_many_faults_take_no_long_time(spot: str) -> None:
    """Each costs its own length, not that of the node."""
    body = HEAD + A.format(f"<e:p>{spot}</e:p>" * 12_000) + "</rdf:RDF>"
    reading = read(body.encode(), URL, options=ReadOptions(max_seconds=30))
    assert reading.error_count >= 10_000
    assert not any("not finished" in error.message for error in reading.errors)


@pytest.mark.slow
@pytest.mark.parametrize("small", [0, 1 << 20])
def test_the_fast_way_is_the_true_way(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    """Whatever the form, and however it is cut into pieces."""
    monkeypatch.setattr(rdfxml, "_SMALL", small)

    @often
    @given(forms.data_for("rdfxml"), forms.forms(), st.sampled_from([64, 500, 1 << 20]))
    def holds(quads: Sequence[Quad], form: Form, piece: int) -> None:
        document = forms.rdfxml(quads, form)
        monkeypatch.setattr(rdfxml, "_PIECE", piece)
        reading = read(document.data(), forms.URL, document.content_type)
        assert folded(forms.quads_of(reading.nquads)) == folded(quads), document.data()
        assert not reading.errors

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", "<e:p>AT&T</e:p><e:q>&x;</e:q>", "<e:p>1", "<e:p/ >"])
def test_a_file_is_read_like_its_bytes(fault: str) -> None:
    """Beyond the size that is read whole, too, with the same record."""
    nodes = "".join(A.replace('"a"', f'"a{n}"').format("<e:p>1</e:p>") for n in range(12_000))
    body = (HEAD + nodes + A.format(fault) + nodes.replace("a", "b") + LAST + "</rdf:RDF>").encode()
    whole = read(body, URL)
    streamed = read(io.BytesIO(body), URL, options=ReadOptions(max_in_memory=1000))
    assert streamed.detection.format is RdfFormat.RDF_XML
    assert whole.quads == streamed.quads
    assert whole.quads >= 12_000
    assert whole.errors == streamed.errors
    for reading in (whole, streamed):
        if reading.spool:
            reading.spool.unlink()


def test_the_version_counts_wherever_it_stands_in_the_root() -> None:
    """RDF 1.2: attributes have no order."""
    body = (
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'
        b' xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0" its:dir="rtl" xml:lang="ar"'
        b' rdf:version="1.2"><rdf:Description rdf:about="http://a/" e:p="x"/></rdf:RDF>'
    )
    reading = read(body, "http://h/", "application/rdf+xml")
    assert reading.nquads == b'<http://a/> <http://e/p> "x"@ar--rtl <http://h/> .\n'
    assert not reading.errors
