"""Long lists of links: shapes, turns, pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.links import FoundBy, Link
from semcrawl.sources import CHUNK, Listing, UntriedShapes, arrange, turn
from semcrawl.sources.listing import has_shape

PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "x1", "x22", "data.ttl"]), max_size=3).map("/".join),
    max_size=60,
)


def links(*paths: str) -> list[Link]:
    return [Link(f"http://a.example/{path}", element="sitemap") for path in paths]


@given(PATHS, st.integers(1, 5))
def test_every_link_is_on_one_shelf(paths: list[str], most: int) -> None:
    given_links = links(*paths)
    shelves = arrange(given_links, most)
    assert sorted(link.url for s in shelves for link in s.links) == sorted(
        link.url for link in given_links
    )


@given(PATHS)
def test_an_address_has_the_shape_of_its_shelf(paths: list[str]) -> None:
    for shelf in arrange(links(*paths)):
        assert all(has_shape(link.url, shelf.shape) for link in shelf.links)


def test_names_are_one_shape_and_places_several() -> None:
    paths = [f"people/{chr(97 + i)}-x" for i in range(9)] + [
        f"records/{i}/export" for i in range(9)
    ]
    assert [len(shelf.links) for shelf in arrange(links(*paths))] == [9, 9]


def test_there_are_no_more_shapes_than_wanted() -> None:
    paths = [f"{chr(97 + i % 20)}/{chr(97 + i // 20)}/p" for i in range(400)]
    assert 1 <= len(arrange(links(*paths), 10)) <= 10


def test_every_batch_is_spread_over_the_list() -> None:
    (shelf,) = arrange(links(*map(str, range(1000))))
    places = [int(link.url.rpartition("/")[2]) for link in shelf.links[:32]]
    assert max(places) > 900


def test_turns_follow_each_other_and_double() -> None:
    assert [turn(n) for n in range(3)] == [(0, 4), (4, 12), (12, 28)]


LINKS = st.builds(
    Link, st.just("http://a.example/x"), st.sampled_from(["a", "sitemap"]), st.text(max_size=9),
    cues=st.text(max_size=9), found_by=st.sampled_from(FoundBy),
)  # fmt: skip


@given(st.lists(LINKS, max_size=5))
def test_a_piece_comes_back_as_it_was(some: list[Link]) -> None:
    listing = Listing("http://a.example/sitemap.xml", 1, some)
    assert Listing.unpack(listing.pack()) == listing


@given(st.binary(max_size=60))
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no list of links"):
        Listing.unpack(data)


def test_a_long_shelf_has_several_pieces() -> None:
    (shelf,) = arrange(links(*map(str, range(CHUNK + 1))))
    assert [len(piece) for piece in shelf.chunks()] == [CHUNK, 1]


def test_a_shape_that_something_else_led_to_is_not_tried() -> None:
    shapes = UntriedShapes()
    paths = [f"{folder}/{i}" for folder in ("seen", "new") for i in range(60)]
    shapes.add("list", "http://a.example/sitemap.xml", arrange(links(*paths)))
    tried = [shapes.note("http://a.example/seen/9") for _ in range(9)]
    assert [each for each in tried if each] == [("list", 1)]
