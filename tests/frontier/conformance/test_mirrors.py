"""Links that a mirror of their host gave are withheld by all workers; all come back in time."""

from __future__ import annotations

from frontier_calls import OpenFrontier, Q, names

from semcrawl.crawl.withholding import MirrorBook
from semcrawl.frontier.contract import Entry, Lease
from semcrawl.frontier.linkstate import LinkState

A, B = "a.example", "b.example"


def entries(host: str, first: int, last: int) -> list[Entry]:
    state = LinkState(f"http://{host}/", 1).pack()
    return [
        Entry(f"http://{host}/{n:03}", host, Q[0], "g", 0.0, state, "H") for n in range(first, last)
    ]


def body(lease: Lease, other: str = "") -> str:
    return f"{lease.entry.url[-3:]}{other}".encode().hex().ljust(64, "0")


async def test_copies_are_withheld_by_all_workers_until_one_differs(
    open_frontier: OpenFrontier,
) -> None:
    frontier, second = (
        await open_frontier(mirror_copies=3),
        await open_frontier("w2", mirror_copies=3),
    )
    one, two = MirrorBook(frontier.withheld, 3), MirrorBook(second.withheld, 3)
    await one.open()
    await frontier.add([*entries(A, 0, 40), *entries(B, 0, 3)])
    first = await frontier.take(100, Q)
    for lease in first:
        one.gave(lease, body(lease))
    await one.flush()
    await frontier.done(first)
    await two.open()
    await second.add(entries(B, 3, 42))
    taken = await second.take(100, Q)
    kept, gone = await two.sift(taken)
    # of 37 that the mirror gave: the 1st, 2nd, 4th … 32nd; and what it did not
    tried = [3, 4, 6, 10, 18, 34, 40, 41]
    assert [int(lease.entry.url[-3:]) for lease in kept] == tried
    assert len(gone) == 31
    assert await frontier.inspector.audit() == []
    (withheld,) = await frontier.withheld.families()
    assert withheld.mirror
    assert (withheld.document, withheld.pattern) == (f"http://{A}", f"http://{B}")
    for lease in kept:
        two.gave(lease, body(lease, "!" if lease.entry.url.endswith("034") else ""))
    await two.flush()
    await second.done(kept)
    back = await frontier.take(100, Q)
    assert sorted(names(back)) == sorted(names(gone))
    assert await frontier.withheld.families() == []
    assert (await one.sift(back))[1] == []
    assert await frontier.inspector.audit() == []


async def test_what_a_mirror_is_asked_for_in_vain_comes_back(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(mirror_copies=3)
    book = MirrorBook(frontier.withheld, 3)
    await frontier.add([*entries(A, 0, 3), *entries(B, 0, 3)])
    first = await frontier.take(100, Q)
    for lease in first:
        book.gave(lease, body(lease))
    await book.flush()
    await frontier.done(first)
    assert book.others(f"http://{A}/x?y") == [f"http://{B}/x?y"]
    await frontier.add([*entries(A, 3, 9), *entries(B, 3, 9)])
    kept, gone = await book.sift(await frontier.take(100, Q))
    assert gone
    assert await book.release() == 0  # the others are under way
    for lease in kept:
        book.over(lease)
    await book.flush()
    await frontier.done(kept)
    back = await frontier.take(100, Q)
    assert sorted(names(back)) == sorted(names(gone))
    again, withheld = await book.sift(back)
    assert (len(again), withheld) == (len(gone), [])
    assert await frontier.inspector.audit() == []
    # a worker dies with links that others wait for: in the end they come back
    await frontier.done(again)
    await frontier.add([*entries(A, 9, 15), *entries(B, 9, 15)])
    kept, gone = await book.sift(await frontier.take(100, Q))
    await frontier.done(kept)
    assert await book.release() >= len(gone) > 0
    assert await frontier.inspector.audit() == []
