"""Turtle and its kin that were escaped as HTML."""

import html
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import ReadOptions, detect, read, read_stream
from semcrawl.rdf.syntaxes.escaped import unescaped
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://example.org/dir/doc"
TURTLE = """@prefix f: <http://xmlns.com/foaf/0.1/> .
<http://example.org/a?b=1&c=2> f:name "A & B", "it's", '"so"', \"\"\"<b>"x"</b>\"\"\" ;
  f:knows <#b> . # it's <a> comment
"""
TRIPLES = '<http://a.org/a> <http://a.org/b> "x & <y>" .\n_:x <http://a.org/b> <http://a.org/c> .\n'


def wanted(text: str, media: str) -> set[bytes]:
    return set(read(text.encode(), URL, media).nquads.splitlines())


@pytest.mark.parametrize("quote", [True, False], ids=["quotes", "no quotes"])
@pytest.mark.parametrize("media", ["text/turtle", "text/plain", "text/html", None])
def test_an_escaped_document_is_read_and_says_so(media, quote):
    body = html.escape(TURTLE, quote=quote).encode()
    found = detect(body, media, URL)
    assert (found.kind, found.format) == (Kind.RDF, RdfFormat.TURTLE)
    reading = read(body, URL, media)
    assert set(reading.nquads.splitlines()) == wanted(TURTLE, "text/turtle")
    assert [(e.line, "escaped" in e.message) for e in reading.errors] == [(1, True)]


@pytest.mark.parametrize("quote", [True, False])
def test_escaped_lines(quote):
    reading = read(html.escape(TRIPLES, quote=quote).encode(), URL, "application/n-triples")
    assert set(reading.nquads.splitlines()) == wanted(TRIPLES, "application/n-triples")
    assert reading.error_count == 1


def test_where_only_some_iris_are_escaped_strings_are_left_as_they_are():
    """A template that escapes what it fills in."""
    body = b'<urn:a> <urn:b> "x &lt;i&gt; y" ; <urn:c> &lt;http://a.org/?x&amp;y&gt; .'
    reading = read(body, URL, "text/turtle")
    assert b'"x &lt;i&gt; y"' in reading.nquads
    assert b"<http://a.org/?x&y>" in reading.nquads


@pytest.mark.parametrize(
    "body",
    [
        '<urn:a> <urn:b> "&lt;http://x.org/&gt; &amp;" .',
        '<urn:a> <urn:b?&lt;x&gt;> """\n&lt;http://x.org/&gt;""" .',
        "<urn:a> <urn:b> <urn:c> . # &lt;http://x.org/&gt;",
    ],
)
def test_what_may_stand_there_is_left_as_it_is(body):
    assert unescaped(body.encode()) is None
    reading = read(body.encode(), URL, "text/turtle")
    assert (reading.quads, reading.errors) == (1, [])


@pytest.mark.parametrize("page", ["<p>&lt;http://a.org/a&gt; a &lt;http://a.org/b&gt; .</p>",
                                  "Write &lt;http://a.org/&gt; in Turtle."])  # fmt: skip
def test_a_page_about_turtle_is_none(page):
    assert detect(page.encode(), "text/html", URL).kind is Kind.HTML


@pytest.mark.slow
@pytest.mark.parametrize("quote", [True, False])
def test_a_document_of_any_size(quote):
    """References are torn by the pieces in which it is read."""
    lines = "".join(f"<urn:s{n}> <urn:p> <urn:o&{n}> .\n" for n in range(60_000))
    body = html.escape(lines, quote=quote).encode()
    for media in ("text/turtle", "application/n-triples"):
        options = ReadOptions(max_in_memory=1000)
        reading = read_stream(io.BytesIO(body), URL, media, options)
        assert (reading.quads, reading.error_count) == (60_000, 1)


texts = st.text(st.sampled_from("<>&\"'\\ #;ltamp:é\n"), max_size=12)


@given(texts, texts)
def test_every_literal_survives(one, two):
    signs = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    literals = ", ".join(f'"{literal.translate(signs)}"' for literal in (one, two))
    text = f"<http://a.org/a> <http://a.org/b> {literals} ."
    for quote in (True, False):
        body = html.escape(text, quote=quote).encode()
        reading = read(body, URL, "text/turtle")
        assert reading.error_count == 1
        assert set(reading.nquads.splitlines()) == wanted(text, "text/turtle")
