"""``srcset`` is read as browsers read it, and nonsense is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.images.places import candidates, largest


@pytest.mark.parametrize(
    ("srcset", "address"),
    [
        ("a.png", "a.png"),
        ("a.png 1x, b.png 2x", "b.png"),
        ("a.png 640w, b.png 320w", "a.png"),
        ("a.png 320w,b.png 640w", "b.png"),
        ("a.png, b.png 1.5x", "b.png"),
        ("a,b.png 100w, c.png 50w", "a,b.png"),
        ("data:image/png;base64,AAAA 3x, b.png 1x", "b.png"),
        ("a.png 100w 50h, b.png 20w", "a.png"),
        (" , ,a.png 2x ,", "a.png"),
        # nonsense
        ("", ""),
        (",,, ,", ""),
        ("a.png wide", ""),
        ("a.png 0w", ""),
        ("a.png 1w 2x, b.png 1x", "b.png"),
        ("a.png -2x, b.png", "b.png"),
        ("a.png (1x, 2x) 3x, b.png 1x", "b.png"),
        ("a.png 1x 2x", "a.png"),
    ],
)
def test_the_largest_candidate_is_taken(srcset: str, address: str) -> None:
    assert largest(srcset) == address


@given(st.text(alphabet="ab., 12wxh()\n:data", max_size=200))
def test_anything_gives_addresses_that_stand_there(srcset: str) -> None:
    for url, size in candidates(srcset):
        assert url in srcset
        assert " " not in url
        assert size > 0


def test_very_long_attributes_are_read_in_part() -> None:
    assert len(candidates("a.png 1x, " * 100_000)) == 100
