"""Links of several pages in one call, on a real Redis."""

from __future__ import annotations

import asyncio

import pytest
from frontier_calls import Q, host_in, link, names, scripts_run, sharded

from semcrawl.crawl.intake import BatchedAdds
from semcrawl.frontier import Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.redis.localserver import RedisServer


def page(*names: str) -> list[Entry]:
    return [Entry(f"http://a/{name}", "a", "html", "g") for name in names]


async def calls(frontier: RedisFrontier) -> int:
    stats = await frontier.client.info("commandstats")
    return int(stats["cmdstat_evalsha"]["calls"])


async def test_links_of_pages_that_come_together_go_in_together(
    redis_server: RedisServer, prefix: str
) -> None:
    """In one call, and each page hears which were new; a page with faulty links fails alone."""
    async with RedisFrontier(str(redis_server.socket), prefix=prefix, worker_id="w") as frontier:
        adds = BatchedAdds(frontier)
        assert await adds.add(page("0")) == [True]  # the server knows the script from here on
        before = await calls(frontier)
        pages = [page("1", "2"), page("2", "3", "0"), []]
        found = await asyncio.gather(*map(adds.add, pages))
        assert found == [[True, True], [False, True, False], []]
        assert await calls(frontier) == before + 1
        faulty = [Entry("http://b/", "b/c", "html", "g")]
        refused, taken = await asyncio.gather(
            adds.add(faulty), adds.add(page("1", "4")), return_exceptions=True
        )
        assert isinstance(refused, ValueError)
        assert taken == [False, True]


async def test_downloads_that_are_over_are_released_with_the_links_of_their_pages(
    redis_server: RedisServer, prefix: str
) -> None:
    released: list[Lease] = []

    def pop() -> list[Lease]:
        found = list(released)
        released.clear()
        return found

    options = FrontierOptions(delay=0, concurrency=1)
    async with RedisFrontier(
        str(redis_server.socket), prefix=prefix, worker_id="w", options=options
    ) as frontier:
        adds = BatchedAdds(frontier, pop)
        await adds.add(page("0", "1"))
        released += await frontier.take(2, ["html"])
        assert await frontier.take(1, ["html"]) == []
        await adds.add(page("0"))
        assert released == []
        assert [lease.entry.url for lease in await frontier.take(2, ["html"])] == ["http://a/1"]


@pytest.mark.parametrize(("links", "expected"), [(300, 1), (600, 3), (2000, 3)])
async def test_no_call_puts_in_too_many_unless_a_page_has_them(
    redis_server: RedisServer, prefix: str, links: int, expected: int
) -> None:
    async with RedisFrontier(str(redis_server.socket), prefix=prefix, worker_id="w") as frontier:
        adds = BatchedAdds(frontier)
        await adds.add(page("0"))
        before = await calls(frontier)
        pages = [page(*(f"{n}-{m}" for m in range(links))) for n in range(3)]
        found = await asyncio.gather(*map(adds.add, pages))
        assert [sum(new) for new in found] == [links] * 3
        assert await calls(frontier) == before + expected


async def test_few_links_to_another_shard_wait_for_those_of_other_pages(
    servers: list[str], prefix: str
) -> None:
    """While the crawl is busy; links of the page's own shard go at once."""
    own, other = host_in(0), host_in(1)
    is_busy = True
    async with sharded(servers, prefix, glance=1000.0) as frontier:
        adds = BatchedAdds(frontier, is_busy=lambda: is_busy)
        await frontier.add([link("first", host=own), link("first", host=other)])
        assert len(await frontier.take(2, Q)) == 2
        before = scripts_run(servers)
        few = [link("few", host=own), link("few", host=other)]
        first = asyncio.create_task(adds.add(few, own))
        assert await adds.add([link("mine", host=own)], own) == [True]
        assert scripts_run(servers) == before + 1
        assert sorted(names(await frontier.take(9, Q))) == ["few", "mine"]
        many = [link(str(n), host=other) for n in range(32)]
        assert await adds.add([*many, link("few", host=other)], own) == [True] * 32 + [False]
        assert await first == [True, True]
        is_busy = False
        assert await adds.add([link("soon", host=other)], own) == [True]


@pytest.mark.parametrize(("glance", "ahead"), [(0.0, 16), (0.01, 16), (1000.0, 0)])
async def test_no_link_waits_for_longer_than_a_glance(
    servers: list[str], prefix: str, glance: float, ahead: int
) -> None:
    """Nor does any where links are first in, first out over all shards."""
    async with sharded(servers, prefix, glance=glance, ahead=ahead) as frontier:
        adds = BatchedAdds(frontier, is_busy=lambda: True)
        assert await adds.add([link("1", host=host_in(0))], host_in(1)) == [True]


async def test_a_fault_in_the_links_to_one_shard_is_the_page_s(
    servers: list[str], prefix: str
) -> None:
    """The page learns of it; another page's links that waited with it are added."""
    own, other = host_in(0), host_in(1)
    async with sharded(servers, prefix, glance=1000.0) as frontier:
        adds = BatchedAdds(frontier, is_busy=lambda: True)
        faulty = asyncio.create_task(adds.add([Entry("http://b/", other, "", "g")], own))
        await asyncio.sleep(0)
        good = [link(str(n), host=other) for n in range(32)]
        assert await adds.add(good, own) == [True] * 32
        with pytest.raises(ValueError, match="queue"):
            await faulty
