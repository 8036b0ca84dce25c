"""Quads beyond a limit are neither kept nor counted."""

from __future__ import annotations

import pytest

from semcrawl.rdf import ReadOptions, read

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
