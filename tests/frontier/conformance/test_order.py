"""In what order links are handed out: values, keys, first in first out."""

from __future__ import annotations

import random

import pytest
from frontier_calls import OpenFrontier, Q, drain, link, names

from semcrawl.frontier import Entry


@pytest.mark.slow
async def test_first_in_first_out_among_equals(open_frontier: OpenFrontier) -> None:
    """Over batches, hosts and groups of equal value."""
    frontier = await open_frontier()
    hosts, groups = ["a.example", "b.example", "c.example"], ["g", "h", "i", "j"]
    wanted = []
    for n in range(0, 300, 30):
        batch = [link(f"{i:03}", host=hosts[i % 3], group=groups[i % 4]) for i in range(n, n + 30)]
        await frontier.add(batch)
        wanted += [f"{i:03}" for i in range(n, n + 30)]
    assert await drain(frontier) == wanted


async def test_larger_value_then_smaller_key_then_first_in(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.set_values({"best": 2.0, "good": 1.0, "bad": -1.0})
    await frontier.add(
        [
            link("bad", group="bad"),
            link("none", group="none"),
            link("good2", group="good", key=5, host="b.example"),
            link("good1", group="good", key=-5),
            link("good3", group="good", key=5),
            link("best2", group="best", key=0.2, host="b.example"),
            link("best1", group="best", key=0.1, host="c.example"),
        ]
    )
    assert await drain(frontier) == ["best1", "best2", "good1", "good2", "good3", "none", "bad"]


async def test_new_values_hold_from_the_next_take(open_frontier: OpenFrontier) -> None:
    """For groups on one host and on many, and for all workers."""
    one, two = await open_frontier("w1"), await open_frontier("w2")
    entries = [link(f"many{n}", host=f"h{n}.example", group="many") for n in range(4)]
    entries += [link(f"only{n}", host="h0.example", group="only") for n in range(4)]
    await one.add(entries)
    await one.set_values({"only": 1.0})
    first = await two.take(1, Q)
    await two.set_values({"many": 2.0})
    second = await one.take(1, Q)
    await one.set_values({"many": 0.5})
    third = await two.take(1, Q)
    assert names(first + second + third) == ["only0", "many0", "only1"]
    assert await one.inspector.audit() == []


async def test_queues_are_served_together_or_apart(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.set_values({"hi": 1.0})
    await frontier.add(
        [link("1"), link("2", queue="rdf", group="hi"), link("3", queue="rdf"), link("4")]
    )
    assert names(await frontier.take(1, ["html"])) == ["1"]
    assert names(await frontier.take(9, ["rdf", "html"])) == ["2", "3", "4"]


async def test_keys_of_waiting_links_change_in_place(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    entries = [link(str(n), host=f"h{n % 2}.example", key=0.5) for n in range(6)]
    await frontier.add(entries)
    taken = await frontier.take(1, Q)
    await frontier.rekey([(entries[5], 0.1), (entries[0], 0.0), (entries[2], 0.7)])
    await frontier.rekey([(entries[5], 0.4), (entries[3], 0.5), (link("unknown"), 0.0)])
    assert await drain(frontier) == ["5", "1", "3", "4", "2"]
    await frontier.give_back(taken)
    assert await drain(frontier) == ["0"]


@pytest.mark.slow
async def test_rekeying_finds_links_among_many_of_equal_key(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    entries = [link(f"{n:04}") for n in range(1200)]
    await frontier.add(entries)
    await frontier.rekey([(entry, -1.0) for entry in entries if int(entry.url[-4:]) % 7])
    order = await drain(frontier)
    early = [f"{n:04}" for n in range(1200) if n % 7]
    assert order == early + [f"{n:04}" for n in range(0, 1200, 7)]


@pytest.mark.slow
async def test_long_queues_keep_their_order(open_frontier: OpenFrontier) -> None:
    """Hundreds of links in a group, put in at all ends, moved, given back and withdrawn."""
    frontier = await open_frontier()
    rng = random.Random(5)
    keys: dict[str, float] = {}
    numbers: dict[str, int] = {}

    def entry(url: str) -> Entry:
        return link(url, key=keys[url])

    def best(count: int) -> list[str]:
        return sorted(numbers, key=lambda url: (keys[url], numbers[url]))[:count]

    added = 0
    for round_ in range(40):
        # at the end, at the front, anywhere
        start = (0.0, -float(round_), rng.random())[round_ % 3]
        urls = [f"{round_}-{n}" for n in range(rng.randrange(1, 130))]
        for url in urls:
            keys[url] = start if round_ % 2 else rng.uniform(-40, 40)
            numbers[url], added = added, added + 1
        await frontier.add([entry(url) for url in urls])
        moved = rng.sample(sorted(numbers), 10)
        old = [entry(url) for url in moved]
        for url in moved:
            keys[url] = rng.uniform(-40, 40)
        await frontier.rekey([(e, keys[url]) for e, url in zip(old, moved, strict=True)])
        wanted = best(rng.randrange(60))
        leases = await frontier.take(len(wanted), Q)
        assert [lease.entry.url.rpartition("/")[2] for lease in leases] == wanted
        await frontier.end(leases[::2])
        await frontier.give_back(leases[1::2])
        for url in wanted[::2]:
            del numbers[url]
        if round_ % 8 == 0:
            assert await frontier.inspector.audit() == []
    assert (await frontier.counts(Q, [])).waiting == len(numbers) > 500
    found = [w.entry.url.rpartition("/")[2] async for w in frontier.inspector.rows("waiting")]
    assert found == best(len(numbers))
    while leases := await frontier.take(100, Q):
        wanted = best(len(leases))
        assert [lease.entry.url.rpartition("/")[2] for lease in leases] == wanted
        await frontier.end(leases)
        for url in wanted:
            del numbers[url]
    assert not numbers
    assert await frontier.inspector.audit() == []
