"""Requests that are no link's: their turns count in the same clock as links."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from frontier_calls import OpenFrontier, Q, eventually, link, names

from semcrawl.crawl.dispatch import Turns
from semcrawl.frontier.contract import Frontier

HOST = "a.example"


async def test_an_errand_holds_its_host_until_it_is_sent_and_then_for_the_delay(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(delay=0.12, concurrency=9)
    await frontier.add([link("1"), link("2")])
    assert await frontier.pace.errand(HOST, "one") == 0
    assert await frontier.pace.errand(HOST, "one") == 0  # asked again, as the answer was lost
    await asyncio.sleep(0.15)
    assert await frontier.take(9, Q) == []
    assert await frontier.pace.errand_starts(HOST, "one")
    began = time.monotonic()
    await frontier.pace.errand_over(HOST, "one")
    leases = await eventually(lambda: frontier.take(9, Q))
    assert time.monotonic() - began >= 0.11
    assert names(leases) == ["1"]
    assert await frontier.inspector.audit() == []


async def test_an_errand_waits_for_the_delay_after_a_link(open_frontier: OpenFrontier) -> None:
    frontier, other = await open_frontier(delay=30.0), await open_frontier("w2", delay=30.0)
    await frontier.add([link("1")])
    leases = await frontier.take(1, Q)
    wait = await other.pace.errand(HOST, "one")
    assert wait is not None
    assert 0 < wait < 1  # nobody knows when the link will be sent
    assert not await other.pace.errand_starts(HOST, "one")
    await frontier.started(leases)
    await frontier.end(leases)
    wait = await other.pace.errand(HOST, "one")
    assert wait is not None
    assert 29 < wait <= 31


async def test_errands_go_in_turn_and_before_links(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(delay=0.03, concurrency=9, poll=0.005)
    await frontier.add([link("1"), link("2"), link("3")])
    first = await frontier.take(1, Q)
    order: list[str] = []

    async def errand(name: str) -> None:
        turn = await turns.next(HOST)
        order.append(name)
        await turn.starts()
        await turn.end()

    turns = Turns(frontier)
    tasks = []
    for name in ("one", "two", "three"):
        tasks.append(asyncio.create_task(errand(name)))
        await asyncio.sleep(0.01)
    await frontier.started(first)
    await frontier.end(first)
    leases = await eventually(lambda: frontier.take(1, Q))
    assert order == ["one", "two", "three"]
    assert names(leases) == ["2"]
    await asyncio.gather(*tasks)
    assert await frontier.inspector.audit() == []


async def test_a_link_gives_its_turn_up_for_an_errand(open_frontier: OpenFrontier) -> None:
    """And waits in its place until the errand, and its host's delay, are over."""
    frontier = await open_frontier(delay=0.1)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    assert await frontier.pace.errand(HOST, "one", instead_of=leases[0]) == 0
    await frontier.give_back(leases)
    assert await frontier.take(1, Q) == []
    assert await frontier.pace.errand_starts(HOST, "one")
    began = time.monotonic()
    await frontier.pace.errand_over(HOST, "one")
    leases = await eventually(lambda: frontier.take(1, Q))
    assert names(leases) == ["1"]
    assert time.monotonic() - began >= 0.09


async def test_a_turn_that_is_not_used_costs_its_host_nothing(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(delay=60.0)
    await frontier.add([link("1")])
    assert await frontier.pace.errand(HOST, "one") == 0
    assert await frontier.pace.errand(HOST, "two")
    await frontier.pace.errand_over(HOST, "two")
    await frontier.pace.errand_over(HOST, "one", sent=False)
    assert names(await frontier.take(1, Q)) == ["1"]
    assert await frontier.inspector.audit() == []


async def test_where_there_is_no_delay_nothing_is_counted(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(delay=0.0, concurrency=1)
    await frontier.add([link("1")])
    leases = await frontier.take(1, Q)
    assert await frontier.pace.errand(HOST, "one") is None
    assert await frontier.pace.errand_starts(HOST, "one") is False
    await frontier.end(leases)


async def test_a_pace_of_its_own_holds_for_errands_as_well(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(delay=0.01)
    await frontier.pace.set(HOST, delay=30)
    assert await frontier.pace.errand(HOST, "one") == 0
    await frontier.pace.errand_starts(HOST, "one")
    await frontier.pace.errand_over(HOST, "one")
    wait = await frontier.pace.errand(HOST, "two")
    assert wait is not None
    assert 29 < wait <= 30


async def test_a_delay_counts_from_when_it_is_told(open_frontier: OpenFrontier) -> None:
    """It was a request that brought it."""
    frontier = await open_frontier(delay=0.0)
    assert await frontier.pace.errand(HOST, "robots") is None
    await frontier.pace.set(HOST, delay=30)
    wait = await frontier.pace.errand(HOST, "context")
    assert wait is not None
    assert 29 < wait <= 30


async def test_what_is_under_way_when_a_delay_is_set_counts(open_frontier: OpenFrontier) -> None:
    """The robots.txt of a host without a delay asks for one."""
    frontier = await open_frontier(delay=0.0, concurrency=2)
    await frontier.add([link("1"), link("2"), link("3")])
    leases = await frontier.take(1, Q)
    await frontier.pace.set(HOST, delay=30, concurrency=2)
    assert await frontier.take(1, Q) == []
    await frontier.end(leases)
    assert 29 < (await frontier.next_ready(Q) or 0) <= 31


@pytest.mark.slow
async def test_errands_of_a_dead_worker_are_forgotten(open_frontier: OpenFrontier) -> None:
    """After the lease time, or as soon as it starts again."""
    dead = await open_frontier("w1", delay=0.01, lease_time=0.2)
    other = await open_frontier("w2", delay=0.01, lease_time=0.2)
    await other.add([link("1")])
    assert await dead.pace.errand(HOST, "sending") == 0
    assert await dead.pace.errand(HOST, "waiting")
    assert await other.take(1, Q) == []
    leases = await eventually(lambda: other.take(1, Q))
    assert names(leases) == ["1"]
    await other.give_back(leases)
    slow = {"delay": 0.01, "lease_time": 60}
    await open_frontier("w3", **slow)
    assert await dead.pace.errand(HOST, "again") is not None
    await open_frontier("w1", **slow)
    assert names(await eventually(lambda: other.take(1, Q))) == ["1"]
    assert await other.inspector.audit() == []


@pytest.mark.slow
async def test_links_and_errands_of_several_workers_keep_the_delay(
    open_frontier: OpenFrontier,
) -> None:
    workers = [await open_frontier(f"w{n}", delay=0.06, poll=0.005) for n in range(3)]
    await workers[0].add([link(str(n)) for n in range(8)])
    starts: list[float] = []

    async def work(frontier: Frontier) -> None:
        while (pause := await frontier.next_ready(Q)) is not None:
            await asyncio.sleep(pause)
            for lease in await frontier.take(2, Q):
                await frontier.started([lease])
                starts.append(time.monotonic())
                await frontier.end([lease])

    async def go(frontier: Frontier) -> None:
        turn = await Turns(frontier).next(HOST)
        await turn.starts()
        starts.append(time.monotonic())
        await turn.end()

    await asyncio.gather(*map(work, workers), *(go(worker) for worker in workers * 3))
    assert len(starts) == 8 + 9
    # the clocks start after the server's answer, whose way takes some time
    assert min(b - a for a, b in pairwise(sorted(starts))) > 0.05
