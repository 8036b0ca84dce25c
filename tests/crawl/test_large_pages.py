"""Links of large pages leave time to everything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from semcrawl.crawl import attempt, intake, learning
from semcrawl.crawl.attempt import LeaseBook
from semcrawl.crawl.intake import TimeShare
from semcrawl.crawl.learning import SharedLearning
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.contract import Entry, Lease
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.links import Link, Page
from semcrawl.reading.pool import ReadingLost
from semcrawl.relevance import Ranked
from semcrawl.relevance.orders import BreadthFirst
from semcrawl.web.hosts import netloc_of

LARGE = range(2000)


class Rests:
    """Notes which hosts rest."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self.second = asyncio.Event()

    async def __call__(self, host: str, seconds: float) -> None:
        self.hosts.append(host)
        if host == "two":
            self.second.set()


@pytest.fixture
def rests() -> Rests:
    return Rests()


@pytest.fixture
def leases() -> LeaseBook:
    """Leases of a worker that has asked a host."""
    leases = LeaseBook()
    for n in range(3):
        leases.hand_out(Lease(str(n), Entry("http://other/", "other", "html", "")))
    return leases


@pytest.fixture
def share(rests: Rests, leases: LeaseBook) -> TimeShare:
    return TimeShare(rests, leases.asks_beside)


@pytest.fixture
async def frontier(tmp_path: Path) -> AsyncIterator[SqliteFrontier]:
    async with SqliteFrontier(tmp_path / "f.db", name="crawl", worker_id="w") as frontier:
        yield frontier


async def test_others_have_twice_the_time_that_a_large_page_has(
    share: TimeShare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where others are asked; otherwise the page need not wait."""
    passed, worked = await _take_in(share, "one")
    assert passed >= 3 * worked
    passed, worked = await _take_in(share, "other")
    assert passed < 2 * worked
    monkeypatch.setattr(attempt, "_ASKED", 0.0)
    passed, worked = await _take_in(share, "one")
    assert passed < 2 * worked


async def _take_in(share: TimeShare, host: str) -> tuple[float, float]:
    """Return the seconds that a large page took, and those that were spent on its links."""
    worked, began, sizes = 0.0, time.monotonic(), []
    async for portion in share.portions(host, LARGE):
        begun = time.monotonic()
        _work(0.002)
        sizes.append(len(portion))
        worked += time.monotonic() - begun
    assert sum(sizes) == len(LARGE)
    assert max(sizes) <= 500
    return time.monotonic() - began, worked


def _work(seconds: float) -> None:
    time.sleep(seconds)


async def test_large_pages_take_turns_and_others_need_not_wait(share: TimeShare) -> None:
    within = []

    async def take_in(name: str, links: Sequence[int]) -> None:
        async with share.turn(name, links):
            within.append(name)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            within.append(name)

    await asyncio.gather(take_in("one", LARGE), take_in("two", LARGE), take_in("few", range(500)))
    assert within == ["one", "few", "one", "few", "two", "two"]


@pytest.mark.parametrize("others", [True, False])
async def test_a_host_is_not_asked_while_its_large_page_waits_or_holds_back_others(
    share: TimeShare,
    rests: Rests,
    monkeypatch: pytest.MonkeyPatch,
    *,
    others: bool,
) -> None:
    monkeypatch.setattr(intake, "_HELD", 0.001)
    first = "one" if others else "other"
    async with share.turn(first, LARGE), share.turn("small", range(500)):
        waiting = asyncio.create_task(_wait_for_turn(share, "two"))
        await rests.second.wait()
    await waiting
    number = len(rests.hosts)
    await asyncio.sleep(0.005)
    assert set(rests.hosts) == ({"one", "two"} if others else {"two"})
    assert len(rests.hosts) == number


async def _wait_for_turn(share: TimeShare, host: str) -> None:
    async with share.turn(host, LARGE):
        pass


async def test_a_stopped_crawl_waits_for_no_large_page(share: TimeShare) -> None:
    """The next run reads it again; what few links there are go in."""
    share.close()
    with pytest.raises(ReadingLost) as lost:
        async for _ in share.portions("one", LARGE):
            pass
    assert lost.value.ours
    assert [list(portion) async for portion in share.portions("one", range(3))] == [[0, 1, 2]]


class Rekeying(BreadthFirst):
    """Notes how many links it judges at a time, and moves links once."""

    rekeys = True

    def __init__(self, moved: Sequence[str] = ()) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self._to_move = moved

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        self.sizes.append(len(links))
        ranked = super().rank(page, links)
        return [replace(r, key=-r.link.position) for r in ranked]

    def rekeyed(self) -> Mapping[str, float]:
        moved, self._to_move = self._to_move, ()
        return dict.fromkeys(moved, -1.0)


async def test_links_of_a_large_page_are_judged_and_added_in_portions(
    frontier: SqliteFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best are added first."""
    monkeypatch.setattr(intake, "_PORTION", 5)
    strategy = Rekeying()
    session = CrawlSession(frontier, strategy, SessionOptions())
    added, add = [], frontier.add

    async def note(entries: Sequence[Entry], **options: object) -> list[bool]:
        added.append(len(entries))
        return await add(entries, **options)  # type: ignore[arg-type]

    frontier.add = note  # type: ignore[method-assign]
    links = [Link(f"http://h{n}/{n}.ttl", position=n) for n in range(12)]
    new = await session.intake.discover(Page("http://list/"), links, "html", lambda _: True)
    assert [r.link for r in new] == links[::-1]
    assert strategy.sizes == added == [5, 5, 2]


async def test_of_very_many_new_keys_some_are_set_at_a_time(
    frontier: SqliteFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Takes come in between; what is saved as learned has all keys in the frontier."""
    monkeypatch.setattr(learning, "_KEYS_AT_ONCE", 5)
    shared = SharedLearning(frontier, Rekeying([f"http://h{n}/" for n in range(18)]), netloc_of)
    told: list[int] = []

    async def note(keys: Sequence[tuple[Entry, float]]) -> None:
        told.append(len({entry.url for entry, _ in keys}))

    frontier.rekey = note  # type: ignore[method-assign]
    await shared.apply()
    assert told == [5]
    await shared.publish()
    assert told == [5, 5]
    await shared.save()
    assert told == [5, 5, 5, 3]
