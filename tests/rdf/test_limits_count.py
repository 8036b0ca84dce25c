"""Quads beyond a limit are neither kept nor counted."""

from __future__ import annotations

import io

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
    assert 2**23 < len(reading.nquads) < 2**25


def test_graph_names_do_not_count_as_growth() -> None:
    body = b"<a> <p> ( " + b"0 " * 40_000 + b") ."
    reading = read(body, URL + "?" + "q" * 1000, "text/turtle")
    assert (reading.quads, reading.errors) == (80_001, [])
    assert reading.spool is not None
    assert reading.spool.stat().st_size > 2**24
    reading.spool.unlink()
