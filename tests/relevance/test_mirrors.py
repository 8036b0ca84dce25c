"""Names of what hosts give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.withholding import body_name, name_of, parts


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("http://a.example/x?y=1", "http://a.example", "/x?y=1"),
        ("https://a.example:8443/", "https://a.example:8443", "/"),
        ("http://a.example", "http://a.example", ""),
    ],
)
def test_an_url_is_its_origin_and_its_path(url: str, origin: str, path: str) -> None:
    assert parts(url) == (origin, path)


@given(st.text(alphabet="abc/?=&%é", max_size=20))
def test_the_path_is_the_same_on_every_host(rest: str) -> None:
    found = {
        parts(f"{origin}/{rest}")[1] for origin in ("http://a.example", "https://www.b.example")
    }
    assert found == {f"/{rest}"}


@given(st.text(), st.binary(min_size=32, max_size=32))
def test_names_have_eight_characters(text: str, digest: bytes) -> None:
    assert len(name_of(text)) == len(body_name(digest.hex())) == 8
