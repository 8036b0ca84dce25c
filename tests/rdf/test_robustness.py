"""Whatever the bytes: no exception leaves, and bounds hold."""

# ruff: noqa: E501 - tables

import random
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcrawl.rdf import Detection, ReadOptions, read, read_embedded
from semcrawl.web.vocabulary import Kind, RdfFormat
from tests.archives import tarred

URL = "http://example.org/doc"
FOUND = Path(__file__).parent / "fuzz"
TOKENS = st.sampled_from(
    [
        b"<http://a/>", b"<a>", b"e:b", b"_:x", b'"v"', b'"', b"'''", b"@en", b"^^", b"[", b"]", b"(",
        b")", b"{", b"}", b".", b";", b",", b"@prefix e: <http://e/> .", b"\n", b"#", b"<<(", b")>>",
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", b"</rdf:RDF>",
        b"<rdf:Description rdf:about='a'>", b"</rdf:Description>", b"&amp;", b"&x;", b"<!--", b"-->",
        b'{"@context": {"@vocab": "http://v/"}', b'"@id": "a"', b'"@list": [', b":", b"1", b"null",
        b"<p property='dc:title' typeof='x:Y'>", b"<div itemscope itemtype='http://s/T'>", b"</div>",
        b"<b itemprop='n'>", b"<script type='application/ld+json'>", b"</script>", b"\xff", b"\0",
        b"=>", b"?x", b"!", b"\\u00", b"\xc3",
    ]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOKENS, max_size=40), st.sampled_from(list(RdfFormat)), st.booleans())
def test_nothing_raises(tokens: list[bytes], syntax: RdfFormat, spaced: bool) -> None:
    body = (b" " if spaced else b"").join(tokens)
    found = Detection(Kind.RDF, syntax, 1.0, "test")
    for reading in (
        read(body, URL),
        read(body, URL, None, detection=found),
        read_embedded(body, URL, "text/html"),
    ):
        assert reading.nquads.count(b"\n") == reading.quads
        assert all(line.endswith(b" .") for line in reading.nquads.splitlines())
        assert len(reading.errors) <= reading.error_count
        assert reading.links is not None


@given(st.binary(max_size=200), st.text(max_size=20))
def test_no_url_and_no_bytes_raise(body: bytes, url: str) -> None:
    read(body, url)
    read(b"<a> <b> <c> .", url, "text/turtle")
    read_embedded(b"<p property='dc:title'>" + body, url)


def read_in_every_way(body: bytes) -> None:
    for syntax in RdfFormat:
        read(body, URL, None, detection=Detection(Kind.RDF, syntax, 1.0, "test"))
    read_embedded(body, URL)


def test_inputs_that_once_raised_are_read() -> None:
    for path in FOUND.iterdir():
        if path.suffix != ".zip":
            read_in_every_way(path.read_bytes())


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_the_corpus_of_fuzzing_reaches_no_exception(step: int) -> None:
    """Inputs that each reach a part of the code that the others don't."""
    with zipfile.ZipFile(FOUND / "corpus.zip") as corpus:
        names = corpus.namelist()
        assert len(names) > 500
        for name in names[::step]:
            read_in_every_way(corpus.read(name))


DEEP = [
    (b'{"http://a/b":' * 20_000 + b"1" + b"}" * 20_000, "application/ld+json"),
    (b'{"@list": [' * 20_000, "application/ld+json"),
    (b"<a:b> <a:b> " + b"<<( <a:b> <a:b> " * 20_000, "text/turtle"),
    (b"<a:b> <a:b> " + b"<<( <a:b> <a:b> " * 20_000, "application/n-triples"),
    (b"<a:b> <a:b> " + b"(" * 20_000, "text/turtle"),
    (b"<a:b> <a:b> " + b"[<a:b> " * 20_000, "text/turtle"),
    (
        b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
        + b"<e:a><e:b>" * 20_000,
        "application/rdf+xml",
    ),
    (b"<div property='dc:title' typeof='x'>" * 20_000, "text/html"),
    (b"<script type='application/ld+json'>" + b'{"http://a/b":' * 20_000, "text/html"),
]


@pytest.mark.slow
def test_deep_nesting_does_not_end_the_process(tmp_path: Path) -> None:
    """In a process of its own, as a parser that fails here takes all with it."""
    script = (
        "import sys, pathlib; from semcrawl.rdf import *; from semcrawl.rdf.detection import"
        " format_of_type; from semcrawl.web.vocabulary import Kind\n"
        "for path in sys.argv[1:]:\n"
        "    t, body = pathlib.Path(path).read_bytes().split(b' ', 1); t = t.decode()\n"
        "    f = format_of_type(t); d = Detection(Kind.RDF, f, 1.0, '')\n"
        "    r = read(body, 'http://x/', t, detection=d) if f else read_embedded(body, 'http://x/')\n"
        "    assert f is None or r.error_count, (t, r)\n"
    )
    paths = []
    for number, (body, content_type) in enumerate(DEEP):
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(content_type.encode() + b" " + body)
    subprocess.run([sys.executable, "-c", script, *map(str, paths)], check=True, timeout=100)


def test_entities_that_multiply_are_refused() -> None:
    big = b'<!ENTITY a "' + b"x" * 100_000 + b'">'
    body = (
        b"<!DOCTYPE r [" + big + b"]>"
        b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
        b'<r:Description r:about="http://a/"><e:p>' + b"&a;" * 10_000 + b"</e:p></r:Description>"
        b"</r:RDF>"
    )
    reading = read(body, URL)
    assert reading.quads == 0
    assert "entities grow" in reading.errors[0].message


def test_external_entities_are_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    body = (
        f'<!DOCTYPE r [<!ENTITY a SYSTEM "file://{tmp_path}/secret">]>'
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
        '<r:Description r:about="http://a/"><e:p>&a;</e:p></r:Description></r:RDF>'
    ).encode()
    reading = read(body, URL)
    assert b"secret" not in reading.nquads
    assert reading.error_count == 1


def test_errors_are_counted_beyond_those_kept() -> None:
    reading = read(b"x\n" * 500, URL, "application/n-triples", ReadOptions(max_errors=5))
    assert (len(reading.errors), reading.error_count) == (5, 500)
    assert read(b"x\n" * 500, URL, "application/n-triples",
                ReadOptions(give_up_after_errors=50)).error_count == 51  # fmt: skip


_TOO_LONG = b"x" * (1 << 24)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "media_type", "quads"),
    [
        (b'<a:s> <a:p> "%s" .\n<a:s> <a:p> "y" .\n' % _TOO_LONG, "application/n-triples", 1),
        (b'<a:s> <a:p> "0" . <a:s> <a:p> "%s" , "y" .' % _TOO_LONG, "text/turtle", 2),
        (b'{"@id": "a:s", "a:p": ["%s", "y"]}' % _TOO_LONG, "application/ld+json", 1),
        (tarred(a_ttl=b'<a:s> <a:p> "%s" .' % _TOO_LONG, b_ttl=b"<a:s> <a:p> 1 ."), "", 1),
    ],
    ids=["N-Triples", "Turtle", "JSON-LD", "an archive"],
)
def test_what_nobody_could_read_again_is_left_out(body: bytes, media_type: str, quads: int) -> None:
    """Parsers and stores take lines of 16 MiB at most."""
    reading = read(body, "http://e.example/x", media_type)
    assert (reading.quads, reading.error_count) == (quads, 1)
    assert len(list(pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS))) == quads


def test_the_fuzzer_reads_good_documents_in_every_way() -> None:
    """Its own calls are right, so that what it finds is a fault of the readers."""
    script = Path(__file__).parents[2] / "scripts" / "rdf_fuzz.py"
    fuzzer = runpy.run_path(str(script))
    for number, document in enumerate(fuzzer["GOOD"]):
        fuzzer["try_all"](document, random.Random(number))
