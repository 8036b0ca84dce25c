"""Turtle, TriG and N3 with errors: what stays, what is mended, and where the record says so."""

from __future__ import annotations

from io import BytesIO

import pyoxigraph
import pytest

from semcrawl.rdf import Detection, ReadOptions, read, read_stream
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://h.example/doc"
LANG = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
    f'<rdf:Description rdf:about="urn:a"><e:p rdf:datatype="{LANG}">x</e:p><e:q>y</e:q>'
    "</rdf:Description></rdf:RDF>"
)


@pytest.mark.slow
@pytest.mark.parametrize("in_memory", [1 << 20, 10])
def test_a_long_statement_with_many_errors_keeps_all_else(in_memory: int) -> None:
    """As the files of FHIR guides: one statement each, with ``|`` in every other address."""
    count = 20_000
    text = "@prefix e: <http://e.example/> .\ne:a e:p\n" + ",\n".join(
        f"  [ e:url <http://e.example/x|{n}> ; e:bad e:a/{n % 7} ]" if n % 100 == 0
        else f"  [ e:url <http://e.example/x|{n}> ]"
        for n in range(count)
    )  # fmt: skip
    options = ReadOptions(max_in_memory=in_memory)
    reading = read_stream(BytesIO(f"{text} .\n".encode()), URL, "text/turtle", options)
    assert reading.quads == 2 * count
    assert reading.nquads.count(b"%7C") + (reading.spool is not None) * count >= count
    assert reading.error_count == count + count // 100
    assert [(e.line, e.column) for e in reading.errors[:3]] == [(3, 11), (3, 42), (4, 11)]
    if reading.spool is not None:
        reading.spool.unlink()


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (f'<urn:a> <urn:p> "x"^^<{LANG}>, "\\"^^<{LANG}>" .', "text/turtle"),
        (f'<urn:a> <urn:p> "x"^^<{LANG}>, "\\"^^<{LANG}>" .', "text/n3"),
        (f'<urn:g> {{ <urn:a> <urn:p> "x"^^<{LANG}>, <{LANG}> . }}', "application/trig"),
        (f'<urn:a> <urn:p> "x"^^<{LANG}> .\n<urn:a> <urn:p> "y" .', "application/n-triples"),
        (XML, "application/rdf+xml"),
    ],
)
def test_a_language_string_without_a_language_is_not_written(body: str, media: str) -> None:
    reading = read(body.encode(), URL, media)
    assert (reading.quads, reading.error_count) == (1, 1)
    assert len(list(pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS))) == 1


@pytest.mark.slow
def test_a_graph_in_pieces_keeps_its_name() -> None:
    """A dot in a comment, and a graph with an error in the middle."""
    lines = [f"  e:s{n} e:p e:o ; # no end .\n  e:q {n} .\n" for n in range(60_000)]
    lines[30_000] = "  e:s30000 e:p nope:x ; e:q 1 .\n"
    text = "@prefix e: <http://e.example/> .\ne:g {\n" + "".join(lines) + "}\ne:x e:p e:y .\n"
    found = Detection(Kind.RDF, RdfFormat.TRIG, 1.0, "")
    reading = read(text.encode(), URL, None, detection=found)
    assert reading.quads == 120_000
    assert [(e.line, e.column) for e in reading.errors] == [(60_003, 16)]
    data = reading.spool.read_bytes() if reading.spool else reading.nquads
    assert data.count(b" <http://e.example/g> .\n") == 119_999
    if reading.spool is not None:
        reading.spool.unlink()
