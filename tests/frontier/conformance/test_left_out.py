"""Links that do not go in are counted once each, for all workers and runs."""

from __future__ import annotations

from collections import Counter

import pytest
from frontier_calls import OpenFrontier, link

from semcrawl.crawl.withholding import LeftOutBook
from semcrawl.frontier.contract import LeftOutLinks, Reason

SCOPE, DEEP = Reason.OUT_OF_SCOPE, Reason.TOO_DEEP
MANY = 1_000_000


def urls(host: str, count: int) -> list[tuple[str, Reason]]:
    return [(f"http://{host}/{n}", SCOPE) for n in range(count)]


@pytest.mark.slow
async def test_each_link_counts_once_whoever_finds_it(open_frontier: OpenFrontier) -> None:
    one, other = await open_frontier("w1"), await open_frontier("w2")
    assert await one.aside.left_out() == LeftOutLinks()
    await one.aside.leave_out(urls("b.example:8080", 700), MANY)
    await other.aside.leave_out(urls("b.example:8080", 900), MANY)
    await other.aside.leave_out([("http://c.example/", SCOPE), ("http://d.example/", DEEP)], MANY)
    found = await one.aside.left_out()
    assert found.hosts == {SCOPE: {"b.example:8080": 900, "c.example": 1}, DEEP: {"d.example": 1}}
    assert found.most == ("http://b.example:8080/0", 900)
    assert not found.more
    assert await other.aside.left_out() == found
    assert await one.inspector.audit() == []


async def test_the_reason_for_a_link_is_known(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.aside.leave_out(
        [("http://c.example/", SCOPE), ("http://d.example/", DEEP)], MANY
    )
    reasons = [await frontier.aside.reason(f"http://{name}.example/") for name in "cde"]
    assert reasons == [SCOPE, DEEP, None]


async def test_what_went_in_after_all_was_not_left_out(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.aside.leave_out(urls("a.example", 5) + urls("b.example", 1), MANY)
    await frontier.add([link(str(n)) for n in range(3)] + [link("0", host="b.example")])
    assert (await frontier.aside.left_out()).hosts == {SCOPE: {"a.example": 2}}
    assert (await frontier.aside.left_out()).most == ("http://a.example/0", 2)


async def test_what_only_the_bloom_filter_has_was_not_left_out(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier(exact_limit=10, seen_capacity=5000, seen_error=1e-6)
    await frontier.aside.leave_out(urls("a.example", 300), MANY)
    await frontier.add([link(str(n)) for n in range(250)])
    await frontier.end(await frontier.take(300, ["html"]))
    assert (await frontier.aside.left_out()).hosts == {SCOPE: {"a.example": 50}}


async def test_beyond_the_limit_it_says_that_there_are_more(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.aside.leave_out(urls("b.example", 10), 10)
    await frontier.aside.leave_out(urls("b.example", 10), 10)
    assert not (await frontier.aside.left_out()).more
    await frontier.aside.leave_out(urls("b.example", 11), 10)
    found = await frontier.aside.left_out()
    assert (found.hosts, found.more) == ({SCOPE: {"b.example": 10}}, True)


async def test_a_process_tells_each_link_once_and_nothing_without_need(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    book = LeftOutBook(frontier.aside, MANY, remembered=3)
    for _ in range(2):
        for url, reason in urls("b.example", 5):
            book.add(url, reason)
    await book.flush()
    await book.flush()
    assert (await frontier.aside.left_out()).hosts == {SCOPE: {"b.example": 5}}
    LeftOutBook(frontier.aside, 0).add("http://b.example/", SCOPE)


def test_of_equal_hosts_one_is_the_first_in_every_run() -> None:
    hosts = {"b.example": 2, "a.example": 2}
    first = {(SCOPE, host): f"http://{host}/" for host in hosts}
    assert LeftOutLinks({SCOPE: Counter(hosts)}, first).most == ("http://b.example/", 2)
