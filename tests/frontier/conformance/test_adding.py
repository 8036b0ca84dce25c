"""Added links come back once, and unchanged."""

from __future__ import annotations

import math

import pytest
from frontier_calls import OpenFrontier, Q, drain, link

from semcrawl.frontier import Entry


async def test_a_link_comes_back_as_it_was_put_in(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    entries = [
        Entry("http://a.example/x", "a.example", "html", "g", 1.5, {"depth": 3}, "HR", 2),
        Entry("https://a.example:8443/é?q=1", "a.example:8443", "html", "ü/|:g", -2.25),
        Entry("http://www.pld.example/", "pld.example", "rdf", "", 0.1, {"p": b"\xff", "l": [1]}),
        Entry("http://c.example/\udc80", "c.example", "rdf", "g", 1e-300, {}, "N"),
        Entry("http://d.example/x/y", "d.example", "rdf", "g", 0, {"p": "http://d.example/x/é"}),
        Entry("http://d.example/" + "x" * 300, "d.example", "rdf", "g", 0, {"p": "http://d.e"}),
        Entry("http://e.example/", "e.example", "rdf", "g", 0, {"p": "http://e.example/" * 30}),
    ]
    assert await frontier.add(entries) == [True] * len(entries)
    leases = await frontier.take(10, ["html", "rdf"])
    assert sorted((lease.entry for lease in leases), key=repr) == sorted(entries, key=repr)
    assert await frontier.inspector.audit() == []


async def test_a_link_is_added_once(open_frontier: OpenFrontier) -> None:
    """Neither twice in a batch, nor again while it waits, is leased, or is done."""
    frontier = await open_frontier()
    assert await frontier.add([link("1"), link("2"), link("1", group="h")]) == [True, True, False]
    assert await frontier.add([link("2"), link("3")]) == [False, True]
    leases = await frontier.take(1, Q)
    assert await frontier.add([leases[0].entry]) == [False]
    await frontier.end(leases)
    assert await frontier.add([leases[0].entry]) == [False]
    assert await drain(frontier) == ["2", "3"]
    assert await frontier.add([]) == []


@pytest.mark.parametrize(
    "entry",
    [
        link("1", queue="a:b"),
        link("1", queue=""),
        link("1", host="a/b"),
        link("1", host=""),
        link("1", key=math.nan),
        link("1", key=math.inf),
        link("1", label="x" * 256),
    ],
)
async def test_a_link_that_cannot_be_kept_is_refused(
    open_frontier: OpenFrontier, entry: Entry
) -> None:
    frontier = await open_frontier()
    with pytest.raises(ValueError, match=r".+"):
        await frontier.add([link("0"), entry])
    assert (await frontier.counts(Q, [])).waiting == 0
