"""Orders of operators are checked, kept and recorded, whatever keeps the frontier."""

from __future__ import annotations

import re
import time

import pytest
from frontier_calls import OpenFrontier, Q, link, names
from scrapy.settings import Settings

from semcrawl.crawl.crawllimits import CrawlLimits
from semcrawl.crawl.sharedrobots import RobotsAnswer
from semcrawl.crawl.standingorders import EXCLUDE, load_orders
from semcrawl.errors import UsageError
from semcrawl.frontier.contract import Frontier, table_of
from semcrawl.watch.steering import PAGE, obey

SETTINGS = Settings({"ROBOTSTXT_OBEY": True, "USER_AGENT": "semcrawl"})
WRONG = {
    "explode": "there is no action 'explode'",
    "block": "usage: block HOST…",
    "block a/b": "'a/b' is no host",
    "resume a.example": "a.example is not paused",
    "delay a.example": "usage: delay HOST SECONDS",
    "delay a.example -1": "a delay is 0 to 86,400 seconds",
    "delay a.example nan": "a delay is 0 to 86,400 seconds",
    "host-budget many": "'many' is none of",
    "add-exclude re:(": "not a regular expression",
    "add-exclude ftp://x": "can match no address",
    "add-exclude @/etc/passwd": "only the command line may name files",
    "remove-exclude /x*": "no order has the pattern",
    "seed ftp://a.example/": "not an http or https URL",
    "seed http://a.example/private/x": "the robots.txt of its host forbids",
    "delay a.example 2": "asks for 7 s between two requests",
    "pause \x1b[2J": "cannot be printed",
}


async def give(frontier: Frontier, text: str) -> None:
    await obey(frontier, SETTINGS, text.split(), PAGE)


async def knows_robots(frontier: Frontier) -> None:
    rules = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 7\n"
    answer = RobotsAnswer(200, rules, time.time() + 1000)
    await frontier.shared.put("robots:http://a.example", answer.pack(), seconds=1000)


async def test_wrong_orders_and_those_against_robots_change_nothing(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    await knows_robots(frontier)
    for text, reason in WRONG.items():
        with pytest.raises(UsageError, match=re.escape(reason)):
            await give(frontier, text)
    orders = await load_orders(frontier)
    assert (orders.lines(), orders.said) == ([], [])


async def test_orders_reach_all_workers_and_are_recorded(open_frontier: OpenFrontier) -> None:
    frontier, other = await open_frontier(), await open_frontier("w2")
    limits = CrawlLimits(other, SETTINGS)
    assert limits.paused  # until the orders are known
    await limits.refresh()
    assert not limits.paused
    given = ("pause", "pause B.example:8080", "block c.example", "add-exclude /x*", "stop")
    for text in given:
        await give(frontier, text)
    assert await limits.refresh()
    assert limits.paused
    assert limits.stopped
    assert limits.holds("http://b.example:8080/")
    assert not limits.now.patterns.allow("http://c.example/")
    assert [each.text for each in (await load_orders(other)).said] == list(given)
    for text in ("resume", "unblock c.example", "remove-exclude /x*"):
        await give(frontier, text)
    await limits.refresh()
    assert not limits.holds("http://b.example:8080/")
    assert limits.now.patterns.allow("http://c.example/x")
    assert (await load_orders(other)).limits == {EXCLUDE: []}
    later = CrawlLimits(other, SETTINGS)
    await later.refresh()
    assert not later.stopped  # it began after that


async def test_a_delay_is_kept_and_never_below_what_robots_ask_for(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    await frontier.pace.set("d.example", delay=3.0)  # as its robots.txt asked for
    for text in ("delay d.example 9", "delay d.example 4"):
        await give(frontier, text)
    assert (await table_of(frontier.inspector, "pace"))["d.example"][0] == 4.0
    with pytest.raises(UsageError, match="asks for 3 s"):
        await give(frontier, "delay d.example 2")


async def test_hosts_come_first_or_last_until_that_is_taken_back(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    for key, name in enumerate("abc"):
        await frontier.add([link(name, host=f"{name}.example", group=name, key=float(key))])

    async def taken() -> list[str]:
        leases = await frontier.take(3, Q)
        await frontier.release(leases)
        await frontier.give_back(leases)
        return names(leases)

    await give(frontier, "prefer C.example b.example")
    await give(frontier, "defer a.example b.example")
    assert (await load_orders(frontier)).lines() == [
        "first: c.example", "last: a.example", "last: b.example"
    ]  # fmt: skip
    assert await taken() == ["c", "a", "b"]
    await give(frontier, "unrank c.example a.example")
    assert await taken() == ["a", "c", "b"]
    with pytest.raises(UsageError, match=r"a\.example comes neither first nor last"):
        await give(frontier, "unrank a.example")
    await give(frontier, "reset")
    assert await taken() == ["a", "b", "c"]
    assert (await load_orders(frontier)).lines() == []


async def test_a_seed_waits_on_the_list_of_the_spider(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await knows_robots(frontier)
    await give(frontier, "seed http://a.example/public http://b.example/")
    found = await frontier.shared.take_seeds("html:start_urls", 10)
    assert found == ["http://a.example/public", "http://b.example/"]
