"""What we write, strict readers read: whatever the input, each line of the output is sound."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Quad

from semcrawl.rdf import Detection, read, read_embedded
from semcrawl.web.vocabulary import Kind, RdfFormat

from . import forms
from .forms import URL, WRITERS, Form

CORPUS = Path(__file__).parent / "fuzz" / "corpus.zip"
#: what the grammars set apart, and what writers get wrong
NOISE = [
    "<", ">", '"', "'", "{", "}", "[", "]", "(", ")", ".", ";", ",", ":", "@", "^^", "_:", "\\",
    "\\u", "\\uD800", "\\u0000", "%", "%zz", "|", "^", "`", " ", "\t", "\n", "\r\n", "\x01", "\x7f",
    "\ufffe", "\ufffd", "\U0001f600", "é", "#", "//", "..", "=", "<<(", ")>>", "@en_US", "@-",
    "&", "@en--ltr", "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>", "<!--", "]]>",
    "</", "/>", "http://[", "http://x y/", "urn:", "x:", "&#0;", "&lt;", '"@id":', '"@type":',
    '"@language":', "\u3000", "\xa0",
    '"@direction":"rtl",', "xml:lang=''", "lang='e n'", "href='a b'", "itemid='|'", "null",
    "1e999",
]  # fmt: skip
some = forms.examples(15)


def noisy(data: bytes, source: random.Random) -> bytes:
    """Return ``data`` with some insertions, deletions and copies at random places."""
    result = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 4, 9))):
        at = source.randrange(len(result) + 1)
        end = min(len(result), at + source.choice((0, 0, 1, 2, 7)))
        kind = source.random()
        if kind < 0.75:
            result[at:end] = source.choice(NOISE).encode()
        elif kind < 0.85:
            result[at:end] = bytes([source.randrange(256)])
        else:
            other = source.randrange(len(result) + 1)
            result[at:end] = result[other : other + source.randrange(30)]
    return bytes(result)


def check(nquads: bytes, of: object) -> None:
    """All of ``nquads`` is read by pyoxigraph, its store and rdflib."""
    count = nquads.count(b"\n")
    told = f"{of!r}\n{nquads!r}"
    try:
        strict = list(pyoxigraph.parse(nquads, pyoxigraph.RdfFormat.N_QUADS))
        store = pyoxigraph.Store()
        store.bulk_load(nquads, pyoxigraph.RdfFormat.N_QUADS)
    except (SyntaxError, ValueError) as error:
        raise AssertionError(f"{error}: {told}") from error
    assert len(strict) == count, told
    assert len(store) == len(set(strict)), told
    # rdflib knows neither triple terms nor directions, which RDF 1.2 brings
    older = [
        line
        for line, quad in zip(nquads.splitlines(keepends=True), strict, strict=True)
        if not isinstance(quad.object, pyoxigraph.Triple)
        and getattr(quad.object, "direction", None) is None
    ]
    data = rdflib.Dataset()
    try:
        data.parse(data=b"".join(older).decode(), format="nquads")
    except Exception as error:
        raise AssertionError(f"rdflib: {error}: {told}") from error


@pytest.mark.slow
@pytest.mark.parametrize("syntax", sorted(WRITERS))
def test_what_comes_of_spoilt_documents_is_sound(syntax: str) -> None:
    """Documents in random form, spoilt at random places, in the syntax that they were in."""

    @some
    @given(forms.data_for(syntax), forms.forms(), st.integers(0))
    def holds(quads: Sequence[Quad], form: Form, seed: int) -> None:
        document = WRITERS[syntax](quads, form)
        data = noisy(document.data(), random.Random(seed))
        reader: Callable[..., object] = read_embedded if document.embedded else read
        reading = reader(data, URL, document.content_type)
        check(reading.nquads, data)  # type: ignore[attr-defined]

    holds()


@pytest.mark.slow
def test_what_comes_of_the_fuzzers_corpus_is_sound() -> None:
    """Each input in each syntax, so that most are read in one that they are not in."""
    with zipfile.ZipFile(CORPUS) as corpus:
        for name in corpus.namelist():
            data = corpus.read(name)
            for syntax in RdfFormat:
                found = Detection(Kind.RDF, syntax, 1.0, "test")
                check(read(data, URL, None, detection=found).nquads, (syntax, data))
            check(read_embedded(data, URL).nquads, ("a page", data))


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        ("<http://a/\u3000b> <http://p/\xa0> '\u3000'^^<http://d/\u2003> .", "text/turtle"),
        ("_:\xe9t\xe9 <a:p> _:\U0001f600 .", "text/turtle"),
        ("_:e9 <a:p> _:\xe9 .", "application/n-triples"),
        ('{"_:a:b": {"a:p": [{"type": "bnode", "value": "_:c d"}]}}', "application/rdf+json"),
    ],
)
def test_older_readers_take_terms_beyond_ascii(body: str, media_type: str) -> None:
    """The same terms as pyoxigraph reads, in a spelling that rdflib knows."""
    reading = read(body.encode(), "http://h.example/", media_type)
    check(reading.nquads, body)
    assert (reading.quads, reading.error_count) == (1, 0)
    [quad] = pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS)
    if "\u3000" in body:
        assert quad.triple == pyoxigraph.Triple(
            pyoxigraph.NamedNode("http://a/\u3000b"),
            pyoxigraph.NamedNode("http://p/\xa0"),
            pyoxigraph.Literal("\u3000", datatype=pyoxigraph.NamedNode("http://d/\u2003")),
        )
    else:
        assert quad.subject != quad.object


def test_links_with_wide_spaces_are_followed() -> None:
    reading = read("<a:s> <a:p> <http://a.example/\u3000b> .".encode(), "http://h/", "text/turtle")
    assert [link.iri for link in reading.links] == ["http://a.example/\u3000b"]
