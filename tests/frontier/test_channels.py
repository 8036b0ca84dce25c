"""The spiders of a process: whose links and seeds are whose, and when all have said all."""

from __future__ import annotations

from collections.abc import Sequence

from frontier_calls import OpenFrontier, Q, link

from semcrawl.crawl.channels import SpiderChannel, SpiderChannels
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Ranked


def channels_of(
    *queues: str, waits: bool = False
) -> tuple[SpiderChannels, dict[str, list[object]]]:
    """Channels, and what comes to each."""
    channels = SpiderChannels()
    came: dict[str, list[object]] = {}
    for queue in queues:
        got = came[queue] = []
        channels.open(queue, SpiderChannel(got.append, got.extend, f"{queue}:start_urls", waits))
    return channels, came


async def test_a_link_goes_to_the_spider_of_its_queue_as_long_as_that_is_there(
    open_frontier: OpenFrontier,
) -> None:
    frontier = await open_frontier()
    await frontier.add([link("1")])
    [lease] = await frontier.take(1, Q)
    channels, came = channels_of("rdf", "html")
    assert channels.deliver(lease)
    assert came == {"rdf": [], "html": [lease]}
    channels.pop("html")
    assert not channels.deliver(lease)
    assert channels.opened == 2


async def test_each_spider_gets_the_seeds_of_its_list_but_not_too_often(
    open_frontier: OpenFrontier, prefix: str
) -> None:
    frontier = await open_frontier()
    channels, came = channels_of(f"{prefix}-html", f"{prefix}-rdf", f"{prefix}-none")
    html, rdf, _ = channels.seed_keys
    await frontier.shared.push_seeds(html, ["http://a/", "http://b/"])
    await frontier.shared.push_seeds(rdf, ["http://c/"])
    assert await channels.take_seeds(frontier, 1000.0) == 3
    assert list(came.values()) == [["http://a/", "http://b/"], ["http://c/"], []]
    await frontier.shared.push_seeds(rdf, ["http://d/"])
    assert await channels.take_seeds(frontier, 1000.0) == 0
    assert await channels.take_seeds(frontier, 0.0) == 1


def test_all_is_planted_when_every_spider_that_is_there_has_said_so() -> None:
    channels, _ = channels_of("html", "rdf")
    channels.planted("html")
    channels.planted("gone")
    assert not channels.all_planted
    channels.planted("rdf")
    assert channels.all_planted


def test_one_spider_that_waits_for_seeds_is_enough_to_wait() -> None:
    channels, _ = channels_of("html")
    assert not channels.any_waits
    channels.open("rdf", SpiderChannel(print, print, "rdf:start_urls", waits=True))
    assert channels.any_waits


async def test_links_are_handed_over_to_a_spider_that_is_there_to_take_them() -> None:
    channels, _ = channels_of("html")
    came: list[object] = []

    async def discover(page: Page, links: Sequence[Link], barren: int) -> tuple[Ranked, ...]:
        came.append((page, links, barren))
        return tuple(Ranked(link, Label.R, "a") for link in links)

    found = Page("http://a/"), [Link("http://a/1")], 2
    channels.open("rdf", SpiderChannel(print, print, "rdf:start_urls", discover=discover))
    new = await channels.hand_over("rdf", *found)
    assert new == (Ranked(found[1][0], Label.R, "a"),)
    assert came == [found]
    assert await channels.hand_over("html", *found) is None
    channels.pop("rdf")
    assert await channels.hand_over("rdf", *found) is None
