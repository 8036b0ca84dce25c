"""Which host's turn it is."""

from __future__ import annotations

import pytest
from frontier_calls import OpenFrontier, Q, drain, eventually, link, names

from semcrawl.frontier.transfer import export_lines, import_lines


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
    assert await frontier.inspector.audit() == []
    await frontier.end(leases)
    assert names(await frontier.take(9, Q)) == ["busy1", "b1"]
    assert await frontier.inspector.audit() == []


async def test_hosts_take_turns_when_fairness_is_on(open_frontier: OpenFrontier) -> None:
    # (shards that give links ahead may begin each turn with any of the hosts)
    frontier = await open_frontier(fairness="equal", ahead=0)
    hosts = ["a.example"] * 6 + ["b.example"] * 3 + ["c.example"] * 3
    await frontier.add([link(str(n), host=host) for n, host in enumerate(hosts)])
    leases = await frontier.take(12, Q)
    assert [lease.entry.host[0] for lease in leases] == list("abcabcabcaaa")
    assert await frontier.inspector.audit() == []


async def test_richer_hosts_get_more_turns(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(fairness="yield")
    await frontier.add(
        [link(str(n), host=host) for host in ("poor.example", "rich.example") for n in range(40)]
    )
    for _ in range(10):
        await frontier.pace.reward("rich.example", target=True)
        await frontier.pace.reward("poor.example", target=False)
    leases = await frontier.take(24, Q)
    rich = sum(lease.entry.host == "rich.example" for lease in leases)
    assert 20 <= rich <= 23
    assert await frontier.inspector.audit() == []


async def test_values_come_before_fairness(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(fairness="equal")
    await frontier.set_values({"good": 1.0})
    await frontier.add([link(str(n), group="good") for n in range(3)])
    await frontier.add([link("other", host="b.example"), link("last", group="h")])
    assert await drain(frontier) == ["0", "1", "2", "other", "last"]


@pytest.mark.parametrize("fairness", ["off", "yield"])
async def test_a_host_comes_first_or_last_whatever_the_values(
    open_frontier: OpenFrontier, fairness: str
) -> None:
    frontier = await open_frontier(fairness=fairness)

    async def expect(*wanted: str) -> None:
        assert await frontier.inspector.audit() == []
        leases = await frontier.take(3, Q)
        assert names(leases) == list(wanted)
        assert await frontier.inspector.audit() == []
        await frontier.release(leases)
        await frontier.give_back(leases)

    await frontier.set_values({"a": 9.0, "b": 5.0, "c": 1.0})
    for name in "abc":  # the group of one host each
        await frontier.add([link(name, host=f"{name}.example", group=name)])
    await expect("a", "b", "c")
    await frontier.pace.rank("c.example", 1)
    await frontier.pace.rank("a.example", -1)
    await expect("c", "b", "a")
    await frontier.pace.rank("c.example", 0)
    await expect("b", "c", "a")
    await frontier.pace.rank("a.example", 0)
    await expect("a", "b", "c")


async def test_hosts_that_come_first_or_last_do_so_where_a_frontier_is_moved(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    frontier, new = await open_frontier(), await open_frontier(prefix=prefix + "new")
    for key, name in enumerate("abc"):
        await frontier.add([link(name, host=f"{name}.example", group=name, key=float(key))])
    await frontier.pace.rank("c.example", 1)
    await frontier.pace.rank("a.example", -1)
    await import_lines(new, [line async for line in export_lines(frontier)])
    assert await new.inspector.audit() == []
    assert names(await new.take(5, Q)) == ["c", "b", "a"]


async def test_a_host_comes_first_or_last_in_a_group_of_several(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    await frontier.set_values({"better": 1.0})
    hosts = ("a.example", "b.example", "c.example")
    await frontier.add([link(host[0], host=host, group="g") for host in hosts])
    await frontier.add([link(f"{host[0]}2", host=host, group="better") for host in hosts[:2]])
    await frontier.pace.rank("c.example", 1)
    await frontier.pace.rank("a.example", -1)
    assert await frontier.inspector.audit() == []
    taken = names(await frontier.take(5, Q))
    assert [name for name in taken if len(name) == 1] == ["c", "b", "a"]
    assert taken.index("b2") < taken.index("a2")  # in one shard the group may have one host
    assert await frontier.inspector.audit() == []


@pytest.mark.slow
async def test_a_host_that_wants_to_be_left_alone_rests(open_frontier: OpenFrontier) -> None:
    """So long at least: a shorter rest that is asked for meanwhile changes nothing."""
    frontier = await open_frontier()
    await frontier.add([link("0"), link("1"), link("2", host="b.example")])
    (first,) = await frontier.take(1, Q)
    await frontier.pace.rest(first.entry.host, 0.3)
    await frontier.pace.rest(first.entry.host, 0.0)
    await frontier.end([first])
    assert {lease.entry.host for lease in await frontier.take(9, Q)} == {"b.example"}
    assert 0 < (await frontier.next_ready(Q) or 0) <= 0.3
    assert names(await eventually(lambda: frontier.take(9, Q))) == ["1"]
    assert await frontier.inspector.audit() == []


async def test_barren_hosts_rest_for_a_time(open_frontier: OpenFrontier) -> None:
    """SWSE's penalty; a target in between clears the count."""
    frontier = await open_frontier(penalty_after=2, penalty_time=0.2)
    await frontier.add([link(str(n), host=h) for n in range(3) for h in ("a.example", "b.example")])
    for target in (False, True, False):
        await frontier.pace.reward("a.example", target=target)
    assert names(await frontier.take(1, Q)) == ["0"]
    await frontier.pace.reward("a.example", target=False)
    leases = await frontier.take(9, Q)
    assert {lease.entry.host for lease in leases} == {"b.example"}
    leases = await eventually(lambda: frontier.take(9, Q))
    assert names(leases) == ["1", "2"]
    assert await frontier.inspector.audit() == []
