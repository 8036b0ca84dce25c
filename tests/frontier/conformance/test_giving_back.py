"""Links that are given back, with a change or a delay, and links that failed."""

from __future__ import annotations

import dataclasses
import time

from frontier_calls import OpenFrontier, Q, eventually, link, names


async def test_given_back_links_may_be_changed(open_frontier: OpenFrontier) -> None:
    """Payload, group and key; the place among equals stays."""
    frontier = await open_frontier()
    await frontier.add([link("1", label="R"), link("2", label="R")])
    (lease,) = await frontier.take(1, Q)
    entry = dataclasses.replace(lease.entry, payload={"retry": 1}, label="H")
    await frontier.give_back([dataclasses.replace(lease, entry=entry)])
    assert (await frontier.counts(Q, [])).waiting_by_label == {"R": 1, "H": 1}
    again, _ = await frontier.take(2, Q)
    assert (again.entry, again.tries) == (entry, 1)
    moved = dataclasses.replace(again.entry, group="later", key=3.0)
    await frontier.give_back([dataclasses.replace(again, entry=moved)])
    await frontier.rekey([(moved, 4.0)])
    (last,) = await frontier.take(1, Q)
    assert last.entry == dataclasses.replace(moved, key=4.0)
    assert await frontier.inspector.audit() == []


async def test_given_back_with_a_delay_waits_that_long(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.add([link("1", label="R")])
    leases = await frontier.take(1, Q)
    began = time.monotonic()
    await frontier.give_back(leases, delay=0.15)
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.leased, counts.waiting_by_label) == (1, 0, {"R": 1})
    assert 0 < (await frontier.next_ready(Q) or 0) <= 0.15
    leases = await eventually(lambda: frontier.take(1, Q))
    assert time.monotonic() - began >= 0.15
    assert leases[0].tries == 1
    assert await frontier.inspector.audit() == []


async def test_failed_links_are_finished_and_can_be_put_in_again(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(max_failed=2)
    await frontier.add([link(str(n), label="R") for n in range(4)])
    await frontier.end(await frontier.take(3, Q), failed=True)
    await frontier.end(await frontier.take(1, Q))
    assert (await frontier.counts(Q, [])).finished
    assert await frontier.requeue(Q) == 2
    assert (await frontier.counts(Q, [])).waiting_by_label == {"R": 2}
    leases = await frontier.take(9, Q)
    assert sorted(names(leases)) == ["0", "1"]
    assert [lease.tries for lease in leases] == [0, 0]
    assert await frontier.requeue(Q) == 0
