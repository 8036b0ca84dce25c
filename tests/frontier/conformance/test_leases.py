"""A taken link is leased: to one worker, for a time, until it is done."""

from __future__ import annotations

import asyncio
import time
from itertools import chain

import pytest
from frontier_calls import OpenFrontier, Q, eventually, link, names, until_no_lease


async def test_a_link_is_leased_to_one_worker(open_frontier: OpenFrontier) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    await one.add([link(str(n)) for n in range(20)])
    taken = await asyncio.gather(*(f.take(5, Q) for f in (one, two, one, two)))
    assert sorted(names(list(chain(*taken))), key=int) == [str(n) for n in range(20)]
    assert await one.take(1, Q) == []


async def test_an_expired_lease_goes_back_to_its_place(open_frontier: OpenFrontier) -> None:
    dead, alive = await open_frontier("dead", lease_time=0.05), await open_frontier("alive")
    await alive.add([link("1"), link("2"), link("3")])
    assert names(await dead.take(2, Q)) == ["1", "2"]
    await until_no_lease(alive)
    leases = await alive.take(3, Q)
    assert names(leases) == ["1", "2", "3"]
    assert [lease.tries for lease in leases] == [1, 1, 0]
    assert await alive.inspector.audit() == []


@pytest.mark.slow
async def test_a_renewed_lease_does_not_expire(open_frontier: OpenFrontier) -> None:
    slow, other = await open_frontier("slow", lease_time=0.3), await open_frontier("other")
    await slow.add([link("1")])
    lease = await slow.take(1, Q)
    began = time.monotonic()
    while time.monotonic() - began < 0.7:
        assert await slow.renew(lease) == [True]
        assert await other.take(1, Q) == []
        await asyncio.sleep(0.05)
    await until_no_lease(other)
    assert await slow.renew(lease) == [False]


async def test_a_request_whose_lease_ran_out_must_not_leave(open_frontier: OpenFrontier) -> None:
    """A process that stood still may find that another has its links."""
    slow = await open_frontier("slow", lease_time=0.05, delay=0.01)
    other = await open_frontier("other", delay=0.01)
    await other.add([link("1")])
    lost = await slow.take(1, Q)
    await until_no_lease(other)
    await other.add([link("2", host="b.example")])
    (held,) = await eventually(lambda: other.take(1, ["html"]))
    assert await other.started([held, *lost]) == [True, False]
    assert await other.inspector.audit() == []


async def test_what_is_done_after_its_lease_ran_out_is_not_fetched_again(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(lease_time=0.02)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    await until_no_lease(frontier)
    await frontier.end(leases)
    assert names(await frontier.take(2, Q)) == ["2"]
    assert await frontier.inspector.audit() == []


async def test_an_attempt_keeps_its_name_until_it_is_acknowledged(
    open_frontier: OpenFrontier,
) -> None:
    """So that what a killed worker wrote of it can be told from a new attempt."""
    frontier = await open_frontier()
    await frontier.add([link("1"), link("2")])
    first, other = await frontier.take(2, Q)
    assert first.attempt != other.attempt
    assert not first.repeated
    await frontier.end([other])
    again = first
    for tries in (1, 2):
        await open_frontier()  # the worker starts again
        (again,) = await frontier.take(1, Q)
        assert (again.attempt, again.repeated, again.tries) == (first.attempt, True, tries)
        assert again.entry == first.entry
    await frontier.give_back([again])
    (retry,) = await frontier.take(1, Q)
    assert (retry.repeated, retry.tries) == (False, 3)
    assert retry.attempt != first.attempt
    await open_frontier()  # the worker starts again
    await frontier.end(await frontier.take(1, Q), failed=True)
    await frontier.requeue(Q)
    (requeued,) = await frontier.take(1, Q)
    assert (requeued.repeated, requeued.tries) == (False, 0)
    assert requeued.entry == first.entry


async def test_an_expired_leases_id_is_void(open_frontier: OpenFrontier) -> None:
    """Whoever held it can neither end nor give back the lease of the one who has it now."""
    late, now = await open_frontier("late", lease_time=0.02), await open_frontier("now")
    await late.add([link("1")])
    old = await late.take(1, Q)
    new = await eventually(lambda: now.take(1, Q))
    await late.give_back(old)
    await late.end(old)
    await late.release(old)
    assert await late.renew(old) == [False]
    assert (await now.counts(Q, [])).leased == 1
    assert await now.renew(new) == [True]


async def test_a_closed_workers_leases_go_back_at_once(open_frontier: OpenFrontier) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    await one.add([link(str(n)) for n in range(4)])
    assert names(await one.take(1, Q) + await two.take(1, Q)) == ["0", "1"]
    await one.close()
    assert names(await two.take(9, Q)) == ["0", "2", "3"]


async def test_a_worker_that_starts_again_finds_its_leases_back(
    open_frontier: OpenFrontier,
) -> None:
    """Its former life ended without a close; other workers' leases stay."""
    crashed, other = await open_frontier("w1"), await open_frontier("w2")
    await crashed.add([link(str(n)) for n in range(3)])
    await crashed.take(1, Q)
    await other.take(1, Q)
    again = await open_frontier("w1")
    assert names(await again.take(9, Q)) == ["0", "2"]
