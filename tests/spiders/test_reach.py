"""A folder that is given a wider scope takes in what was left out before."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import harvest

from semcrawl.config.scope import UrlPatterns
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.spiders.revisits import Reach
from spiders.site import handler, page

TURTLE = "text/turtle", b"<#it> <http://v.example/p> 1 ."
HERE = {
    "/": page("/sub/", "/x/a.ttl", "http://there.example/page/"),
    "/sub/": page("http://there.example/other/"),
    "/x/a.ttl": TURTLE,
}
THERE = {"/page/": page("/b.ttl"), "/other/": page("/c.ttl"), "/b.ttl": TURTLE, "/c.ttl": TURTLE}


@pytest.mark.parametrize(
    ("before", "now", "more"),
    [
        (("site", [], []), ("site", [], []), False),
        (("site", [], []), ("any", [], []), True),
        (("any", [], []), ("site", [], []), False),
        (("site", [], []), ("a.example", [], []), True),
        (("any", [], ["/x/*"]), ("any", [], []), True),
        (("any", [], []), ("any", [], ["/x/*"]), False),
        (("any", ["/a/*"], []), ("any", [], []), True),
        (("any", [], []), ("any", ["/a/*"], []), False),
        (("any", ["/a/*"], []), ("any", ["/a/*", "/b/*"], []), True),
    ],
)
def test_what_reaches_further(before: tuple, now: tuple, more: bool) -> None:
    first, second = (
        Reach.of(scope, UrlPatterns.parse(include, exclude))
        for scope, include, exclude in (before, now)
    )
    assert second.exceeds(first) is more
    assert Reach.load(first.dump()) == first


def test_what_nobody_left_is_the_default() -> None:
    for data in (None, b"", b"[]", b"\\xff", b'{"include": 1}'):
        assert Reach.load(data) == Reach()


@pytest.mark.slow
def test_a_finished_folder_with_a_wider_scope(tmp_path: Path) -> None:
    hosts = {"here.example": handler(HERE), "there.example": handler(THERE)}
    folder = tmp_path / "out"
    quick = ("-s", "SEMCRAWL_CRAWL_DELAY=0")
    with serve(DemoWeb(), handlers=hosts) as server:
        place = {"folder": folder, "proxy": server.proxy_url}
        first = harvest("http://here.example/", "--exclude", "/x/*", *quick, **place)
        assert first.documents() == {}
        second = harvest("--scope", "any", "--exclude", "/x/*", *quick, **place)
        there = {"http://there.example/b.ttl", "http://there.example/c.ttl"}
        assert set(second.documents()) == there, second.err
        third = harvest("--scope", "any", *quick, **place)
        assert set(third.documents()) == {*there, "http://here.example/x/a.ttl"}
        requests = third.summary["requests"]
        again = harvest("--scope", "any", *quick, **place)
    assert again.summary["requests"] == requests
    assert "nothing left to fetch" in again.out
    # each page once more for each time that the reach grew: 2, and then 4
    links = requests - sum(row["found_by"] in ("folder", "twin") for row in again.records)
    assert links == (2) + (2 + 2 + 2) + (4 + 1)
