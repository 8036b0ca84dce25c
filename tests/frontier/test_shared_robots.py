"""robots.txt files that workers of a crawl share."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from frontier_calls import OpenFrontier
from redis import Redis

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.robots import RobotsAnswer, SharedRobots

ORIGIN = "http://a.example"
RULES = b"User-agent: *\nDisallow: /x\n"


class Server:
    """Answers requests for robots.txt and counts them."""

    def __init__(self, status: int = 200, body: bytes = RULES, holds: float = 60.0) -> None:
        self.status, self.body, self.holds = status, body, holds
        self.asked = 0

    async def ask(self) -> RobotsAnswer:
        self.asked += 1
        await asyncio.sleep(0.05)
        return RobotsAnswer(self.status, self.body, time.time() + self.holds)

    async def fails(self) -> RobotsAnswer:
        self.asked += 1
        raise OSError("no route")

    async def read(self, robots: SharedRobots) -> tuple[Any, bool]:
        _, rules, asked = await robots.get(ORIGIN, self.ask, bytes.decode)
        return rules, asked


async def test_many_readers_in_two_workers_ask_once(open_frontier: OpenFrontier) -> None:
    workers = [SharedRobots(await open_frontier(name)) for name in ("w1", "w2")]
    server = Server(body=RULES * 50)
    found = await asyncio.gather(*(server.read(robots) for robots in workers * 5))
    assert server.asked == 1
    assert {rules for rules, _ in found} == {(RULES * 50).decode()}
    assert sum(asked for _, asked in found) == 1
    late = SharedRobots(await open_frontier("w3"))
    assert await server.read(late) == ((RULES * 50).decode(), False)
    assert server.asked == 1


async def test_an_answer_that_no_longer_holds_is_asked_for_again(
    open_frontier: OpenFrontier,
) -> None:
    robots, server = SharedRobots(await open_frontier()), Server(holds=0.1)
    await server.read(robots)
    await asyncio.sleep(0.15)
    assert await server.read(robots) == (RULES.decode(), True)


@pytest.mark.parametrize(
    ("status", "rules", "available"), [(404, "", True), (429, None, False), (503, None, False)]
)
async def test_what_a_status_means(
    open_frontier: OpenFrontier, status: int, rules: str | None, available: bool
) -> None:
    """No rules where there is no robots.txt; nothing is known where the server fails or refuses."""
    server = Server(status, b"<h1>Disallow: everything</h1>")
    for name in ("w1", "w2"):
        robots = SharedRobots(await open_frontier(name))
        answer, found, _ = await robots.get(ORIGIN, server.ask, bytes.decode)
        assert (answer.available, found) == (available, rules)
    assert server.asked == 1


async def test_after_a_failure_the_next_one_asks(open_frontier: OpenFrontier) -> None:
    one, other = [SharedRobots(await open_frontier(name)) for name in ("w1", "w2")]
    server = Server()
    with pytest.raises(OSError, match="no route"):
        await one.get(ORIGIN, server.fails, bytes.decode)
    assert await server.read(other) == (RULES.decode(), True)
    assert server.asked == 2


async def test_a_worker_that_dies_while_it_asks_is_not_waited_for_long(
    open_frontier: OpenFrontier,
) -> None:
    dead, other = await open_frontier("w1"), await open_frontier("w2")
    assert await dead.claim("robots:" + ORIGIN, 0.3)
    assert not await other.claim("robots:" + ORIGIN, 0.3)
    assert await Server().read(SharedRobots(other)) == (RULES.decode(), True)


async def test_a_wrong_answer_under_the_key_is_named(
    open_frontier: OpenFrontier, address: str
) -> None:
    frontier = await open_frontier()
    key = frontier.keys["robots:" + ORIGIN]
    options = {"unix_socket_path": address} if address.startswith("/") else {}
    with Redis(**options) if options else Redis.from_url(address) as admin:
        admin.set(key, b"something else")
    with pytest.raises(FrontierCorrupt, match=r"robots:http://a\.example"):
        await Server().read(SharedRobots(frontier))
