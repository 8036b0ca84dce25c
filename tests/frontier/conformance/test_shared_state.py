"""What workers tell each other, and what a crawl keeps for its strategy."""

from __future__ import annotations

from frontier_calls import OpenFrontier


async def test_events_reach_the_other_workers_once_and_in_order(
    open_frontier: OpenFrontier,
) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    for n in range(5):
        await one.publish(b"one %d" % n)
        await two.publish(b"two %d" % n)
    assert await two.events(limit=6) == [b"one 0", b"one 1", b"one 2"]
    assert await two.events() == [b"one 3", b"one 4"]
    assert await two.events() == []
    assert await one.events() == [b"two %d" % n for n in range(5)]


async def test_a_worker_that_starts_again_hears_what_its_state_lacks(
    open_frontier: OpenFrontier,
) -> None:
    first, other = await open_frontier("w1"), await open_frontier("w2")
    await other.publish(b"learned")
    await first.events()
    await first.save("strategy", b"\x00state")
    await other.publish(b"missed")
    await first.publish(b"own")
    again = await open_frontier("w1")
    assert await again.load("strategy") == b"\x00state"
    assert await again.events() == [b"missed", b"own"]
    assert await again.load("nothing") is None
