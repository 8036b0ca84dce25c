"""Seen URLs stay seen, in a table that grows and in a Bloom filter."""

from __future__ import annotations

import pytest
from frontier_calls import OpenFrontier, Q, link, names


async def test_the_seen_set_keeps_every_url(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    urls = [link(str(n)) for n in range(5000)]
    for start in range(0, 5000, 500):
        assert all(await frontier.add(urls[start : start + 500]))
    assert not any(await frontier.add(urls))
    assert (await frontier.counts(Q, [])).seen == 5000
    assert await frontier.inspector.audit() == []


@pytest.mark.slow
async def test_a_large_seen_set_goes_on_in_a_bloom_filter(open_frontier: OpenFrontier) -> None:
    """All that is seen stays seen; waiting links can be rekeyed, done ones leave the table."""
    frontier = await open_frontier(exact_limit=100, seen_capacity=5000, seen_error=1e-4)
    entries = [link(f"{n:04}") for n in range(3000)]
    new = [flag for n in range(0, 3000, 100) for flag in await frontier.add(entries[n : n + 100])]
    assert sum(new) >= 2998
    assert not any(await frontier.add(entries))
    await frontier.rekey([(entries[2000], -2.0), (entries[50], -1.0)])
    leases = await frontier.take(2500, Q)
    assert names(leases[:3]) == ["2000", "0050", "0000"]
    await frontier.give_back(leases[:1])
    await frontier.end(leases[1:])
    counts = await frontier.counts(Q, [])
    assert counts.seen == sum(new)
    assert not any(await frontier.add(entries))
    assert await frontier.inspector.audit() == []


async def test_a_bloom_filters_size_is_fixed_when_the_crawl_begins(
    open_frontier: OpenFrontier,
) -> None:
    first = await open_frontier("w1", exact_limit=1, seen_capacity=1000)
    await first.add([link(str(n)) for n in range(50)])
    other = await open_frontier("w2", exact_limit=1, seen_capacity=10**9, seen_error=0.5)
    assert not any(await other.add([link(str(n)) for n in range(50)]))
