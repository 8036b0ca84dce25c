"""Robots tags of pages and headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.web.robots import RobotsTags

ALL = RobotsTags(frozenset({"nofollow", "noarchive", "noindex"}))


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (["nofollow"], {"nofollow"}),
        (["NOFOLLOW , noarchive"], {"nofollow", "noarchive"}),
        (["none"], {"noindex", "nofollow"}),
        (["nocache"], {"noarchive"}),
        (["all", "index, follow"], set()),
        (["googlebot: nofollow"], set()),
        (["googlebot: noindex, nofollow"], set()),
        (["semcrawl: nofollow"], {"nofollow"}),
        (["SemCrawl: nofollow", "otherbot: noarchive"], {"nofollow"}),
        (["googlebot: noindex, semcrawl: noarchive"], {"noarchive"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST", "nofollow"], {"nofollow"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], {"nofollow"}),
        (["max-snippet: 20, noarchive"], {"noarchive"}),
        (["", ",,", ":"], set()),
    ],
)
def test_headers(headers: list[str], said: set[str]) -> None:
    assert ALL.said(headers) == said


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('<meta name="robots" content="nofollow">', {"nofollow"}),
        ('<META CONTENT="noindex, NOARCHIVE" NAME=Robots>', {"noindex", "noarchive"}),
        ('<meta name="semcrawl" content="none"/>', {"noindex", "nofollow"}),
        ('<meta name="googlebot" content="nofollow">', set()),
        ('<!-- <meta name="robots" content="nofollow"> -->', set()),
        ("<script>\"<meta name='robots' content='nofollow'>\"</script>", set()),
        ('</head><body><meta name="robots" content="nofollow">', set()),
        ('<p>robots</p><meta name="generator" content="nofollow">', set()),
        ('<meta name="robots">', set()),
    ],
)
def test_pages(page: str, said: set[str]) -> None:
    text = f"<!DOCTYPE html><html><head><title>x</title>{page}"
    assert ALL.said([], text.encode()) == said
    assert ALL.said([], text.encode("utf-16")) == said


def test_only_what_is_to_be_obeyed_counts() -> None:
    says = (["none, noarchive"], b'<meta name="robots" content="noindex">')
    assert RobotsTags().said(*says) == {"nofollow", "noarchive"}
    assert RobotsTags(frozenset()).said(*says) == frozenset()
    assert RobotsTags().keeps(RobotsTags().said(["noindex"]))
    assert not RobotsTags().keeps(RobotsTags().said(["noarchive"]))


def test_the_rel_of_a_link_counts_when_it_is_asked_for() -> None:
    assert not RobotsTags().passes_over("nofollow")
    obeying = RobotsTags.parse(["rel-nofollow"], "")
    assert obeying.passes_over("external NoFollow")
    assert not obeying.passes_over("alternate")


def test_the_setting_and_our_name() -> None:
    tags = RobotsTags.parse(["NoFollow", ""], "harvester/2.1 (+https://example.org)")
    assert tags == RobotsTags(frozenset({"nofollow"}), "harvester")
    with pytest.raises(UsageError, match="noodp"):
        RobotsTags.parse(["noodp"], "x")


@given(st.lists(st.text()), st.binary())
def test_anything_can_be_read(headers: list[str], body: bytes) -> None:
    ALL.said(headers, b"<html><meta name=robots " + body)
