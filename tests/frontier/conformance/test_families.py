"""Families of links of which the first few brought nothing are withheld; all come back in time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from frontier_calls import OpenFrontier, Q, link, names

from semcrawl.frontier.contract import Entry, Lease
from semcrawl.frontier.links import LinkState
from semcrawl.frontier.transfer import export_lines, import_lines
from semcrawl.relevance.families import Family, Verdict

DUMP = "http://a.example/dump.nt"
FAMILY, OTHER = Family(DUMP, "http://a.example/0"), Family(DUMP, "http://a.example/*")
KNOWN = {FAMILY.name: FAMILY, OTHER.name: OTHER}


def members(count: int, family: Family = FAMILY, **more: object) -> list[Entry]:
    state = LinkState(DUMP, 1, family=family.name, **more)  # type: ignore[arg-type]
    return [
        link(f"{family.pattern[-1]}{n:03}", payload=state.pack(), label="H") for n in range(count)
    ]


def answers(
    leases: Sequence[Lease], what: Verdict = Verdict.BARREN, led_to: str = ""
) -> list[tuple[str, Verdict, str]]:
    return [(LinkState.unpack(lease.entry).family, what, led_to) for lease in leases]


async def test_a_barren_family_is_withheld_but_for_a_few(open_frontier: OpenFrontier) -> None:
    frontier, other = (
        await open_frontier(family_tries=10),
        await open_frontier("w2", family_tries=10),
    )
    await frontier.aside.know_families(KNOWN)
    await frontier.add([*members(200), *members(20, OTHER)])
    first = await frontier.take(10, Q)
    assert not await frontier.aside.judge_families(answers(first))
    await frontier.end(first)
    rest = await other.take(300, Q)
    # of 190: the 1st, 2nd, 4th … 128th; and what is of another family
    tried = ["0010", "0011", "0013", "0017", "0025", "0041", "0073", "0137"]
    assert names(rest) == tried + [f"*{n:03}" for n in range(20)]
    assert await other.take(300, Q) == []
    await other.end(rest)
    assert (await frontier.counts(Q, [])).finished
    (withheld,) = (await frontier.aside.left_out()).withheld
    assert (withheld.document, withheld.pattern) == (DUMP, FAMILY.pattern)
    assert (withheld.links, withheld.asked) == (182, 10)
    assert await frontier.inspector.audit() == []


async def test_one_that_gives_something_brings_all_back(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(family_tries=10)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(700))
    first = await frontier.take(10, Q)
    await frontier.aside.judge_families(answers(first))
    probes = await frontier.take(1000, Q)
    assert len(probes) == 10
    assert await frontier.aside.judge_families(answers(probes[-1:], Verdict.USEFUL))
    assert await frontier.aside.restore(500) == 500
    assert await frontier.aside.restore(500) == 180
    assert await frontier.aside.restore(500) == 0
    assert await frontier.inspector.audit() == []
    back = await frontier.take(1000, Q)
    assert len(back) == 680
    assert names(back) == sorted(names(back))
    await frontier.aside.judge_families(answers(back))
    await frontier.add([link("x", payload=members(1)[0].payload)])
    assert len(await frontier.take(10, Q)) == 1
    assert (await frontier.aside.left_out()).withheld == ()


async def test_a_family_that_was_of_use_is_asked_to_the_end(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(family_tries=3)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(20))
    first = await frontier.take(1, Q)
    assert not await frontier.aside.judge_families(answers(first, Verdict.USEFUL))
    await frontier.aside.judge_families(answers(await frontier.take(9, Q)))
    assert len(await frontier.take(100, Q)) == 10


async def test_what_says_nothing_does_not_count(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(family_tries=3)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(20))
    await frontier.aside.judge_families(answers(await frontier.take(10, Q), Verdict.UNKNOWN))
    assert len(await frontier.take(100, Q)) == 10


async def test_what_all_lead_to_is_of_use_to_none(open_frontier: OpenFrontier) -> None:
    """The first one finds the page; that the others lead there, too, takes it back."""
    frontier = await open_frontier(family_tries=3)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(50))
    for what in (Verdict.USEFUL, *[Verdict.UNKNOWN] * 3):
        leases = await frontier.take(1, Q)
        await frontier.aside.judge_families(answers(leases, what, "http://a.example/home"))
    assert len(await frontier.take(100, Q)) == 6
    assert (await frontier.aside.left_out()).withheld[0].asked == 4


@pytest.mark.parametrize(("same", "asked"), [(True, 6), (False, 46)])
async def test_redirects_to_one_known_place_lead_nowhere(
    same: bool, asked: int, open_frontier: OpenFrontier
) -> None:
    """Those to different ones tell nothing: each may be what its address stands for."""
    frontier = await open_frontier(family_tries=3)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(50))
    for number in range(4):
        where = "http://a.example/home" if same else f"http://a.example/doc/{number}"
        leases = await frontier.take(1, Q)
        await frontier.aside.judge_families(answers(leases, Verdict.UNKNOWN, where))
    assert len(await frontier.take(100, Q)) == asked


async def test_what_was_asked_for_before_is_not_withheld(open_frontier: OpenFrontier) -> None:
    """The target of a redirect, and what is tried again, are on their way already."""
    frontier = await open_frontier(family_tries=1)
    await frontier.aside.know_families(KNOWN)
    await frontier.aside.judge_families([(FAMILY.name, Verdict.BARREN, "")] * 5)
    await frontier.add(members(9, redirects=("http://a.example/old",)))
    assert len(await frontier.take(100, Q)) == 9
    await frontier.add([link(f"r{n}", payload=members(1, retries=1)[0].payload) for n in range(9)])
    leases = await frontier.take(100, Q)
    assert len(leases) == 9
    assert {LinkState.unpack(lease.entry).family for lease in leases} == {FAMILY.name}


async def test_one_whose_worker_died_is_of_its_family_still(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(family_tries=1)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(9))
    assert len(await frontier.take(100, Q)) == 9
    await open_frontier(family_tries=1)  # the worker starts again
    await frontier.aside.judge_families([(FAMILY.name, Verdict.BARREN, "")])
    assert len(await frontier.take(100, Q)) == 4
    assert (await frontier.aside.left_out()).withheld[0].links == 5


async def test_with_more_tries_withheld_links_come_back(open_frontier: OpenFrontier) -> None:
    for tries, back in ((2, 0), (20, 6), (0, 0)):
        frontier = await open_frontier(f"w{tries}", family_tries=tries)
        if tries == 2:
            await frontier.aside.know_families(KNOWN)
            await frontier.add(members(12))
            await frontier.aside.judge_families(answers(await frontier.take(2, Q)))
            assert len(await frontier.take(100, Q)) == 4
        assert await frontier.aside.restore(500) == back
    assert len(await frontier.take(100, Q)) == 6


@pytest.mark.slow
async def test_many_withheld_links_hold_nobody_up(open_frontier: OpenFrontier) -> None:
    """A call passes over so many at most; the next goes on."""
    frontier = await open_frontier(family_tries=1)
    await frontier.aside.know_families(KNOWN)
    await frontier.aside.judge_families([(FAMILY.name, Verdict.BARREN, "")])
    await frontier.add([*members(2500), link("zzz", key=1.0)])
    taken: list[str] = []
    calls = 0
    while await frontier.next_ready(Q) is not None:
        leases = await frontier.take(1000, Q)
        taken += names(leases)
        calls += 1
        await frontier.end(leases)
    assert "zzz" in taken
    assert calls == 3
    assert (await frontier.aside.left_out()).withheld[0].links == 2500 - 12


async def test_families_move_with_their_frontier(open_frontier: OpenFrontier, prefix: str) -> None:
    frontier = await open_frontier(family_tries=3)
    await frontier.aside.know_families(KNOWN)
    await frontier.add(members(20))
    first = await frontier.take(3, Q)
    await frontier.aside.judge_families(answers(first, led_to="http://a.example/home"))
    await frontier.end([*first, *await frontier.take(100, Q)])
    assert (await frontier.aside.left_out()).withheld[0].links == 12
    lines = [line async for line in export_lines(frontier)]
    moved = await open_frontier(prefix=f"{prefix}-moved", family_tries=3)
    assert await import_lines(moved, lines) == 12
    assert [line async for line in export_lines(moved) if '"family"' in line] == [
        line for line in lines if '"family"' in line
    ]
    # of those that were met, the 32nd would be the next to be asked for
    assert names(await moved.take(100, Q)) == []
    assert (await moved.aside.left_out()).withheld[0].links == 12
