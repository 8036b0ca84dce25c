"""JSON-LD contexts that workers of a crawl share."""

from __future__ import annotations

import asyncio

from frontier_calls import OpenFrontier

from semcrawl.crawl.sharedcontexts import ContextCache

URL = "http://a.example/context"


class Server:
    """Answers requests for contexts and counts them."""

    def __init__(self, context: bytes = b"it", *, lasting: bool = True) -> None:
        self.context, self.lasting = context, lasting
        self.asked = 0

    async def ask(self) -> tuple[bytes, bool]:
        self.asked += 1
        await asyncio.sleep(0.05)
        return self.context, self.lasting


async def test_many_documents_in_two_workers_ask_once(open_frontier: OpenFrontier) -> None:
    for server in (Server(), Server(b""), Server(b"", lasting=False)):
        url = f"{URL}/{server.context!r}/{server.lasting}"
        caches = [ContextCache(await open_frontier(w), shared=True) for w in ("w1", "w2")]
        found = await asyncio.gather(*(cache.get(url, server.ask) for cache in caches * 5))
        assert set(found) == {server.context}
        assert server.asked == 1


async def test_what_cannot_be_had_for_now_is_asked_for_again_in_the_next_run(
    open_frontier: OpenFrontier,
) -> None:
    passing, lasting = Server(b"", lasting=False), Server(b"")
    for _ in range(2):
        cache = ContextCache(await open_frontier())
        for _ in range(2):
            assert await cache.get(URL, passing.ask) == b""
            assert await cache.get(URL + "/2", lasting.ask) == b""
    assert (passing.asked, lasting.asked) == (2, 1)


async def test_what_is_not_at_hand_any_more_is_in_the_frontier(open_frontier: OpenFrontier) -> None:
    cache = ContextCache(await open_frontier(), memory=100)
    servers = [Server(bytes([65 + n]) * 40) for n in range(5)]
    for _ in range(2):
        for number, server in enumerate(servers):
            assert await cache.get(f"{URL}/{number}", server.ask) == server.context
    assert [server.asked for server in servers] == [1] * 5
    assert cache._size <= 100
