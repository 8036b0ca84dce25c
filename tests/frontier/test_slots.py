"""Which links may have the slots that are free."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from frontier_calls import OpenFrontier, Q, link

from semcrawl.crawl.dispatch import Slots
from semcrawl.frontier.contract import Entry, Lease, SkippedHosts


def leases(*hosts: str) -> list[Lease]:
    return [
        Lease(f"html:{n}", Entry(f"http://{host}/{n}", host, "html", "g"))
        for n, host in enumerate(hosts)
    ]


def slots(share: float = 0.5, gave: Sequence[str] = ()) -> Slots:
    return Slots(8, share, set(gave).__contains__)


def test_a_domain_has_its_share_as_soon_as_there_is_another() -> None:
    """Whatever its hosts, and ports, are called."""
    some = slots()
    same = [f"{n}.d.example:80{n}0" for n in range(8)]
    assert not some.skipped(leases(*same), some_are_dead=False)[0]
    some.skipped(leases("other.test"), some_are_dead=False)
    left_out, _ = some.skipped(leases(*same[:4], "other.test"), some_are_dead=False)
    assert left_out == SkippedHosts(untried=False, domains=["d.example"])
    left_out, most = some.skipped(leases(*same[:3]), some_are_dead=False)
    assert (left_out.domains, most) == ([], 1)


def test_hosts_that_gave_nothing_have_their_share_once_some_are_dead() -> None:
    """Each counts twice, as it waits for its robots.txt."""
    some = slots(gave=["good.test"])
    flying = leases("good.test", "a.example", "b.example")
    assert not some.skipped(flying, some_are_dead=False)[0]
    assert some.skipped(flying, some_are_dead=True)[0].untried
    assert not some.skipped(flying[:2], some_are_dead=True)[0].untried


def test_all_of_the_slots_may_be_anybodys() -> None:
    flying = leases(*(f"{n}.example" for n in range(8)), *["x.test"] * 8)
    left_out, most = slots(1.0).skipped(flying, some_are_dead=True)
    assert not left_out
    assert most >= 8


async def test_what_is_left_out_is_not_taken_as_long_as_others_wait(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(concurrency=2)
    hosts = ("a.d.example", "b.d.example:81", "d.example.test", "xd.example")
    for host in hosts:
        await frontier.add([link(f"{n}{g}", host=host, group=g) for n in range(3) for g in "gh"])
    left_out = SkippedHosts(untried=False, domains=["d.example"])
    taken = await frontier.take(99, Q, skip=left_out)
    assert {lease.entry.host for lease in taken} == {"d.example.test", "xd.example"}
    assert len(taken) == 4
    await frontier.end(taken)
    while others := await frontier.take(99, Q, skip=left_out):
        if {lease.entry.host for lease in others} & {"a.d.example", "b.d.example:81"}:
            break
        await frontier.end(others)
    assert (await frontier.counts(Q, [])).hosts <= 2  # none else waits
    assert await frontier.inspector.audit() == []


@pytest.mark.slow
@pytest.mark.parametrize("group", ["own", "shared"])
@pytest.mark.parametrize("untried", [False, True])
async def test_many_hosts_that_are_left_out_hide_no_other(
    open_frontier: OpenFrontier, group: str, untried: bool
) -> None:
    """However many of one domain, or that gave nothing, stand in front."""
    frontier = await open_frontier(concurrency=99, ahead=0)
    many = [f"h{n}.d.example{':81' if n % 2 else ''}" for n in range(800)]
    for host in [*many, "good.example"]:
        named = group if group == "shared" else host
        await frontier.add([link(host, host=host, group=named)])
    await frontier.pace.up("good.example", step=0.0, good="http://good.example/")
    skip = SkippedHosts(untried=True) if untried else SkippedHosts(domains=["d.example"])
    taken = await frontier.take(1, Q, skip=skip)
    assert [lease.entry.host for lease in taken] == ["good.example"]


@pytest.mark.parametrize("group", ["own", "shared"])
async def test_hosts_that_gave_nothing_come_last_among_equals_once_two_are_dead(
    open_frontier: OpenFrontier, group: str
) -> None:
    """Better groups go first all the same; a host that gives something goes with the others."""
    # (of links alike, shards in their default order give any)
    frontier = await open_frontier(concurrency=99, ahead=0)

    def name(host: str) -> str:
        return group if group == "shared" else host

    for host in ("new.example", "good.example"):
        await frontier.add([link(f"{host}{n}", host=host, group=name(host)) for n in range(3)])
    await frontier.pace.up("good.example", step=0.0, good="http://good.example/")
    assert (await frontier.take(1, Q))[0].entry.host == "new.example"
    for _ in range(2):
        await frontier.pace.note_dead()
    taken = await frontier.take(2, Q)
    assert {lease.entry.host for lease in taken} == {"good.example"}
    untried = SkippedHosts(untried=True, domains=[])
    assert len(await frontier.take(9, Q, skip=untried)) == 1
    assert await frontier.take(9, Q, skip=untried) == []
    await frontier.add([link("good", host="good.example", group=name("good.example"))])
    await frontier.pace.up("new.example", step=0.0, good="http://new.example/")
    assert (await frontier.take(1, Q))[0].entry.host == "new.example"
    assert await frontier.inspector.audit() == []
    await frontier.add([link("best", host="newer.example", group="best")])
    await frontier.set_values({"best": 1.0})
    assert (await frontier.take(1, Q))[0].entry.host == "newer.example"
    assert await frontier.inspector.audit() == []
