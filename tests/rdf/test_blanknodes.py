"""The names of blank nodes, whatever the document calls them."""

from __future__ import annotations

import pytest

from semcrawl.rdf import read

URL = "http://example.org/doc"


def labels(body: str, media: str = "text/turtle") -> list[str]:
    """Return the blank nodes' labels behind the document's hash, as subjects and objects."""
    reading = read(body.encode(), URL, media)
    assert not reading.errors
    return [
        term[23:]  # _:b and the hash
        for line in reading.nquads.decode().splitlines()
        for term in line.split(" ")
        if term.startswith("_:b")
    ]


@pytest.mark.parametrize(
    "other", ["", "_:x <http://a/p> 1 .", '<http://a/> <http://a/p> "_:x y" .']
)
@pytest.mark.parametrize("size", range(17, 41))
def test_labels_of_every_length_are_named(size: int, other: str) -> None:
    """Those that look like the parser's names for nodes without a label are taken for such."""
    label = ("abc" + "0123456789" * 4)[:size]
    named = labels(f"_:{label} <http://a/p> [] . {other}\n_:{label} <http://a/q> _:g{label} .")
    mine = "n0" if 20 <= size <= 32 else f"x{label}"
    mines = [name for name in named if name != "xx"]
    assert mines == [mine, "n1" if mine == "n0" else "n0", mine, f"xg{label}"]


def test_labels_that_differ_in_their_ends_only_are_different_nodes() -> None:
    names = [f"{'a' * 31}{digit}" for digit in "0123"]
    body = "".join(f"_:{name} <http://a/p> _:{name} .\n" for name in names)
    assert labels(body) == [f"n{rank}" for rank in range(4) for _ in "so"]


def test_ranks_go_on_over_all_of_a_large_document() -> None:
    count = 12_000  # several pieces, and ranks of one digit to five
    body = "".join(
        f"<http://a/{'x' * 200}> <http://a/p> [ <http://a/q> {n} ] .\n" for n in range(count)
    )
    assert labels(body) == [f"n{rank}" for rank in range(count) for _ in "os"]


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (r'[] <http://a/p> "\u0000\u0001\u0002" .', "text/turtle"),
        (r'[] <http://a/p> "\u0000\u0001\u0002" .', "application/trig"),
        (r'_:a <http://a/p> "\u0000\u0001\u0002" .', "application/n-triples"),
        (r'{"http://a/p": "\u0000\u0001\u0002"}', "application/ld+json"),
    ],
)  # fmt: skip
def test_control_characters_are_kept_beside_blank_nodes(body: str, media: str) -> None:
    reading = read(body.encode(), URL, media)
    assert reading.quads == 1
    assert reading.nquads.endswith(
        rb' <http://a/p> "\u0000\u0001\u0002" <http://example.org/doc> .' + b"\n"
    )
