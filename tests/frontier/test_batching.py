"""Links of several pages in one call, on a real Redis."""

from __future__ import annotations

import asyncio

import pytest

from semcrawl.crawl.batchedadds import BatchedAdds
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
