"""Events between workers, and a crawl's state for its strategy."""

from __future__ import annotations

from frontier_calls import OpenFrontier, outcomes_of_others


async def test_events_reach_the_other_workers_once_and_in_order(
    open_frontier: OpenFrontier,
) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    for n in range(5):
        await one.shared.exchange(b"one %d" % n, limit=0)
        await two.shared.exchange(b"two %d" % n, limit=0)
    assert await outcomes_of_others(two, limit=6) == [b"one 0", b"one 1", b"one 2"]
    assert await outcomes_of_others(two) == [b"one 3", b"one 4"]
    assert await outcomes_of_others(two) == []
    assert await outcomes_of_others(one) == [b"two %d" % n for n in range(5)]


async def test_a_worker_that_starts_again_hears_what_its_state_lacks(
    open_frontier: OpenFrontier,
) -> None:
    first, other = await open_frontier("w1"), await open_frontier("w2")
    await other.shared.exchange(b"learned", limit=0)
    await outcomes_of_others(first)
    await first.shared.save_state("strategy", b"\x00state")
    await other.shared.exchange(b"missed", limit=0)
    await first.shared.exchange(b"own", limit=0)
    again = await open_frontier("w1")
    assert await again.shared.load_state("strategy") == b"\x00state"
    assert await outcomes_of_others(again) == [b"missed", b"own"]
    assert await again.shared.load_state("nothing") is None
