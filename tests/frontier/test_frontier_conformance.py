"""What every frontier does, on an embedded and on a served Redis."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, pairwise
from typing import Any, TypeVar

import pytest

from semcrawl.frontier import Entry, Lease, RedisFrontier
from semcrawl.frontier.inspection import FrontierInspector

OpenFrontier = Callable[..., Awaitable[RedisFrontier]]
T = TypeVar("T")
Q = ["html"]


def link(
    name: str, *, host: str = "a.example", group: str = "g", key: float = 0.0, **more: Any
) -> Entry:
    return Entry(f"http://{host}/{name}", host, more.pop("queue", "html"), group, key, **more)


def names(leases: Sequence[Lease]) -> list[str]:
    return [lease.entry.url.rpartition("/")[2] for lease in leases]


async def eventually(look: Callable[[], Awaitable[T]]) -> T:
    """What ``look`` gives once it gives something; time runs on the server."""
    while not (found := await look()):  # noqa: ASYNC110 - it is the server that one waits for
        await asyncio.sleep(0.005)
    return found


async def until_no_lease(frontier: RedisFrontier) -> None:
    async def none() -> bool:
        return (await frontier.counts(Q, [])).leased == 0

    await eventually(none)


async def drain(frontier: RedisFrontier, queues: Sequence[str] = Q) -> list[str]:
    """Take and finish one link at a time until nothing can be taken."""
    order: list[str] = []
    while leases := await frontier.take(1, queues):
        order += names(leases)
        await frontier.done(leases)
    assert await frontier.audit() == []
    return order


# -- adding


async def test_a_link_comes_back_as_it_was_put_in(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    entries = [
        Entry("http://a.example/x", "a.example", "html", "g", 1.5, {"depth": 3}, "HR", 2),
        Entry("https://a.example:8443/é?q=1", "a.example:8443", "html", "ü/|:g", -2.25),
        Entry("http://www.pld.example/", "pld.example", "rdf", "", 0.1, {"p": b"\xff", "l": [1]}),
        Entry("http://c.example/\udc80", "c.example", "rdf", "g", 1e-300, {}, "N"),
        Entry("http://d.example/x/y", "d.example", "rdf", "g", 0, {"p": "http://d.example/x/é"}),
        Entry("http://d.example/" + "x" * 300, "d.example", "rdf", "g", 0, {"p": "http://d.e"}),
        Entry("http://e.example/", "e.example", "rdf", "g", 0, {"p": "http://e.example/" * 30}),
    ]
    assert await frontier.add(entries) == [True] * len(entries)
    leases = await frontier.take(10, ["html", "rdf"])
    assert sorted((lease.entry for lease in leases), key=repr) == sorted(entries, key=repr)
    assert await frontier.audit() == []


async def test_a_link_is_added_once(open_frontier: OpenFrontier) -> None:
    """Neither twice in a batch, nor again while it waits, is leased, or is done."""
    frontier = await open_frontier()
    assert await frontier.add([link("1"), link("2"), link("1", group="h")]) == [True, True, False]
    assert await frontier.add([link("2"), link("3")]) == [False, True]
    leases = await frontier.take(1, Q)
    assert await frontier.add([leases[0].entry]) == [False]
    await frontier.done(leases)
    assert await frontier.add([leases[0].entry]) == [False]
    assert await drain(frontier) == ["2", "3"]
    assert await frontier.add([]) == []


async def test_the_seen_set_keeps_every_url(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    urls = [link(str(n)) for n in range(5000)]
    for start in range(0, 5000, 500):
        assert all(await frontier.add(urls[start : start + 500]))
    assert not any(await frontier.add(urls))
    assert (await frontier.counts(Q, [])).seen == 5000
    assert await frontier.audit() == []


@pytest.mark.parametrize(
    "entry",
    [
        link("1", queue="a:b"),
        link("1", queue=""),
        link("1", host="a/b"),
        link("1", host=""),
        link("1", key=math.nan),
        link("1", key=math.inf),
        link("1", label="x" * 256),
    ],
)
async def test_a_link_that_cannot_be_kept_is_refused(
    open_frontier: OpenFrontier, entry: Entry
) -> None:
    frontier = await open_frontier()
    with pytest.raises(ValueError, match=r".+"):
        await frontier.add([link("0"), entry])
    assert (await frontier.counts(Q, [])).waiting == 0


# -- order


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
    assert await one.audit() == []


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


async def test_rekeying_finds_links_among_many_of_equal_key(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    entries = [link(f"{n:04}") for n in range(1000)]
    await frontier.add(entries)
    await frontier.rekey([(entry, -1.0) for entry in entries[::7]])
    order = await drain(frontier)
    early = [f"{n:04}" for n in range(0, 1000, 7)]
    assert order == early + [f"{n:04}" for n in range(1000) if n % 7]


# -- leases


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
    assert await alive.audit() == []


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


async def test_what_is_done_after_its_lease_ran_out_is_not_fetched_again(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(lease_time=0.02)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    await until_no_lease(frontier)
    await frontier.done(leases)
    assert names(await frontier.take(2, Q)) == ["2"]
    assert await frontier.audit() == []


async def test_an_attempt_keeps_its_name_until_it_is_acknowledged(
    open_frontier: OpenFrontier,
) -> None:
    """So that what a killed worker wrote of it can be told from a new attempt."""
    frontier = await open_frontier()
    await frontier.add([link("1"), link("2")])
    first, other = await frontier.take(2, Q)
    assert first.attempt != other.attempt
    assert not first.repeated
    await frontier.done([other])
    again = first
    for tries in (1, 2):
        await frontier.reclaim_all()
        (again,) = await frontier.take(1, Q)
        assert (again.attempt, again.repeated, again.tries) == (first.attempt, True, tries)
        assert again.entry == first.entry
    await frontier.give_back([again])
    (retry,) = await frontier.take(1, Q)
    assert (retry.repeated, retry.tries) == (False, 3)
    assert retry.attempt != first.attempt
    await frontier.reclaim_all()
    await frontier.fail(await frontier.take(1, Q))
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
    await late.done(old)
    await late.release_host(old)
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


async def test_given_back_links_may_be_changed(open_frontier: OpenFrontier) -> None:
    """Payload, group and key; the place among equals stays."""
    frontier = await open_frontier()
    await frontier.add([link("1", label="R"), link("2", label="R")])
    (lease,) = await frontier.take(1, Q)
    entry = dataclasses.replace(lease.entry, payload={"retry": 1}, label="H")
    await frontier.give_back([dataclasses.replace(lease, entry=entry)])
    assert (await frontier.counts(Q, [])).waiting_by_label == {"R": 1, "H": 1}
    again, _ = await frontier.take(2, Q)
    assert (again.entry, again.tries) == (entry, 1)
    moved = dataclasses.replace(again.entry, group="later", key=3.0)
    await frontier.give_back([dataclasses.replace(again, entry=moved)])
    await frontier.rekey([(moved, 4.0)])
    (last,) = await frontier.take(1, Q)
    assert last.entry == dataclasses.replace(moved, key=4.0)
    assert await frontier.audit() == []


async def test_given_back_with_a_delay_waits_that_long(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.add([link("1", label="R")])
    leases = await frontier.take(1, Q)
    began = time.monotonic()
    await frontier.give_back(leases, delay=0.15)
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.leased, counts.waiting_by_label) == (1, 0, {"R": 1})
    assert 0 < (await frontier.next_ready(Q) or 0) <= 0.15
    leases = await eventually(lambda: frontier.take(1, Q))
    assert time.monotonic() - began >= 0.15
    assert leases[0].tries == 1
    assert await frontier.audit() == []


async def test_failed_links_are_finished_and_can_be_put_in_again(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(max_failed=2)
    await frontier.add([link(str(n), label="R") for n in range(4)])
    await frontier.fail(await frontier.take(3, Q))
    await frontier.done(await frontier.take(1, Q))
    assert (await frontier.counts(Q, [])).finished
    assert await frontier.requeue(Q) == 2
    assert (await frontier.counts(Q, [])).waiting_by_label == {"R": 2}
    leases = await frontier.take(9, Q)
    assert sorted(names(leases)) == ["0", "1"]
    assert [lease.tries for lease in leases] == [0, 0]
    assert await frontier.requeue(Q) == 0


# -- hosts


async def test_concurrency_of_a_host_is_shared_by_all_workers(
    open_frontier: OpenFrontier,
) -> None:
    one = await open_frontier("w1", concurrency=2)
    two = await open_frontier("w2", concurrency=2)
    await one.add([link(str(n), host=h) for n in range(5) for h in ("a.example", "b.example")])
    first = await one.take(3, Q)
    second = await two.take(9, Q)
    assert names(first + second) == ["0", "0", "1", "1"]
    assert await two.take(9, Q) == []
    await one.release_host(first[:1])  # one of a.example
    assert names(await two.take(9, Q)) == ["2"]
    await one.done(first[1:2])  # one of b.example
    assert names(await one.take(9, Q)) == ["2"]
    assert (await one.counts(Q, [])).leased == 5
    assert await one.audit() == []


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
    assert await frontier.audit() == []


async def test_a_hosts_own_pace_replaces_the_general_one(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=1)
    await frontier.add([link(str(n), host=h) for n in range(3) for h in ("a.example", "b.example")])
    await frontier.set_pace("a.example", delay=0, concurrency=2)
    leases = await frontier.take(9, Q)
    assert sorted(lease.entry.host for lease in leases) == ["a.example"] * 2 + ["b.example"]
    await frontier.set_pace("a.example", delay=0, concurrency=3)
    assert names(await frontier.take(9, Q)) == ["2"]
    await frontier.set_pace("b.example", delay=0, concurrency=1000)
    assert names(await frontier.take(9, Q)) == ["1", "2"]


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
    await frontier.release_host(leases)  # its start was never told: counted from the end
    leases = await eventually(lambda: frontier.take(9, Q))
    assert time.monotonic() - began >= 0.12
    assert await frontier.audit() == []


async def test_a_host_comes_back_after_a_download_that_outlasts_its_delay(
    open_frontier: OpenFrontier,
) -> None:
    """Even when nobody asked the frontier in between."""
    frontier = await open_frontier(concurrency=2, delay=0.01)
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    await frontier.started(leases)
    await asyncio.sleep(0.3)  # longer than the delay and what is allowed for the way to the host
    await frontier.done(leases)
    assert await frontier.audit() == []
    assert names(await frontier.take(1, Q)) == ["2"]


async def test_workers_keep_the_delay_between_them(open_frontier: OpenFrontier) -> None:
    """And hosts do not wait for each other."""
    workers = [await open_frontier(f"w{n}", delay=0.06, poll=0.005) for n in range(3)]
    hosts = [f"h{n}.example" for n in range(4)]
    await workers[0].add([link(str(n), host=host) for n in range(6) for host in hosts])
    starts: dict[str, list[float]] = {host: [] for host in hosts}

    async def work(frontier: RedisFrontier) -> None:
        while (pause := await frontier.next_ready(Q)) is not None:
            await asyncio.sleep(pause)
            for lease in await frontier.take(2, Q):
                await frontier.started([lease])
                starts[lease.entry.host].append(time.monotonic())
                await frontier.release_host([lease])
                await frontier.done([lease])

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
    await frontier.set_pace("a.example", delay=30)
    await frontier.done(leases)
    assert 29 < (await frontier.next_ready(Q) or 0) <= 30
    await frontier.set_pace("a.example", delay=0)
    assert names(await frontier.take(1, Q)) == ["2"]


async def test_a_busy_host_does_not_stall_the_others(open_frontier: OpenFrontier) -> None:
    """Even where it holds all the best groups, its own ones and shared ones."""
    frontier = await open_frontier(concurrency=1)
    entries = [link(f"busy{n}", group=f"own{n}") for n in range(50)]
    entries += [link(f"too{n}", group=f"shared{n}") for n in range(50)]
    entries += [link(f"b{n}", host="b.example", group=f"shared{n}") for n in range(50)]
    await frontier.add(entries)
    await frontier.set_values({f"own{n}": 10.0 for n in range(50)})
    await frontier.set_values({f"shared{n}": float(n < 25) for n in range(50)})
    leases = await frontier.take(9, Q)
    assert names(leases) == ["busy0", "b0"]
    assert await frontier.audit() == []
    await frontier.done(leases)
    assert names(await frontier.take(9, Q)) == ["busy1", "b1"]
    assert await frontier.audit() == []


async def test_hosts_take_turns_when_fairness_is_on(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(fairness="equal")
    hosts = ["a.example"] * 6 + ["b.example"] * 3 + ["c.example"] * 3
    await frontier.add([link(str(n), host=host) for n, host in enumerate(hosts)])
    leases = await frontier.take(12, Q)
    assert [lease.entry.host[0] for lease in leases] == list("abcabcabcaaa")
    assert await frontier.audit() == []


async def test_richer_hosts_get_more_turns(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(fairness="yield")
    await frontier.add(
        [link(str(n), host=host) for host in ("poor.example", "rich.example") for n in range(40)]
    )
    for _ in range(10):
        await frontier.reward("rich.example", target=True)
        await frontier.reward("poor.example", target=False)
    leases = await frontier.take(24, Q)
    rich = sum(lease.entry.host == "rich.example" for lease in leases)
    assert 20 <= rich <= 23
    assert await frontier.audit() == []


async def test_values_come_before_fairness(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(fairness="equal")
    await frontier.set_values({"good": 1.0})
    await frontier.add([link(str(n), group="good") for n in range(3)])
    await frontier.add([link("other", host="b.example"), link("last", group="h")])
    assert await drain(frontier) == ["0", "1", "2", "other", "last"]


async def test_barren_hosts_rest_for_a_time(open_frontier: OpenFrontier) -> None:
    """SWSE's penalty; a target in between clears the count."""
    frontier = await open_frontier(penalty_after=2, penalty_time=0.2)
    await frontier.add([link(str(n), host=h) for n in range(3) for h in ("a.example", "b.example")])
    for target in (False, True, False):
        await frontier.reward("a.example", target=target)
    assert names(await frontier.take(1, Q)) == ["0"]
    await frontier.reward("a.example", target=False)
    leases = await frontier.take(9, Q)
    assert {lease.entry.host for lease in leases} == {"b.example"}
    leases = await eventually(lambda: frontier.take(9, Q))
    assert names(leases) == ["1", "2"]
    assert await frontier.audit() == []


async def test_paths_without_targets_end(open_frontier: OpenFrontier) -> None:
    """BioCrawler's dynamic depth; the same link may still come by a better path."""
    frontier = await open_frontier(dynamic_depth=3)
    assert await frontier.add([link("1", barren=2), link("2", barren=3)]) == [True, False]
    assert await frontier.add([link("2", barren=0)]) == [True]
    leases = await frontier.take(9, Q)
    assert [lease.entry.barren for lease in leases] == [2, 0]


async def test_a_full_frontier_drops_its_worst_links(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(max_waiting=6)
    await frontier.set_values({"good": 2.0, "shared": 1.0})
    await frontier.add([link(f"bad{n}", group="bad", key=n) for n in range(4)])
    await frontier.add([link(f"s{n}", group="shared", host=f"h{n}.example") for n in range(4)])
    assert (await frontier.counts(Q, [])).waiting == 6
    assert await frontier.audit() == []
    await frontier.add([link(f"good{n}", group="good") for n in range(5)])
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.dropped, counts.seen) == (6, 7, 13)
    assert await drain(frontier) == [f"good{n}" for n in range(5)] + ["s0"]


# -- when is it ready, when is it over?


async def test_next_ready_tells_when_to_ask_again(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=1, delay=5.0, poll=0.5)
    assert await frontier.next_ready(Q) is None
    await frontier.add([link("1"), link("2")])
    assert await frontier.next_ready(Q) == 0
    assert await frontier.next_ready(["rdf"]) is None
    leases = await frontier.take(1, Q)
    assert 0 < (await frontier.next_ready(Q) or 0) <= 0.5
    await frontier.started(leases)
    await frontier.done(leases)
    assert 4.5 < (await frontier.next_ready(Q) or 0) <= 5


async def test_finished_is_when_nothing_waits_is_leased_or_is_to_seed(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    frontier = await open_frontier()
    seeds = prefix + ":start_urls"

    async def finished() -> bool:
        return (await frontier.counts(Q, [seeds])).finished

    assert await finished()
    await frontier.push_seeds(seeds, ["http://a.example/"])
    assert not await finished()
    taken = await frontier.take_seeds(seeds, 10)
    assert not await finished()
    await frontier.add([link("1")])
    await frontier.done_seeds(seeds, taken)
    assert not await finished()
    leases = await frontier.take(1, Q)
    assert not await finished()
    await frontier.give_back(leases, delay=0.01)
    assert not await finished()
    leases = await eventually(lambda: frontier.take(1, Q))
    await frontier.done(leases)
    assert await finished()


async def test_counts_tell_what_is_there(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(concurrency=2)
    await frontier.add(
        [link(str(n), host=f"h{n % 3}.example", label="RH"[n % 2]) for n in range(9)]
    )
    await frontier.add([link("x", queue="rdf", host="r.example", label="R")])
    await frontier.take(2, Q)
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.leased, counts.seen, counts.hosts) == (7, 2, 10, 3)
    assert counts.waiting_by_label == {"R": 4, "H": 3}
    assert (await frontier.counts(["html", "rdf"], [])).waiting_by_label == {"R": 5, "H": 3}


# -- options


async def test_a_crawl_has_the_options_of_the_worker_that_opened_it_last(
    open_frontier: OpenFrontier, caplog: pytest.LogCaptureFixture
) -> None:
    """Else a host that is free for one and busy for the other would be lost between them."""
    caplog.set_level(logging.INFO)
    first = await open_frontier("w1", concurrency=4)
    await first.add([link(str(n)) for n in range(9)])
    leases = await first.take(9, Q)
    assert len(leases) == 4
    second = await open_frontier("w2", concurrency=2)
    assert "concurrency 4 -> 2" in caplog.text
    await first.done(leases[:2])
    assert await second.take(9, Q) == []
    await second.done(leases[2:3])
    assert len(await first.take(9, Q)) == 1
    await open_frontier("w3", concurrency=4)
    assert len(await first.take(9, Q)) == 2
    assert await first.audit() == []


async def test_who_only_looks_changes_no_options(
    open_frontier: OpenFrontier, address: str, prefix: str
) -> None:
    worker = await open_frontier("w1", concurrency=4)
    dead = await open_frontier("w2", concurrency=4)
    await worker.add([link(str(n)) for n in range(9)])
    await dead.take(2, Q)
    leases = await worker.take(2, Q)
    async with RedisFrontier(address, prefix=prefix, worker_id="w2", guest=True):
        pass  # the dead one's links are back
    assert len(await worker.take(9, Q)) == 2
    await worker.done(leases)
    assert len(await worker.take(9, Q)) == 2
    assert await worker.audit() == []


# -- seeds


async def test_seeds_are_taken_in_order_and_kept_until_done(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    crashed, other = await open_frontier("w1", lease_time=0.05), await open_frontier("w2")
    key = prefix + ":start_urls"
    seeds = ["http://a.example/", '{"url": "http://b.example/"}', "http://c.example/\udcff"]
    await crashed.push_seeds(key, seeds)
    assert await crashed.take_seeds(key, 2) == seeds[:2]
    await crashed.done_seeds(key, seeds[:1])
    assert await other.take_seeds(key, 9) == seeds[2:]
    back = await eventually(lambda: other.take_seeds(key, 9))
    assert back == seeds[1:2]
    await other.done_seeds(key, seeds)
    assert (await other.counts([], [key])).seeds == 0


async def test_seeds_of_a_worker_that_is_restarted_come_back_at_once(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    """Its former life ended between taking and planting; what others have taken stays theirs."""
    crashed, other = await open_frontier("w1"), await open_frontier("w2")
    key = prefix + ":start_urls"
    await crashed.push_seeds(key, ["http://a.example/", "http://b.example/"])
    assert await crashed.take_seeds(key, 1) == ["http://a.example/"]
    assert await other.take_seeds(key, 1) == ["http://b.example/"]
    again = await open_frontier("w1")
    assert await again.take_seeds(key, 9) == ["http://a.example/"]
    await again.done_seeds(key, ["http://a.example/", "http://b.example/"])
    assert (await again.counts([], [key])).seeds == 1


async def test_seeds_may_lie_in_a_set_or_a_sorted_set(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    """As scrapy-redis has them with REDIS_START_URLS_AS_SET and _AS_ZSET."""
    frontier = await open_frontier()
    redis = frontier._server.redis
    await redis.sadd(prefix + ":set", "http://a.example/")
    await redis.zadd(prefix + ":zset", {"http://b.example/": 1, "http://c.example/": 2})
    keys = [prefix + ":set", prefix + ":zset"]
    assert (await frontier.counts([], keys)).seeds == 3
    assert await frontier.take_seeds(keys[0], 9) == ["http://a.example/"]
    assert await frontier.take_seeds(keys[1], 9) == ["http://c.example/", "http://b.example/"]


# -- shared state


async def test_events_reach_the_other_workers_once_and_in_order(
    open_frontier: OpenFrontier,
) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    for n in range(5):
        await one.publish(b"one %d" % n)
        await two.publish(b"two %d" % n)
    assert await two.events(limit=6) == [b"one 0", b"one 1", b"one 2"]
    assert await two.events() == [b"one 3", b"one 4"]
    assert await two.events() == []
    assert await one.events() == [b"two %d" % n for n in range(5)]


async def test_a_worker_that_starts_again_hears_what_its_state_lacks(
    open_frontier: OpenFrontier,
) -> None:
    first, other = await open_frontier("w1"), await open_frontier("w2")
    await other.publish(b"learned")
    await first.events()
    await first.save("strategy", b"\x00state")
    await other.publish(b"missed")
    await first.publish(b"own")
    again = await open_frontier("w1")
    assert await again.load("strategy") == b"\x00state"
    assert await again.events() == [b"missed", b"own"]
    assert await again.load("nothing") is None


# -- side by side


async def test_two_crawls_never_touch_each_other(open_frontier: OpenFrontier, prefix: str) -> None:
    one = await open_frontier(concurrency=1)
    two = await open_frontier(concurrency=1, prefix=prefix + "b")
    await one.add([link("1"), link("2")])
    await one.set_values({"g": 5.0})
    assert await two.take(1, Q) == []
    assert await two.add([link("1")]) == [True]
    assert names(await one.take(9, Q)) == names(await two.take(9, Q)) == ["1"]
    await two.publish(b"event")
    await two.save("s", b"x")
    assert await one.events() == []
    assert await one.load("s") is None
    await two.close()
    assert (await one.counts(Q, [])).leased == 1
    redis = one._server.redis
    keys = [key async for key in redis.scan_iter(match=f"*{prefix}*", count=1000)]
    assert keys
    assert all(
        key.startswith((b"{%s}:" % prefix.encode(), b"{%sb}:" % prefix.encode())) for key in keys
    )


async def test_the_seen_set_grows_by_buckets_that_stay_small(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    """Each digest is in its bucket, with the place of its link; whatever the crawl's name."""
    frontier = await open_frontier(prefix=prefix + " 50%d%%s")
    entries = [link(f"{n:04}") for n in range(2000)]
    for start in range(0, 2000, 40):
        assert all(await frontier.add(entries[start : start + 40]))
        assert not any(await frontier.add(entries[: start + 40]))
    redis = frontier.client
    sizes = [await redis.hlen(key) async for key in redis.scan_iter(frontier.keys["seen:*"])]
    assert sum(sizes) == 2000
    assert len(sizes) > 60
    assert max(sizes) < 128
    assert await frontier.audit() == []
    await frontier.rekey([(entry, -1.0) for entry in entries[1::2]])
    leases = await frontier.take(1000, Q)
    assert names(leases) == [f"{n:04}" for n in range(1, 2000, 2)]


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
    await frontier.done(leases[1:])
    counts = await frontier.counts(Q, [])
    assert counts.seen == sum(new)
    assert not any(await frontier.add(entries))
    assert await frontier.audit() == []
    redis = frontier.client
    table = [await redis.hlen(key) async for key in redis.scan_iter(frontier.keys["seen:*"])]
    assert sum(table) <= 100 + counts.waiting


async def test_a_bloom_filters_size_is_fixed_when_the_crawl_begins(
    open_frontier: OpenFrontier,
) -> None:
    first = await open_frontier("w1", exact_limit=1, seen_capacity=1000)
    await first.add([link(str(n)) for n in range(50)])
    other = await open_frontier("w2", exact_limit=1, seen_capacity=10**9, seen_error=0.5)
    assert not any(await other.add([link(str(n)) for n in range(50)]))


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
        await frontier.done(leases[::2])
        await frontier.give_back(leases[1::2])
        for url in wanted[::2]:
            del numbers[url]
        if round_ % 8 == 0:
            assert await frontier.audit() == []
    assert (await frontier.counts(Q, [])).waiting == len(numbers) > 500
    found = [w.entry.url.rpartition("/")[2] async for w in FrontierInspector(frontier).waiting()]
    assert found == best(len(numbers))
    while leases := await frontier.take(100, Q):
        wanted = best(len(leases))
        assert [lease.entry.url.rpartition("/")[2] for lease in leases] == wanted
        await frontier.done(leases)
        for url in wanted:
            del numbers[url]
    assert not numbers
    assert await frontier.audit() == []
    assert not [key async for key in frontier.client.scan_iter(frontier.keys["chunk:*"])]


async def test_a_full_frontier_drops_the_last_of_a_long_queue(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(max_waiting=150)
    await frontier.add([link(f"{n:03}") for n in range(400)])
    counts = await frontier.counts(Q, [])
    assert (counts.waiting, counts.dropped) == (150, 250)
    leases = await frontier.take(200, Q)
    assert [lease.entry.url[-3:] for lease in leases] == [f"{n:03}" for n in range(150)]
    assert await frontier.audit() == []
