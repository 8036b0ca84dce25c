"""Quads beyond a limit are neither kept nor counted."""

from __future__ import annotations

import io

import pyoxigraph
import pytest

from semcrawl.rdf import ReadOptions, read

#: a namespace that a few bytes of text repeat
LONG = "http://example.org/" + "x" * 60_000 + "/"
URL = "http://example.org/doc"
STATEMENTS = 100_000
BODY = b"".join(b'<http://a/s%d> <http://a/p> "%d" .\n' % (n, n) for n in range(STATEMENTS))


@pytest.mark.parametrize(
    "options", [ReadOptions(max_seconds=0.0), ReadOptions(max_nquads_bytes=2_000_000)]
)
@pytest.mark.parametrize("media", ["application/n-triples", "text/turtle"])
def test_quads_are_counted_that_are_kept(media: str, options: ReadOptions) -> None:
    reading = read(BODY, URL, media, options)
    assert 0 < reading.quads < STATEMENTS
    assert reading.nquads.count(b"\n") == reading.quads
    assert reading.errors


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("media", "head", "statement", "end"),
    [
        ("text/turtle", f"@prefix p: <{LONG}> .\n", "p:a p:b p:c .\n", ""),
        ("application/trig", f"@prefix p: <{LONG}> .\n", "p:g {p:a p:b p:c}\n", ""),
        (
            "application/rdf+xml",
            f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="{LONG}">',
            "<p:C/>",
            "</rdf:RDF>",
        ),
    ],
)
def test_quads_much_longer_than_their_text_are_cut(
    media: str, head: str, statement: str, end: str, streamed: bool
) -> None:
    body = (head + statement * 2_000 + end).encode()
    options = ReadOptions(max_in_memory=1000 if streamed else 2**25, max_ratio=100)
    reading = read(io.BytesIO(body) if streamed else body, URL, media, options)
    assert 0 < reading.quads < 2_000
    assert "100 times the text's size" in reading.errors[-1].message
    assert reading.nquads.count(b"\n") == reading.quads
    assert 2**20 < len(reading.nquads) < 105 * len(body)


@pytest.mark.slow
def test_graph_names_do_not_count_as_growth() -> None:
    body = b"<a> <p> ( " + b"0 " * 40_000 + b") ."
    reading = read(body, URL + "?" + "q" * 1000, "text/turtle")
    assert (reading.quads, reading.errors) == (80_001, [])
    assert reading.spool is not None
    assert reading.spool.stat().st_size > 2**24
    reading.spool.unlink()


def tag(attributes: int, before: str = "") -> bytes:
    """RDF/XML with a tag of an odd number of attributes; the first has ``>`` in its value."""
    names = "".join(f""" p:a{n}="{n}" p:b{n}='{n}'""" for n in range(attributes // 2))
    text = (
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="{LONG}">'
        f'<!-- {before} --><rdf:Description p:first="x > y"{names}/></rdf:RDF>'
    )
    return text.encode()


@pytest.mark.parametrize("before", [0, 1_000_000, *range(2**20 - 63_000, 2**20 - 59_000, 500)])
def test_tags_of_very_many_attributes_are_refused(before: int) -> None:
    """The parser holds the statements of a tag; a piece of the data may end inside it."""
    reading = read(tag(1001, "x" * before), URL, "application/rdf+xml")
    assert [error.message for error in reading.errors] == ["a tag of more than 1000 attributes"]
    assert reading.quads == 0


def test_other_long_tags_and_texts_are_read() -> None:
    assert read(tag(201), URL, "application/rdf+xml").quads == 201
    code = "&lt;a href=\"x\" class='y'>" * 5_000
    text = tag(1).replace(b"/></rdf", f"><p:code>{code}</p:code></rdf:Description></rdf".encode())
    reading = read(text, URL, "application/rdf+xml")
    assert (reading.quads, reading.errors) == (2, [])


@pytest.mark.parametrize("place", ["<!-- {} -->", "<?x {}?>", "<p:code><![CDATA[{}]]></p:code>"])
def test_many_quoted_texts_outside_of_tags_are_read(place: str) -> None:
    """An independent reader has the same statements."""
    json = "{" + ", ".join(f'"key {n}": "value {n}"' for n in range(1_000)) + "}"
    body = tag(1).replace(b"/></rdf", f">{place.format(json)}</rdf:Description></rdf".encode())
    reading = read(body, URL, "application/rdf+xml")
    assert not reading.errors
    assert reading.quads == len([*pyoxigraph.parse(body, pyoxigraph.RdfFormat.RDF_XML)])
