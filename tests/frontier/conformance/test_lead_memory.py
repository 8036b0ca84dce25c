"""What workers know of other forms of pages, and of the pages of catalogues, on every backend."""

from __future__ import annotations

import asyncio

import pytest
from frontier_calls import OpenFrontier

from semcrawl.crawl import leadmemory
from semcrawl.crawl.leadmemory import LeadMemory
from semcrawl.errors import FrontierCorrupt
from semcrawl.sources.negotiation import NegotiationBook, as_rdf

D = "http://d.example"
PAGES = [f"{D}/p/{number}" for number in range(250)]


class Frontier:
    """Takes the other forms that are put in."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def put_in(self, url: str) -> None:
        await asyncio.sleep(0)
        self.asked.append(url)


@pytest.mark.slow
async def test_it_says_what_the_book_of_one_process_says(open_frontier: OpenFrontier) -> None:
    memory, book, into = LeadMemory(await open_frontier(), shared=True), NegotiationBook(2), []
    taken = Frontier()
    for url in PAGES:
        into += [url] if book.ask(url) else []
        await memory.ask(url, 2, taken.put_in)
    assert taken.asked == into == PAGES[:2]
    for number, url in enumerate(into):  # (grows)
        if number % 3:  # (some give nothing)
            continue
        into += book.note_found(as_rdf(url))
        await memory.note_found(as_rdf(url), 2, taken.put_in)
    assert taken.asked == into
    assert len(into) > 2


@pytest.mark.slow
async def test_what_one_worker_has_wait_another_asks_for_later(open_frontier: OpenFrontier) -> None:
    one, taken = LeadMemory(await open_frontier("w1"), shared=True), Frontier()
    for url in PAGES:
        await one.ask(url, 2, taken.put_in)
    assert await one.gives_forms(f"{D}/q") is False
    again = LeadMemory(await open_frontier("w3"), shared=True)
    for url in taken.asked:  # (grows)
        await again.note_found(as_rdf(url), 2, taken.put_in)
    assert sorted(taken.asked) == sorted(PAGES)
    assert await LeadMemory(await open_frontier("w4"), shared=True).gives_forms(f"{D}/q")


@pytest.mark.slow
async def test_workers_at_once_spend_no_more_tries_and_lose_no_page(
    open_frontier: OpenFrontier,
) -> None:
    memories = [LeadMemory(await open_frontier(f"w{n}"), shared=True) for n in range(3)]
    taken = Frontier()
    await asyncio.gather(
        *(memories[n % 3].ask(url, 2, taken.put_in) for n, url in enumerate(PAGES[:60]))
    )
    assert len(taken.asked) == 2
    for url in taken.asked:  # (grows)
        await memories[0].note_found(as_rdf(url), 2, taken.put_in)
    assert sorted(taken.asked) == sorted(PAGES[:60])


@pytest.mark.slow
async def test_the_pages_of_a_catalogue_are_counted_for_all_workers_and_runs(
    open_frontier: OpenFrontier,
) -> None:
    one, two = [LeadMemory(await open_frontier(name), shared=True) for name in ("w1", "w2")]
    pages = [f"{D}/catalogue?page={number}" for number in range(400)]
    followed = [url for n, url in enumerate(pages) if await (one, two)[n % 2].may_follow(url, 250)]
    assert followed == pages[:250]
    again = LeadMemory(await open_frontier("w3"), shared=True)
    assert [await again.may_follow(url, 250) for url in pages[248:252]] == [
        True,
        True,
        False,
        False,
    ]
    assert await again.may_follow(pages[-1], 0)


async def test_what_waits_is_bounded(
    open_frontier: OpenFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leadmemory, "_MOST_WAITING", 5)
    memory, taken = LeadMemory(await open_frontier(), shared=False), Frontier()
    for url in PAGES[:20]:
        await memory.ask(url, 1, taken.put_in)
    for url in taken.asked:  # (grows)
        await memory.note_found(as_rdf(url), 1, taken.put_in)
    assert len(taken.asked) == 6


async def test_a_state_that_nobody_wrote_is_told_of(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.shared.put("forms:d.example", b"\xc1")
    with pytest.raises(FrontierCorrupt, match=r"forms:d\.example"):
        await LeadMemory(frontier, shared=False).gives_forms(f"{D}/p/1")
