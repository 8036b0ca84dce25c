"""Patterns of addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from semcrawl.config.scope import UrlPattern, UrlPatterns
from semcrawl.errors import UsageError

URL = "https://data.example.org/food/list.ttl?page=2"


@pytest.mark.parametrize(
    ("pattern", "holds"),
    [
        ("/food/*", True),
        ("/food/", False),
        ("/food/list.ttl?page=2", True),
        ("/food/list.ttl?page=?", False),
        ("/*/list.*", True),
        ("/list.*", False),
        ("*.ttl", False),
        ("*.ttl*", True),
        ("data.example.org/food/*", True),
        ("Data.Example.org/food/*", True),
        ("*.example.org/*", True),
        ("example.org/*", False),
        ("https://*", True),
        ("http://*", False),
        ("https://data.example.org/food/list.ttl?page=2", True),
        ("*", True),
        (r"re:\.ttl\?page=\d+$", True),
        (r"re:^https://[a-z]{1,4}\.example", True),
        (r"re:/Food/", False),
        (r"re:(?i)/Food/", True),
    ],
)
def test_a_pattern(pattern: str, holds: bool) -> None:
    assert UrlPattern.parse(pattern).holds(URL) is holds


def test_one_must_include_and_none_exclude() -> None:
    assert UrlPatterns().allow(URL)
    assert not UrlPatterns()
    assert UrlPatterns.parse(["/x/*", "/food/*"], []).allow(URL)
    assert not UrlPatterns.parse(["/x/*"], []).allow(URL)
    assert not UrlPatterns.parse([], ["/x/*", "*page=*"]).allow(URL)
    assert not UrlPatterns.parse(["/food/*"], ["*page=*"]).allow(URL)


@pytest.mark.parametrize("wrong", ["", "  ", "re:(", "re:[a"])
def test_what_is_no_pattern(wrong: str) -> None:
    with pytest.raises(UsageError):
        UrlPattern.parse(wrong)


@pytest.mark.parametrize(
    ("value", "patterns"),
    [
        ("/a/*,/b/*", ["/a/*", "/b/*"]),
        (["/a/*"], ["/a/*"]),
        ('["re:x{1,2}", "/a"]', ["re:x{1,2}", "/a"]),
        ("re:x{1,2}", ["re:x{1,2}"]),
        ("", []),
    ],
)
def test_settings(value: object, patterns: list[str]) -> None:
    found = UrlPatterns.from_settings(Settings({"SEMCRAWL_EXCLUDE": value}))
    assert [pattern.text for pattern in found.exclude] == patterns
    with pytest.raises(UsageError, match="SEMCRAWL_INCLUDE"):
        UrlPatterns.from_settings(Settings({"SEMCRAWL_INCLUDE": "[1"}))


@given(st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=1))
def test_what_has_no_star_stands_for_itself(path: str) -> None:
    path = "/" + path.strip().replace("/", "")
    assert UrlPattern.parse(path).holds("http://a.example" + path)
    assert not UrlPattern.parse(path).holds("http://a.example" + path + "x")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("www.w3.org", ""),
        ("www.w3.org:80", ""),
        ("ftp://a.example/*", ""),
        ("*/page#part", ""),
        ("www.w3.org/", "http://www.w3.org/"),
        ("www.w3.org*", "http://www.w3.org/x"),
        ("*.w3.org/x/*", "http://www.w3.org/x/y"),
        ("http://www.w3.org", "http://www.w3.org/"),
        ("/data/*", "http://a.example/data/x"),
        ("host:www.w3.org", "http://www.w3.org/x"),
        ("re:w3", "http://w3.org/"),
    ],
)
def test_a_pattern_has_a_fault_only_if_it_can_match_nothing(text: str, url: str) -> None:
    pattern = UrlPattern.parse(text)
    assert bool(pattern.fault) != bool(url)
    assert not url or pattern.holds(url)
