"""robots.txt files that workers of a crawl share."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from frontier_calls import OpenFrontier, Q, eventually, link, names

from semcrawl.crawl.dispatch import Turn, Turns
from semcrawl.crawl.sharedrobots import KnownRobots, RobotsAnswer, SharedRobots
from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier import RedisFrontier
from semcrawl.frontier.contract import Lease

ORIGIN = "http://a.example"
RULES = b"User-agent: *\nDisallow: /x\n"


class Server:
    """Answers requests for robots.txt and counts them."""

    def __init__(self, status: int = 200, body: bytes = RULES, holds: float = 60.0) -> None:
        self.status, self.body, self.holds = status, body, holds
        self.asked = 0

    async def ask(self, turn: Turn | None) -> KnownRobots:
        self.asked += 1
        if turn is not None:
            await turn.starts()
        await asyncio.sleep(0.05)
        return await parse(RobotsAnswer(self.status, self.body, time.time() + self.holds))

    async def fails(self, turn: Turn | None) -> KnownRobots:
        self.asked += 1
        raise OSError("no route")

    async def read(self, robots: SharedRobots, lease: Lease | None = None) -> Any:
        known = await robots.get(ORIGIN, self.ask, parse, lease)
        return known.rules if known is not None else "later"


async def parse(answer: RobotsAnswer) -> KnownRobots:
    return KnownRobots(answer, answer.rules.decode() if answer.available else None)


def shared_robots(frontier: RedisFrontier) -> SharedRobots:
    return SharedRobots(frontier, Turns(frontier))


async def test_many_readers_in_two_workers_ask_once(open_frontier: OpenFrontier) -> None:
    workers = [shared_robots(await open_frontier(name)) for name in ("w1", "w2")]
    server = Server(body=RULES * 50)
    found = await asyncio.gather(*(server.read(robots) for robots in workers * 5))
    assert server.asked == 1
    assert set(found) == {(RULES * 50).decode()}
    late = shared_robots(await open_frontier("w3"))
    assert await server.read(late) == (RULES * 50).decode()
    assert server.asked == 1


async def test_a_link_whose_host_is_held_does_not_wait_for_the_answer(
    open_frontier: OpenFrontier,
) -> None:
    """It goes back, and comes again when the answer is there and the delay is over."""
    frontier = await open_frontier(delay=0.2)
    robots, server = shared_robots(frontier), Server()
    await frontier.add([link("1"), link("2")])
    leases = await frontier.take(1, Q)
    assert await server.read(robots, leases[0]) == "later"
    await frontier.give_back(leases)
    began = time.monotonic()
    leases = await eventually(lambda: frontier.take(2, Q))
    assert names(leases) == ["1"]
    assert time.monotonic() - began >= 0.19
    assert await server.read(robots, leases[0]) == RULES.decode()
    assert server.asked == 1


async def test_who_asks_gets_the_turn_of_a_link_of_another_worker(
    open_frontier: OpenFrontier,
) -> None:
    """Neither waits for the other."""
    one, two = await open_frontier("w1", delay=0.05), await open_frontier("w2", delay=0.05)
    server = Server()
    await one.add([link("1")])
    leases = await two.take(1, Q)
    begun = asyncio.Event()

    async def ask(turn: Turn | None) -> KnownRobots:
        begun.set()
        turn = turn or await Turns(one).next("a.example")
        try:
            return await server.ask(turn)
        finally:
            await turn.end()

    asking = asyncio.create_task(shared_robots(one).get(ORIGIN, ask, parse))
    await begun.wait()
    assert await server.read(shared_robots(two), leases[0]) == "later"
    assert await asking is not None
    assert server.asked == 1


async def test_a_failure_is_told_to_one_link_and_then_the_next_one_asks(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier(delay=0.01)
    robots, server = shared_robots(frontier), Server()
    await frontier.add([link("1")])
    outcomes = ["failure"]
    while outcomes.count("failure") < 3:
        leases = await eventually(lambda: frontier.take(1, Q))
        try:
            assert await robots.get(ORIGIN, server.fails, parse, leases[0]) is None
            outcomes.append("later")
        except OSError:
            assert outcomes[-1] == "later"
            outcomes.append("failure")
        await frontier.give_back(leases)
    assert server.asked == 2


async def test_rules_at_hand_are_bounded_by_their_bytes(open_frontier: OpenFrontier) -> None:
    """Those of other origins are read again from the frontier, and nobody is asked again."""
    frontier = await open_frontier()
    robots, server, parsed = SharedRobots(frontier, Turns(frontier), memory=1000), Server(), []

    async def sized(answer: RobotsAnswer) -> KnownRobots:
        parsed.append(answer.status)
        return KnownRobots(answer, answer.rules.decode(), 400)

    async def ask(turn: Turn | None) -> KnownRobots:
        return await sized((await server.ask(turn)).answer)

    for number in (1, 2, 1, 3, 1, 2):
        known = await robots.get(f"http://h{number}.example", ask, sized)
        assert known is not None
        assert known.rules == RULES.decode()
        assert robots._size <= 1000
    assert server.asked == 3
    assert len(parsed) == 3 + 1  # the second was the one that was not used for longest


async def test_an_answer_that_no_longer_holds_is_asked_for_again(
    open_frontier: OpenFrontier,
) -> None:
    robots, server = shared_robots(await open_frontier()), Server(holds=0.1)
    await server.read(robots)
    await asyncio.sleep(0.15)
    assert await server.read(robots) == RULES.decode()
    assert server.asked == 2


@pytest.mark.parametrize(
    ("status", "rules", "available"), [(404, "", True), (429, None, False), (503, None, False)]
)
async def test_what_a_status_means(
    open_frontier: OpenFrontier, status: int, rules: str | None, available: bool
) -> None:
    """No rules where there is no robots.txt; nothing is known where the server fails or refuses."""
    server = Server(status, b"<h1>Disallow: everything</h1>")
    for name in ("w1", "w2"):
        robots = shared_robots(await open_frontier(name))
        known = await robots.get(ORIGIN, server.ask, parse)
        assert known is not None
        assert (known.answer.available, known.rules) == (available, rules)
    assert server.asked == 1


async def test_after_a_failure_the_next_one_asks(open_frontier: OpenFrontier) -> None:
    one, other = [shared_robots(await open_frontier(name)) for name in ("w1", "w2")]
    server = Server()
    with pytest.raises(OSError, match="no route"):
        await one.get(ORIGIN, server.fails, parse)
    assert await server.read(other) == RULES.decode()
    assert server.asked == 2


@pytest.mark.slow
async def test_a_worker_that_dies_while_it_asks_is_not_waited_for_long(
    open_frontier: OpenFrontier,
) -> None:
    dead, other = await open_frontier("w1"), await open_frontier("w2")
    assert await dead.shared.claim("robots:" + ORIGIN, 0.3)
    assert not await other.shared.claim("robots:" + ORIGIN, 0.3)
    assert await Server().read(shared_robots(other)) == RULES.decode()


async def test_a_wrong_answer_in_the_cache_is_named(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    await frontier.shared.put("robots:" + ORIGIN, b"something else", seconds=60.0)
    with pytest.raises(FrontierCorrupt, match=r"robots:http://a\.example"):
        await Server().read(shared_robots(frontier))
