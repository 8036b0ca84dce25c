"""In which order links come out of a frontier in shards, and how few shards are asked for them."""

from __future__ import annotations

import random
from collections import Counter
from math import inf

import pytest
from frontier_calls import (
    Q,
    drain,
    eventually,
    host_in,
    link,
    names,
    scripts_run,
    sharded,
)

from semcrawl.frontier.contract import Entry
from semcrawl.frontier.sharded.shards import number_of


async def test_the_best_link_comes_first_whatever_its_shard(
    servers: list[str], prefix: str
) -> None:
    async with sharded(servers, prefix) as frontier:
        links = [link(f"{n:03}", host=f"h{n % 11}.example", key=n * 7 % 100) for n in range(100)]
        await frontier.add(links)
        wanted = [entry.url[-3:] for entry in sorted(links, key=lambda entry: entry.key)]
        assert [lease.entry.url[-3:] for lease in await frontier.take(40, Q)] == wanted[:40]
        assert await drain(frontier) == wanted[40:]


@pytest.mark.parametrize("seed", range(4))
async def test_a_take_gives_few_links_before_earlier_ones_of_other_shards(
    servers: list[str], prefix: str, seed: int
) -> None:
    """At most ``ahead`` of one shard, and none before a better one; and no link is forgotten."""
    draw = random.Random(seed)
    values = {f"g{n}": draw.choice([0.0, 1.0, 2.0]) for n in range(12)}
    links = [
        link(str(n), host=f"h{n % 40}.example", group=f"g{n % 12}", key=n * 7 % 3)
        for n in range(300)
    ]

    def place(entry: Entry) -> tuple[float, float, int]:
        return -values[entry.group or ""], entry.key, int(entry.url.rpartition("/")[2])

    async with sharded(servers, prefix, ahead=4, glance=0.0) as frontier:
        await frontier.add(links)
        await frontier.set_values(values)
        waiting = {entry.url: place(entry) for entry in links}
        early = 0
        while leases := await frontier.take(draw.randrange(1, 20), Q):
            taken = [(waiting.pop(lease.entry.url), lease.entry.host) for lease in leases]
            first = min(waiting.values(), default=(inf, inf, 0))
            behind = Counter(number_of(host, 3) for where, host in taken if where > first)
            assert all(where[:2] <= first[:2] for where, _ in taken)
            assert max(behind.values(), default=0) <= 4
            early += behind.total()
            await frontier.end(leases)
        assert not waiting
        assert early


async def test_a_take_asks_one_shard(servers: list[str], prefix: str) -> None:
    """With links ahead, where many are alike; the first ones in are spread over all."""
    for ahead, most in ((16, 1), (0, None)):
        async with sharded(servers, f"{prefix}-{ahead}", ahead=ahead, glance=1000) as frontier:
            await frontier.add([link(str(n), host=f"h{n}.example") for n in range(100)])
            await frontier.take(1, Q)
            before = scripts_run(servers)
            assert len(await frontier.take(8, Q)) == 8
            asked = scripts_run(servers) - before
            assert asked == most if most else asked > 3


async def test_what_others_put_in_is_seen_after_a_glance_or_when_nothing_else_is_left(
    servers: list[str], prefix: str
) -> None:
    """A worker with links ahead does not look again at the shards that others changed."""
    first, second = host_in(0), host_in(1)
    for glance, wanted in ((0.0, ["new", "1", "2"]), (1000.0, ["1", "2", "new"])):
        name = f"{prefix}-{glance}"
        async with (
            sharded(servers, name, ahead=1, glance=glance) as frontier,
            sharded(servers, name, "other", ahead=1, glance=glance) as other,
        ):
            await frontier.add([link(str(n), host=first, key=n) for n in range(3)])
            assert names(await frontier.take(1, Q)) == ["0"]
            await other.add([link("new", host=second)])
            assert await drain(frontier) == wanted


async def test_what_others_put_in_is_found_soon_where_nothing_was(
    servers: list[str], prefix: str
) -> None:
    """A worker believes for five glances that a shard has nothing, and not for ever."""
    more = {"ahead": 1, "glance": 0.02}
    async with (
        sharded(servers, prefix, **more) as frontier,
        sharded(servers, prefix, "other", **more) as other,
    ):
        assert await frontier.next_ready(Q) is None
        await other.add([link("new", host=host_in(1))])

        async def found() -> bool:
            return await frontier.next_ready(Q) == 0

        assert await eventually(found)
        assert names(await frontier.take(1, Q)) == ["new"]


async def test_a_worker_that_finds_nothing_asks_each_shard_once(
    servers: list[str], prefix: str
) -> None:
    """One call tells of all queues what could be taken, and when."""
    queues = ["html", "rdf"]
    hosts = [host_in(number) for number in range(3)]
    more = {"ahead": 16, "glance": 1000.0, "delay": 50.0, "concurrency": 1}
    async with sharded(servers, prefix, **more) as frontier:
        await frontier.add([link(f"{h}{n}", host=h) for h in hosts for n in range(2)])
        leases = [lease for queue in queues for lease in await frontier.take(9, [queue])]
        assert len(leases) == 3
        await frontier.started(leases)
        await frontier.end(leases)
        before = scripts_run(servers)
        for _ in range(5):
            for asked in (queues, queues[:1]):
                assert 40 < (await frontier.next_ready(asked) or 0) <= 50
            assert await frontier.next_ready(queues[1:]) is None
        assert scripts_run(servers) - before == 3
        # what it changes itself it sees at once
        await frontier.pace.set(hosts[0], delay=0.0)
        await frontier.pace.rest(hosts[0], 0.0)
        await frontier.add([link("rdf", host="other.example", queue="rdf")])
        assert names(await frontier.take(9, ["rdf"], announce="strict") or []) == ["rdf"]


async def test_what_a_worker_puts_in_itself_is_seen_at_once(
    servers: list[str], prefix: str
) -> None:
    """The answer tells where the shard's best link stands, so that it need not be asked."""
    async with sharded(servers, prefix, ahead=1, glance=1000.0) as frontier:
        await frontier.add([link(str(n), host=host_in(0), key=n) for n in range(3)])
        assert names(await frontier.take(1, Q)) == ["0"]
        await frontier.add([link("new", host=host_in(1))])
        assert await drain(frontier) == ["new", "1", "2"]


async def test_a_take_finds_what_the_downloads_that_are_over_free(
    servers: list[str], prefix: str
) -> None:
    """In its place in the order, whatever was believed of the shard."""
    hosts = [host_in(0), host_in(1)]
    more = {"ahead": 16, "glance": 1000.0, "concurrency": 1}
    async with sharded(servers, prefix, **more) as frontier:
        await frontier.add([link(f"{h[:2]}{n}", host=h, key=n) for h in hosts for n in range(3)])
        held = await frontier.take(9, Q)
        assert len(held) == 2
        assert len(await frontier.take(9, Q, over=held)) == 2
        assert await frontier.take(9, Q) == []


async def test_downloads_that_are_over_are_released_with_links_or_with_the_next_take(
    servers: list[str], prefix: str
) -> None:
    """With those of the same shard at once: other workers may ask that host."""
    hosts = [host_in(0), host_in(1)]
    more = {"ahead": 16, "glance": 1000.0, "concurrency": 1}
    one, two = (sharded(servers, prefix, name, **more) for name in ("one", "two"))
    async with one, two:
        await one.add([link(f"{h}{n}", host=h, key=n) for h in hosts for n in range(2)])
        held = await one.take(9, Q)
        assert len(held) == 2
        assert await two.take(9, Q) == []
        before = scripts_run(servers)
        await one.add([link("new", host=hosts[0], key=2)], over=held)
        assert scripts_run(servers) - before == 1
        assert names(await two.take(9, Q)) == [f"{hosts[0]}1"]
        assert names(await one.take(9, Q)) == [f"{hosts[1]}1"]


async def test_a_look_at_a_shard_releases_its_downloads(servers: list[str], prefix: str) -> None:
    """In the same call, as a take that asks another shard for its links has to look anyway."""
    hosts = [host_in(0), host_in(1)]
    one, two = (
        sharded(servers, prefix, name, glance=0.0, concurrency=1) for name in ("one", "two")
    )
    async with one, two:
        await one.add([link("best", host=hosts[0], key=0), link("a", host=hosts[1], key=1)])
        await one.add([link("b", host=hosts[0], key=2), link("c", host=hosts[1], key=3)])
        held = await one.take(2, Q)
        assert names(held) == ["best", "a"]
        await one.add([link("front", host="h98.example", key=-1)])
        before = scripts_run(servers)
        assert names(await one.take(1, Q, over=held)) == ["front"]
        assert scripts_run(servers) - before <= 4  # a look at each shard, and the take
        assert sorted(names(await two.take(9, Q))) == ["b", "c"]
