"""Blank nodes as Skolem IRIs."""

from __future__ import annotations

import pytest

from semcrawl.rdf import ReadOptions, read

URL = "http://example.org/doc"
BASE = "https://here.example/.well-known/genid/100%25"
OPTIONS = ReadOptions(skolem_base=f"{BASE}/")


@pytest.mark.parametrize(
    ("body", "media"),
    [
        ('_:a <http://a/p> _:b .\n_:b <http://a/p> "_:a > _:b" .\n', "application/n-triples"),
        (
            '_:a <http://a/p> _:b <http://a/g> .\n_:b <http://a/p> "_:a" _:g .\n',
            "application/n-quads",
        ),
        ('[] <http://a/p> [ <http://a/p> "_:a > _:b" ] .', "text/turtle"),
        ('_:a <http://a/p> [ <http://a/p> "_:a > _:b" ] .', "text/turtle"),
        ('_:g { [] <http://a/p> [ <http://a/p> "x" ] }', "application/trig"),
        ('{"http://a/p": {"http://a/p": "_:a > _:b"}}', "application/ld+json"),
    ],
)
def test_no_blank_node_is_left_and_literals_are_untouched(body: str, media: str) -> None:
    skolem, plain = (
        read(body.encode(), URL, media, options) for options in (OPTIONS, ReadOptions())
    )
    assert skolem.errors == plain.errors == []
    assert skolem.quads == plain.quads == 2
    for one, other in zip(
        skolem.nquads.decode().splitlines(), plain.nquads.decode().splitlines(), strict=True
    ):
        # the same lines, each node with an IRI in its place
        terms = [
            f"<{BASE}/{t[2:]}>" if t.startswith("_:b") and len(t) > 20 else t
            for t in other.split(" ")
        ]
        assert one == " ".join(terms)
    assert skolem.nquads == read(body.encode(), URL, media, OPTIONS).nquads
    assert f"<{BASE}/b".encode() in skolem.nquads


def test_names_that_we_gave_are_no_links() -> None:
    """A crawl must not ask for them; other addresses under the same base are links like any."""
    options = ReadOptions(skolem_base="http://example.org/")
    body = b"[] <http://a/p> [ <http://a/p> <http://example.org/blog> ], <http://a/o> ."
    reading = read(body, URL, "text/turtle", options)
    assert b"<http://example.org/b" in reading.nquads.replace(b"<http://example.org/blog>", b"")
    assert {link.iri for link in reading.links} == {"http://example.org/blog", "http://a/o"}
