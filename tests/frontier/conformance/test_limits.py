"""Links that are dropped: ends of barren paths, and those beyond the limit."""

from __future__ import annotations

from frontier_calls import OpenFrontier, Q, drain, link


async def test_paths_without_targets_end(open_frontier: OpenFrontier) -> None:
    """BioCrawler's dynamic depth; the same link may still come by a better path."""
    frontier = await open_frontier(dynamic_depth=3)
    assert await frontier.add([link("1", barren=2), link("2", barren=3)]) == [True, False]
    assert await frontier.add([link("2", barren=0)]) == [True]
    leases = await frontier.take(9, Q)
    assert [lease.entry.barren for lease in leases] == [2, 0]


async def test_a_full_frontier_drops_its_worst_links(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(max_waiting=6)
    await frontier.set_values({"good": 2.0, "shared": 1.0})
    await frontier.add([link(f"bad{n}", group="bad", key=n) for n in range(4)])
    await frontier.add([link(f"s{n}", group="shared", host=f"h{n}.example") for n in range(4)])
    assert (await frontier.counts(Q, [])).waiting == 6
    assert await frontier.inspector.audit() == []
    await frontier.add([link(f"good{n}", group="good") for n in range(5)])
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.dropped, counts.seen) == (6, 7, 13)
    assert await drain(frontier) == [f"good{n}" for n in range(5)] + ["s0"]


async def test_a_full_frontier_stays_full(open_frontier: OpenFrontier) -> None:
    """A dropped link of any label leaves the sums, too: the next page drops no more."""
    frontier = await open_frontier(max_waiting=6)
    for page in range(5):
        links = [link(f"{page}-{n}", label="HR" if n % 2 else "H") for n in range(4)]
        await frontier.add(links)
    counts = await frontier.counts(Q, [])
    assert counts.waiting == sum(counts.waiting_by_label.values()) == 6
    assert counts.dropped == 14
    assert await frontier.inspector.audit() == []
    assert len(await frontier.take(20, Q)) == 6


async def test_a_full_frontier_drops_the_last_of_a_long_queue(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(max_waiting=150)
    await frontier.add([link(f"{n:03}") for n in range(400)])
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.dropped) == (150, 250)
    leases = await frontier.take(200, Q)
    assert [lease.entry.url[-3:] for lease in leases] == [f"{n:03}" for n in range(150)]
    assert await frontier.inspector.audit() == []
