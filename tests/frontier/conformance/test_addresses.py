"""How often an address is asked, whatever the names that lead there."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from frontier_calls import OpenFrontier, Q, eventually, link, names

from semcrawl.frontier.contract import AddressLimits, Frontier
from semcrawl.web.hosts import address_block

A = "192.0.2.1"
SLOW = AddressLimits(delay=30.0, concurrency=100)


async def turn(frontier: Frontier, host: str, limits: AddressLimits, address: str = A) -> float:
    return await frontier.pace.address(host, address, "of " + host, limits, rests=True)


async def test_hosts_of_an_address_have_their_turns_one_after_the_other(
    open_frontier: OpenFrontier,
) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    waits = [await turn(one if n % 2 else two, f"h{n}.example", SLOW) for n in range(5)]
    assert waits == [0, *(pytest.approx(30 * n, abs=2) for n in range(1, 5))]
    assert await turn(one, "other.example", SLOW, "192.0.2.2") == 0
    # asked again, a host keeps the turn that it has
    assert await turn(one, "h2.example", SLOW) == pytest.approx(60, abs=2)


async def test_a_host_rests_until_its_turn_and_its_links_are_taken_then(
    open_frontier: OpenFrontier,
) -> None:
    limits = AddressLimits(delay=0.15, concurrency=100)
    frontier = await open_frontier(delay=0.001)
    assert await turn(frontier, "first.example", limits) == 0
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    wait = await turn(frontier, "a.example", limits)
    assert 0 < wait <= 0.15
    await frontier.give_back(leases)
    assert await frontier.take(1, Q) == []
    began = time.monotonic()
    leases = await eventually(lambda: frontier.take(1, Q))
    assert time.monotonic() - began > 0.08
    assert names(leases) == ["1"]
    assert await turn(frontier, "a.example", limits) == 0
    assert await frontier.inspector.audit() == []


async def test_no_more_requests_are_under_way_to_an_address_than_may_be(
    open_frontier: OpenFrontier,
) -> None:
    limits = AddressLimits(delay=0.001, concurrency=2)
    frontier = await open_frontier()

    async def free(host: str) -> bool:
        return await turn(frontier, host, limits) == 0

    for host in ("one.example", "two.example"):
        await eventually(lambda host=host: free(host))
    for _ in range(5):
        await asyncio.sleep(0.003)
        assert not await free("three.example")
    await frontier.pace.address_over(A, "of one.example")
    await eventually(lambda: free("three.example"))


@pytest.mark.slow
async def test_workers_keep_the_delay_between_them(open_frontier: OpenFrontier) -> None:
    workers = [await open_frontier(f"w{n}") for n in range(3)]
    limits = AddressLimits(delay=0.04, concurrency=100)
    starts: list[float] = []

    async def ask(number: int) -> None:
        host = f"h{number}.example"
        while wait := await turn(workers[number % 3], host, limits):  # noqa: ASYNC110
            await asyncio.sleep(wait)
        starts.append(time.monotonic())

    began = time.monotonic()
    await asyncio.gather(*map(ask, range(12)))
    # the clocks start after the server's answer, whose way takes some time
    assert min(later - earlier for earlier, later in pairwise(sorted(starts))) > 0.03
    assert time.monotonic() - began < 4 * 12 * 0.04


@pytest.mark.parametrize(
    ("address", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", True),
        ("2001:db8::1", "2001:db8:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
    ],
)
def test_what_counts_as_one_address(address: str, other: str, same: bool) -> None:
    assert (address_block(address) == address_block(other)) is same
