"""Counts of links, the time of the next one, and the end of a crawl."""

from __future__ import annotations

from frontier_calls import OpenFrontier, Q, eventually, link


async def test_counts_tell_what_is_there(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=2)
    await frontier.add(
        [link(str(n), host=f"h{n % 3}.example", label="RH"[n % 2]) for n in range(9)]
    )
    await frontier.add([link("x", queue="rdf", host="r.example", label="R")])
    await frontier.take(2, Q)
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.leased, counts.seen, counts.hosts) == (7, 2, 10, 3)
    assert counts.waiting_by_label == {"R": 4, "H": 3}
    assert (await frontier.counts(["html", "rdf"], [])).waiting_by_label == {"R": 5, "H": 3}


async def test_next_ready_tells_when_to_ask_again(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=1, delay=5.0, poll=0.5)
    assert await frontier.next_ready(Q) is None
    await frontier.add([link("1"), link("2")])
    assert await frontier.next_ready(Q) == 0
    assert await frontier.next_ready(["rdf"]) is None
    leases = await frontier.take(1, Q)
    assert 0 < (await frontier.next_ready(Q) or 0) <= 0.5
    await frontier.started(leases)
    await frontier.end(leases)
    assert 4.5 < (await frontier.next_ready(Q) or 0) <= 5


async def test_finished_is_when_nothing_waits_is_leased_or_is_to_seed(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    frontier = await open_frontier()
    seeds = prefix + ":start_urls"

    async def finished() -> bool:
        return (await frontier.counts(Q, [seeds])).finished

    assert await finished()
    await frontier.shared.push_seeds(seeds, ["http://a.example/"])
    assert not await finished()
    taken = await frontier.shared.take_seeds(seeds, 10)
    assert not await finished()
    await frontier.add([link("1")])
    await frontier.shared.done_seeds(seeds, taken)
    assert not await finished()
    leases = await frontier.take(1, Q)
    assert not await finished()
    await frontier.give_back(leases, delay=0.01)
    assert not await finished()
    leases = await eventually(lambda: frontier.take(1, Q))
    await frontier.end(leases)
    assert await finished()
