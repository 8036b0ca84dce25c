"""Crawls side by side on one server."""

from __future__ import annotations

from frontier_calls import OpenFrontier, Q, link, names, outcomes_of_others


async def test_two_crawls_never_touch_each_other(open_frontier: OpenFrontier, prefix: str) -> None:
    one = await open_frontier(concurrency=1)
    two = await open_frontier(concurrency=1, prefix=prefix + "b")
    await one.add([link("1"), link("2")])
    await one.set_values({"g": 5.0})
    assert await two.take(1, Q) == []
    assert await two.add([link("1")]) == [True]
    assert names(await one.take(9, Q)) == names(await two.take(9, Q)) == ["1"]
    await two.shared.exchange(b"event", limit=0)
    await two.shared.save_state("s", b"x")
    assert await outcomes_of_others(one) == []
    assert await one.shared.load_state("s") is None
    await two.close()
    assert (await one.counts(Q, [])).leased == 1
