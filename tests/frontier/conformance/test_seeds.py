"""Seeds are taken like links: kept until done, and given back."""

from __future__ import annotations

from frontier_calls import OpenFrontier, eventually


async def test_seeds_are_taken_in_order_and_kept_until_done(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    crashed, other = await open_frontier("w1", lease_time=0.05), await open_frontier("w2")
    key = prefix + ":start_urls"
    seeds = ["http://a.example/", '{"url": "http://b.example/"}', "http://c.example/\udcff"]
    await crashed.shared.push_seeds(key, seeds)
    assert await crashed.shared.take_seeds(key, 2) == seeds[:2]
    await crashed.shared.done_seeds(key, seeds[:1])
    assert await other.shared.take_seeds(key, 9) == seeds[2:]
    back = await eventually(lambda: other.shared.take_seeds(key, 9))
    assert back == seeds[1:2]
    await other.shared.done_seeds(key, seeds)
    assert (await other.counts([], [key])).seeds == 0


async def test_seeds_of_a_worker_that_is_restarted_come_back_at_once(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    """Its former life ended between taking and planting; what others have taken stays theirs."""
    crashed, other = await open_frontier("w1"), await open_frontier("w2")
    key = prefix + ":start_urls"
    await crashed.shared.push_seeds(key, ["http://a.example/", "http://b.example/"])
    assert await crashed.shared.take_seeds(key, 1) == ["http://a.example/"]
    assert await other.shared.take_seeds(key, 1) == ["http://b.example/"]
    again = await open_frontier("w1")
    assert await again.shared.take_seeds(key, 9) == ["http://a.example/"]
    await again.shared.done_seeds(key, ["http://a.example/", "http://b.example/"])
    assert (await again.counts([], [key])).seeds == 1
