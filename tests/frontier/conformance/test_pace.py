"""How often and how many at a time a host is asked, by all workers together."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from frontier_calls import OpenFrontier, Q, eventually, link, names

from semcrawl.frontier.contract import Frontier


async def test_concurrency_of_a_host_is_shared_by_all_workers(
    open_frontier: OpenFrontier,
) -> None:
    # (shards that give links ahead may give those of one host first)
    one = await open_frontier("w1", concurrency=2, ahead=0)
    two = await open_frontier("w2", concurrency=2, ahead=0)
    await one.add([link(str(n), host=h) for n in range(5) for h in ("a.example", "b.example")])
    first = await one.take(3, Q)
    second = await two.take(9, Q)
    assert names(first + second) == ["0", "0", "1", "1"]
    assert await two.take(9, Q) == []
    await one.release(first[:1])  # one of a.example
    assert names(await two.take(9, Q)) == ["2"]
    await one.end(first[1:2])  # one of b.example
    assert names(await one.take(9, Q)) == ["2"]
    assert (await one.counts(Q, [])).leased == 5
    assert await one.inspector.audit() == []


async def test_downloads_can_be_released_by_the_take_that_needs_their_places(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(concurrency=2)
    await frontier.add([link(str(n)) for n in range(5)])
    first = await frontier.take(9, Q)
    assert names(first) == ["0", "1"]
    second = await frontier.take(9, Q, over=first)
    assert names(second) == ["2", "3"]
    assert await frontier.take(9, Q, over=first) == []  # over already
    assert (await frontier.counts(Q, [])).leased == 4
    assert await frontier.inspector.audit() == []


async def test_downloads_can_be_released_with_the_links_of_their_pages(
    open_frontier: OpenFrontier,
) -> None:
    """Whether any of these links is new or not, and whatever their hosts are."""
    frontier = await open_frontier(concurrency=1)
    hosts = [f"h{n}.example" for n in range(4)]
    await frontier.add([link(str(n), host=host) for host in hosts for n in range(3)])
    first = await frontier.take(9, Q)
    assert await frontier.add([link("0", host=hosts[0])], over=first) == [False]
    second = await frontier.take(9, Q)
    assert names(second) == ["1"] * 4
    assert await frontier.add([link("4", host=hosts[0])], over=second) == [True]
    third = await frontier.take(9, Q)
    assert names(third) == ["2"] * 4
    assert await frontier.add([], over=third) == []
    assert names(await frontier.take(9, Q)) == ["4"]
    assert await frontier.inspector.audit() == []


async def test_a_hosts_own_pace_replaces_the_general_one(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=1)
    await frontier.add([link(str(n), host=h) for n in range(3) for h in ("a.example", "b.example")])
    await frontier.pace.set("a.example", delay=0, concurrency=2)
    leases = await frontier.take(9, Q)
    assert sorted(lease.entry.host for lease in leases) == ["a.example"] * 2 + ["b.example"]
    await frontier.pace.set("a.example", delay=0, concurrency=3)
    assert names(await frontier.take(9, Q)) == ["2"]
    await frontier.pace.set("b.example", delay=0, concurrency=1000)
    assert names(await frontier.take(9, Q)) == ["1", "2"]


async def test_a_longer_delay_may_stay(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=9, delay=30)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    await frontier.started(leases)
    await frontier.end(leases)
    await frontier.pace.set("a.example", delay=0, at_least=True)
    assert await frontier.take(1, Q) == []
    await frontier.pace.set("a.example", delay=60, at_least=True)
    ready = await frontier.next_ready(Q)
    assert ready is not None
    assert ready > 30


@pytest.mark.slow
async def test_a_delay_counts_from_the_start_of_the_request(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=9, delay=0.12)
    await frontier.add([link("1"), link("2"), link("3")])
    leases = await frontier.take(9, Q)
    assert names(leases) == ["1"]
    await asyncio.sleep(0.15)  # prefetched, not yet sent: the host is held
    assert await frontier.take(9, Q) == []
    began = time.monotonic()
    await frontier.started(leases)
    leases = await eventually(lambda: frontier.take(9, Q))
    assert time.monotonic() - began >= 0.12
    assert names(leases) == ["2"]
    began = time.monotonic()
    await frontier.release(leases)  # its start was never told: counted from the end
    leases = await eventually(lambda: frontier.take(9, Q))
    assert time.monotonic() - began >= 0.12
    assert await frontier.inspector.audit() == []


async def test_a_host_needs_no_rest_after_what_was_never_sent(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(delay=60.0)
    await frontier.add([link("1"), link("2"), link("3")])
    leases = await frontier.take(9, Q)
    assert names(leases) == ["1"]
    await frontier.release(leases, sent=False)
    assert (await frontier.counts(Q, [])).leased == 1
    leases += await frontier.take(9, Q)
    assert names(leases) == ["1", "2"]
    await frontier.started(leases[1:])
    await frontier.release(leases[1:], sent=False)  # it was sent: too late
    await frontier.end(leases)
    assert await frontier.take(9, Q) == []
    assert await frontier.inspector.audit() == []


@pytest.mark.slow
async def test_a_host_comes_back_after_a_download_that_outlasts_its_delay(
    open_frontier: OpenFrontier,
) -> None:
    """Even when nobody asked the frontier in between."""
    frontier = await open_frontier(concurrency=2, delay=0.01)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    await frontier.started(leases)
    await asyncio.sleep(0.3)  # longer than the delay and what is allowed for the way to the host
    await frontier.end(leases)
    assert await frontier.inspector.audit() == []
    assert names(await frontier.take(1, Q)) == ["2"]


@pytest.mark.slow
async def test_workers_keep_the_delay_between_them(open_frontier: OpenFrontier) -> None:
    """And hosts do not wait for each other."""
    workers = [await open_frontier(f"w{n}", delay=0.06, poll=0.005) for n in range(3)]
    hosts = [f"h{n}.example" for n in range(4)]
    await workers[0].add([link(str(n), host=host) for n in range(6) for host in hosts])
    starts: dict[str, list[float]] = {host: [] for host in hosts}

    async def work(frontier: Frontier) -> None:
        while (pause := await frontier.next_ready(Q)) is not None:
            await asyncio.sleep(pause)
            for lease in await frontier.take(2, Q):
                await frontier.started([lease])
                starts[lease.entry.host].append(time.monotonic())
                await frontier.release([lease])
                await frontier.end([lease])

    began = time.monotonic()
    await asyncio.gather(*map(work, workers))
    elapsed = time.monotonic() - began
    for times in starts.values():
        assert len(times) == 6
        # the clocks start after the server's answer, whose way takes some time
        assert all(b - a > 0.05 for a, b in pairwise(times))
    assert elapsed < 4 * 6 * 0.06


async def test_a_longer_delay_holds_for_the_request_under_way(
    open_frontier: OpenFrontier,
) -> None:
    """robots.txt is read when the first request has already been granted."""
    frontier = await open_frontier(delay=0.01)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    await frontier.started(leases)
    await frontier.pace.set("a.example", delay=30)
    await frontier.end(leases)
    assert 29 < (await frontier.next_ready(Q) or 0) <= 30
    await frontier.pace.set("a.example", delay=0)
    assert names(await frontier.take(1, Q)) == ["2"]
