"""The spiders of a process: whose links and seeds are whose, and when all have said all."""

from __future__ import annotations

from collections.abc import Sequence

from frontier_calls import OpenFrontier, Q, link

from semcrawl.crawl.ports import Port, Ports
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Ranked


def ports_of(*queues: str, waits: bool = False) -> tuple[Ports, dict[str, list[object]]]:
    """Ports, and what comes to each."""
    ports = Ports()
    came: dict[str, list[object]] = {}
    for queue in queues:
        got = came[queue] = []
        ports.open(queue, Port(got.append, got.extend, f"{queue}:start_urls", waits))
    return ports, came


async def test_a_link_goes_to_the_spider_of_its_queue_as_long_as_that_is_there(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    await frontier.add([link("1")])
    [lease] = await frontier.take(1, Q)
    ports, came = ports_of("rdf", "html")
    assert ports.deliver(lease)
    assert came == {"rdf": [], "html": [lease]}
    ports.pop("html")
    assert not ports.deliver(lease)
    assert ports.opened == 2


async def test_each_spider_gets_the_seeds_of_its_list_but_not_too_often(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    frontier = await open_frontier()
    ports, came = ports_of(f"{prefix}-html", f"{prefix}-rdf", f"{prefix}-none")
    html, rdf, _ = ports.seed_keys
    await frontier.seeds.push(html, ["http://a/", "http://b/"])
    await frontier.seeds.push(rdf, ["http://c/"])
    assert await ports.take_seeds(frontier, 1000.0) == 3
    assert list(came.values()) == [["http://a/", "http://b/"], ["http://c/"], []]
    await frontier.seeds.push(rdf, ["http://d/"])
    assert await ports.take_seeds(frontier, 1000.0) == 0
    assert await ports.take_seeds(frontier, 0.0) == 1


def test_all_is_planted_when_every_spider_that_is_there_has_said_so() -> None:
    ports, _ = ports_of("html", "rdf")
    ports.planted("html")
    ports.planted("gone")
    assert not ports.all_planted
    ports.planted("rdf")
    assert ports.all_planted


def test_one_spider_that_waits_for_seeds_is_enough_to_wait() -> None:
    ports, _ = ports_of("html")
    assert not ports.any_waits
    ports.open("rdf", Port(print, print, "rdf:start_urls", waits=True))
    assert ports.any_waits


async def test_links_are_handed_over_to_a_spider_that_is_there_to_take_them() -> None:
    ports, _ = ports_of("html")
    came: list[object] = []

    async def discover(page: Page, links: Sequence[Link], barren: int) -> tuple[Ranked, ...]:
        came.append((page, links, barren))
        return tuple(Ranked(link, Label.R, "a") for link in links)

    found = Page("http://a/"), [Link("http://a/1")], 2
    ports.open("rdf", Port(print, print, "rdf:start_urls", discover=discover))
    new = await ports.hand_over("rdf", *found)
    assert new == (Ranked(found[1][0], Label.R, "a"),)
    assert came == [found]
    assert await ports.hand_over("html", *found) is None
    ports.pop("rdf")
    assert await ports.hand_over("rdf", *found) is None
