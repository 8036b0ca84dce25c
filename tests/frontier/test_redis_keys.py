"""How the frontier lies on Redis: which keys there are, and how large they grow."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from frontier_calls import Q, link, names

from semcrawl.frontier import FrontierOptions, RedisFrontier
from semcrawl.frontier.redis.localserver import RedisServer


@pytest.fixture
async def frontier(
    redis_server: RedisServer, prefix: str, request: pytest.FixtureRequest
) -> AsyncIterator[RedisFrontier]:
    """A frontier whose crawl's name is odd, with the options that its ``param`` names."""
    options: dict[str, Any] = {"delay": 0.0, "concurrency": 1000, **getattr(request, "param", {})}
    async with RedisFrontier(
        str(redis_server.socket),
        prefix=prefix + " 50%d%%s",
        worker_id="w1",
        options=FrontierOptions(**options),
    ) as frontier:
        yield frontier


async def sizes(frontier: RedisFrontier) -> list[int]:
    redis = frontier.client
    return [await redis.hlen(key) async for key in redis.scan_iter(frontier.keys["seen:*"])]


@pytest.mark.slow
async def test_the_seen_set_grows_by_buckets_that_stay_small(
    frontier: RedisFrontier,
) -> None:
    """Each digest is in its bucket, with the place of its link; whatever the crawl's name."""
    entries = [link(f"{n:04}") for n in range(2000)]
    for start in range(0, 2000, 40):
        assert all(await frontier.add(entries[start : start + 40]))
        assert not any(await frontier.add(entries[: start + 40]))
    buckets = await sizes(frontier)
    assert sum(buckets) == 2000
    assert len(buckets) > 60
    assert max(buckets) < 128
    assert await frontier.inspector.audit() == []
    await frontier.rekey([(entry, -1.0) for entry in entries[1::2]])
    leases = await frontier.take(1000, Q)
    assert names(leases) == [f"{n:04}" for n in range(1, 2000, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "frontier", [{"exact_limit": 100, "seen_capacity": 5000, "seen_error": 1e-4}], indirect=True
)
async def test_done_links_leave_the_table_beside_a_bloom_filter(frontier: RedisFrontier) -> None:
    entries = [link(f"{n:04}") for n in range(3000)]
    for start in range(0, 3000, 100):
        await frontier.add(entries[start : start + 100])
    leases = await frontier.take(2500, Q)
    await frontier.give_back(leases[:1])
    await frontier.end(leases[1:])
    waiting = (await frontier.counts(Q, [])).waiting
    assert not any(await frontier.add(entries))
    assert sum(await sizes(frontier)) <= 100 + waiting
    assert await frontier.inspector.audit() == []


@pytest.mark.slow
@pytest.mark.parametrize("frontier", [{"chunk": 4}], indirect=True)
async def test_no_list_stays_once_its_links_are_taken(frontier: RedisFrontier) -> None:
    await frontier.add([link(str(n), key=n % 7) for n in range(200)])
    pattern, redis = frontier.keys["chunk:*"], frontier.client
    assert [key async for key in redis.scan_iter(pattern)]
    await frontier.end(await frontier.take(300, Q))
    assert not [key async for key in redis.scan_iter(pattern)]


async def test_seeds_may_lie_in_a_set_or_a_sorted_set(frontier: RedisFrontier, prefix: str) -> None:
    """As scrapy-redis has them with REDIS_START_URLS_AS_SET and _AS_ZSET."""
    redis = frontier.client
    await redis.sadd(prefix + ":set", "http://a.example/")
    await redis.zadd(prefix + ":zset", {"http://b.example/": 1, "http://c.example/": 2})
    keys = [prefix + ":set", prefix + ":zset"]
    assert (await frontier.counts([], keys)).seeds == 3
    assert await frontier.shared.take_seeds(keys[0], 9) == ["http://a.example/"]
    assert await frontier.shared.take_seeds(keys[1], 9) == [
        "http://c.example/",
        "http://b.example/",
    ]


async def test_all_keys_begin_with_the_crawls_name(frontier: RedisFrontier, prefix: str) -> None:
    await frontier.add([link("1"), link("2")])
    await frontier.take(1, Q)
    await frontier.shared.exchange(b"event", limit=0)
    await frontier.shared.save_state("s", b"x")
    found = [key async for key in frontier.client.scan_iter(match=f"*{prefix} *", count=1000)]
    assert found
    assert all(key.startswith(frontier.keys.root.encode()) for key in found)


async def test_hosts_filed_by_an_older_semcrawl_keep_their_order(
    frontier: RedisFrontier,
) -> None:
    """Without fairness it filed them under a turn that nothing can precede."""
    await frontier.add([link(name, host=f"{name}.example", group=name) for name in "abcd"])
    redis = frontier.client
    filed, front = frontier.keys["filed:html"], frontier.keys["front:html"]
    places = await redis.hgetall(filed)
    assert len(places) == 4
    for host, place in places.items():
        old = bytes(8) + place[8:]
        await redis.zadd(front, {old + host: await redis.zscore(front, place + host)})
        await redis.zrem(front, place + host)
        await redis.hset(filed, host, old)
    assert await frontier.inspector.audit() == []
    await frontier.add([link("e", host="e.example", group="e", key=-1.0)])
    await frontier.pace.rank("d.example", 1)
    await frontier.pace.rank("a.example", -1)
    assert names(await frontier.take(9, Q)) == ["d", "e", "b", "c", "a"]
    assert await frontier.inspector.audit() == []
