"""Dates of sitemaps, which workers of a re-visit tell each other by the frontier."""

from __future__ import annotations

import pytest
from frontier_calls import OpenFrontier

from semcrawl.crawl.shareddates import SharedDates
from semcrawl.errors import FrontierCorrupt
from semcrawl.sources.sitemaps import keyed


async def test_each_worker_hears_once_what_the_others_read(open_frontier: OpenFrontier) -> None:
    first, second = [SharedDates((await open_frontier(name)).shared) for name in ("w1", "w2")]
    one, many = {"http://a.example/": 7}, {f"http://a.example/{n}": n for n in range(70_000)}
    await first.add("http://a.example/1.xml", keyed(one))
    assert await second.news() == list(keyed(one))
    await second.add("http://a.example/2.xml", keyed(many))
    assert await second.news() == []
    assert await first.news() == list(keyed(many))
    assert await first.news() == []


async def test_what_was_said_before_a_re_visit_is_forgotten(open_frontier: OpenFrontier) -> None:
    dates = SharedDates((await open_frontier("w1")).shared)
    await dates.add("http://a.example/1.xml", keyed({"http://a.example/": 7}))
    later = SharedDates((await open_frontier("w2")).shared)
    await later.forget()
    assert await later.news() == []


async def test_dates_that_are_cut_off_are_told_of(open_frontier: OpenFrontier) -> None:
    blobs = (await open_frontier("w1")).shared
    dates = SharedDates(blobs)
    await dates.add("http://a.example/1.xml", keyed({"http://a.example/": 7}))
    (name,) = (await blobs.get("lastmods") or b"").decode().split()
    await blobs.put(f"lastmods:{name}", b"short")
    with pytest.raises(FrontierCorrupt, match="holds no dates"):
        await SharedDates(blobs).news()
