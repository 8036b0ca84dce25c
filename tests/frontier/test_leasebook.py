"""A process's leases, and its reports on them to the frontier."""

from __future__ import annotations

import gc
import weakref

import pytest
from frontier_calls import OpenFrontier, Q, host_in, link, names, sharded
from scrapy.http import Request

from semcrawl.crawl.attempt import ATTEMPT, LeaseBook, attempt_of
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.web.bodies import BODY_FILE, BodyFile


@pytest.fixture
async def taken(open_frontier: OpenFrontier) -> tuple[RedisFrontier, LeaseBook, list[Lease]]:
    """A frontier of which four links were taken and handed out."""
    frontier = await open_frontier()
    await frontier.add([link(str(n)) for n in range(4)])
    leases = await frontier.take(4, Q)
    book = LeaseBook()
    for lease in leases:
        book.hand_out(lease)
    return frontier, book, leases


Taken = tuple[RedisFrontier, LeaseBook, list[Lease]]


async def test_a_link_is_in_flight_until_it_is_read_and_held_until_its_results_are_written(
    taken: Taken,
) -> None:
    _, book, (one, two, three, four) = taken
    assert (book.in_flight_count, len(book), book.unsent) == (4, 4, 4)
    for lease in (one, two, three):
        book.note_sent(lease)
    assert book.unsent == 1
    book.note_downloaded(one)
    assert book.is_in_flight(one)
    book.note_read(one)
    assert not book.is_in_flight(one)
    assert (book.in_flight_count, len(book), book.unsent) == (3, 4, 1)
    book.drop(two)
    book.end(three)
    assert book.in_flight == [four]
    assert book.overdue_count(1000.0) == 0
    assert book.held == [one, four]
    assert book.unsent == 1


async def test_time_for_reading_is_no_delay_of_the_host(taken: Taken) -> None:
    """A link whose response has come is overdue only after much longer."""
    _, book, (one, two, three, _) = taken
    for lease in (one, two, three):
        book.note_sent(lease)
        book.attempt(lease).handed_out_at -= 5
    book.note_downloaded(one)
    book.note_downloaded(two)
    assert book.overdue(2.0) == [three]
    book.attempt(two).handed_out_at -= 15
    assert book.overdue(2.0) == [two, three]


async def test_the_frontier_hears_what_was_done_and_what_failed(taken: Taken) -> None:
    frontier, book, (one, two, three, four) = taken
    book.end(one)
    book.end(two, failed=True)
    book.drop(three)
    await frontier.give_back([three])
    book.end(three)
    assert await book.flush(frontier) == []
    assert await frontier.inspector.audit() == []
    assert names(await frontier.take(9, Q)) == ["2"]
    assert await frontier.requeue(Q) == 1
    assert names(await frontier.take(9, Q)) == ["1"]
    assert (await frontier.counts(Q, [])).leased == 3
    assert book.held == [four]


async def test_only_downloads_of_links_that_go_on_are_left_to_be_told(taken: Taken) -> None:
    """The others' hosts are free with their ends."""
    frontier, book, (one, two, three, _) = taken
    for lease in (one, two, three):
        book.note_downloaded(lease)
    book.end(one)
    book.end(two, failed=True)
    assert await book.flush(frontier) == [three]
    assert await book.flush(frontier) == []


async def test_attempts_are_acknowledged_together_while_others_go_on(taken: Taken) -> None:
    """The last of them are acknowledged at the end, whatever is still held."""
    frontier, book, (one, two, three, four) = taken
    book.end(one)
    await book.flush(frontier)
    book.note_downloaded(two)
    book.end(two)
    assert await book.flush(frontier) == [two]
    assert len(book) == 3  # as many as the frontier knows of
    assert (await frontier.counts(Q, [])).leased == 3
    book.end(three)
    await book.flush(frontier, final=True)
    assert (await frontier.counts(Q, [])).leased == 1
    book.end(four)
    await book.flush(frontier)
    assert (await frontier.counts(Q, [])).leased == 0


async def test_one_call_acknowledges_the_attempts_of_one_shard(
    servers: list[str], prefix: str
) -> None:
    """The shard of the first one, unless another has many; at the end all."""
    async with sharded(servers, prefix) as frontier:
        await frontier.add([link(f"{n}", host=host_in(n % 3)) for n in range(7)])
        leases = sorted(await frontier.take(7, Q), key=lambda lease: lease.entry.url[-1])
        book = LeaseBook(8)  # two together
        for lease in leases:
            book.hand_out(lease)

        async def leased(end: int, *, final: bool = False) -> int:
            book.end(leases[end])
            await book.flush(frontier, final=final)
            return (await frontier.counts(Q, [])).leased

        assert await leased(0) == 6  # some time has passed since the last call
        assert await leased(1) == 6
        assert await leased(2) == 6
        assert await leased(5) == 4  # 2 and 5 are of one shard
        assert await leased(3) == 4
        assert await leased(6, final=True) == 1
        assert book.held == [leases[4]]


async def test_a_large_body_does_not_outlive_the_request_of_its_attempt(taken: Taken) -> None:
    _, book, (one, *_) = taken
    body = BodyFile()
    request = Request(one.entry.url, meta={ATTEMPT: book.attempt(one), BODY_FILE: body})
    attempt = attempt_of(request)
    assert attempt is not None
    assert attempt.meta[BODY_FILE] is body
    freed = weakref.ref(body)
    gc.disable()
    try:
        attempt.begin_again()
        book.end(one)
        del body, request
        assert freed() is None
    finally:
        gc.enable()
