"""Hosts that are down: their links wait, one at a time asks, and at last they are set aside."""

from __future__ import annotations

from typing import Any

import pytest
from frontier_calls import OpenFrontier, Q, eventually, link, names

WAITS: dict[str, Any] = {"step": 0.1, "patience": 60.0, "untried_patience": 30.0}


@pytest.mark.slow
async def test_a_host_that_is_down_gives_one_link_after_each_rest(
    open_frontier: OpenFrontier,
) -> None:
    """Whoever asks; rests get longer; what is told while it rests changes nothing."""
    one, two = await open_frontier("w1"), await open_frontier("w2")
    await one.add([link(str(n), host=h) for n in range(4) for h in ("a.example", "b.example")])
    first = await one.pace.down("a.example", "silent", **WAITS)
    assert not first.over
    again = await two.pace.down("a.example", "silent", **WAITS)
    assert again.seconds <= first.seconds <= 0.1
    taken = await one.take(9, Q)
    assert {lease.entry.host for lease in taken} == {"b.example"}
    assert not any(lease.probe for lease in taken)
    await one.end(taken)
    [probe] = await eventually(lambda: two.take(9, Q))
    assert probe.probe
    assert await one.take(9, Q) == []
    longer = await two.pace.down("a.example", "other", **WAITS)
    assert 0.1 < longer.seconds <= 0.2
    assert longer.why == "silent"
    await two.give_back([probe])
    assert await one.take(9, Q) == []
    assert 0 < (await one.next_ready(Q) or 0) <= 0.2
    [probe] = await eventually(lambda: one.take(9, Q))
    left, down_for = await one.pace.up("a.example", step=0.1, good="http://a.example/0")
    assert left > 0
    assert down_for > 0.1
    assert len(await two.take(9, Q)) == 3
    assert await one.inspector.audit() == []


@pytest.mark.slow
async def test_the_next_rest_is_shorter_the_more_was_answered(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    pace, waits = frontier.pace, WAITS | {"step": 0.05}
    await frontier.add([link("1")])
    for _ in range(3):
        await pace.down("a.example", "silent", **waits)
        await frontier.give_back(await eventually(lambda: frontier.take(1, Q)))
    assert round((await pace.up("a.example", step=0.05))[0], 3) == 0.1
    assert round((await pace.up("a.example", step=0.05))[0], 3) == 0.05
    rest = await pace.down("a.example", "silent", **waits)
    assert 0.05 < rest.seconds <= 0.1
    await pace.up("a.example", step=0.1)
    assert (await pace.up("a.example", step=0.1)) == (0.0, 0.0)


async def test_the_links_of_a_host_are_set_aside_in_one_go_and_come_back_by_requeue(
    open_frontier: OpenFrontier,
) -> None:
    """Those of groups of its own, of groups that it shares, and retries that wait for their time.

    Those of other hosts stay.
    """
    frontier = await open_frontier(concurrency=2)
    hosts = ("a.example", "b.example")
    await frontier.add([link(f"s{n}", host=h, group="shared") for n in range(5) for h in hosts])
    await frontier.add([link(f"o{n}", group="own") for n in range(3)])
    await frontier.add([link(f"r{n}", queue="rdf", group="shared") for n in range(2)])
    leases = await frontier.take(4, Q)  # a.example is busy, and parked
    mine = [lease for lease in leases if lease.entry.host == "a.example"]
    await frontier.give_back(mine[:1], delay=100.0)
    await frontier.take(9, Q)
    aside = await frontier.pace.set_aside("a.example")
    assert len(mine) == 2
    assert len(aside) == 10 - 2 + 1 - 1  # taken, given back, taken in its place
    assert {entry.entry.host for entry in aside} == {"a.example"}
    assert await frontier.inspector.audit() == []
    left = (await frontier.counts(["html", "rdf"], [])).waiting
    assert await frontier.pace.set_aside("a.example") == []
    assert await frontier.requeue(["html", "rdf"]) == len(aside)
    assert (await frontier.counts(["html", "rdf"], [])).waiting == left + len(aside)
    assert await frontier.inspector.audit() == []


async def test_a_host_has_as_long_as_the_options_say(open_frontier: OpenFrontier) -> None:
    """The longer if it gave something before; not while our own network is away."""
    frontier = await open_frontier()
    await frontier.add([link("1")])
    limits: dict[str, Any] = {"step": 0.05, "patience": 60.0, "untried_patience": 0.0}
    assert (await frontier.pace.down("a.example", "silent", **limits)).over
    await frontier.pace.up("a.example", step=1.0, good="http://a.example/")
    assert (await frontier.pace.known("a.example")).good == "http://a.example/"
    rest = await frontier.pace.down("a.example", "silent", **limits)
    assert not rest.over
    assert rest.good == "http://a.example/"
    assert (await frontier.pace.known("a.example")).down == "silent"
    [probe] = await eventually(lambda: frontier.take(9, Q))
    assert names([probe]) == ["1"]
    endless = limits | {"patience": float("inf"), "untried_patience": float("inf")}
    assert not (await frontier.pace.down("b.example", "silent", **endless)).over
