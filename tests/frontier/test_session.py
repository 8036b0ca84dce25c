"""A session on a real Redis: budget, redirects, retries, the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from served_redis import ServedRedis

from semcrawl.frontier import EmbeddedRedis, FrontierOptions, RedisFrontier
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.payload import LinkMemo
from semcrawl.frontier.session import CrawlSession
from semcrawl.frontier.sessionoptions import SessionOptions
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome, Ranked, Relevance, load_strategy
from semcrawl.relevance.contract import Label
from semcrawl.relevance.orders import BreadthFirst
from semcrawl.vocabulary import Kind

LIMIT = 10  # seconds until a test counts as hanging


class Crawl:
    """A session whose links are answered by the test."""

    def __init__(
        self,
        address: str,
        prefix: str,
        strategy: Relevance | None = None,
        penalty_after: int = 0,
        worker: str = "w1",
        lease_time: float = 120.0,
        **options: object,
    ) -> None:
        frontier = RedisFrontier(
            address, prefix=prefix, worker_id=worker,
            options=FrontierOptions(
                lease_time=lease_time, delay=0.0, concurrency=100, penalty_after=penalty_after
            ),
        )  # fmt: skip
        strategy = strategy or load_strategy("breadth-first", {})
        self.session = CrawlSession(frontier, strategy, SessionOptions(**options))  # type: ignore[arg-type]
        self.leases: asyncio.Queue[Lease] = asyncio.Queue()

    async def begin(self, *urls: str) -> int:
        await self.session.attach(
            "html", deliver=self.leases.put_nowait, plant=lambda raw: None, seed_key="seeds"
        )
        new = await self.session.intake.plant([(url, LinkMemo()) for url in urls], "html")
        self.session.planted("html")
        return new

    async def fetch(self) -> Lease:
        lease = await asyncio.wait_for(self.leases.get(), LIMIT)
        await self.session.starts(lease)
        return lease

    def finish(self, lease: Lease) -> None:
        self.session.downloaded(lease)
        self.session.processed(lease)
        self.session.acknowledge(lease)

    async def ended(self) -> None:
        await asyncio.wait_for(self.session.finished.wait(), LIMIT)


@pytest.fixture
async def crawl(
    embedded: EmbeddedRedis, prefix: str, request: pytest.FixtureRequest
) -> AsyncIterator[Crawl]:
    crawl = Crawl(str(embedded.socket), f"session-{prefix}", **getattr(request, "param", {}))
    yield crawl
    await crawl.session.detach("html")


@pytest.mark.slow
async def test_a_crawl_that_failed_does_not_wait_for_its_server_again(
    start_served: Callable[..., ServedRedis], prefix: str
) -> None:
    server = start_served()
    crawl = Crawl(server.url, prefix)
    await crawl.begin("http://a/")
    lease = await crawl.fetch()
    server.kill()
    crawl.finish(lease)
    crawl.session.fail("the server is gone")
    # (patience with the server is five minutes)
    await asyncio.wait_for(crawl.session.detach("html"), 3 * LIMIT)


async def test_what_is_finished_counts_though_what_was_learned_cannot_be_told(
    served: ServedRedis, prefix: str
) -> None:
    """What one key keeps a session from saying at its end stops nothing else that it has to say."""
    crawl = Crawl(served.url, prefix, load_strategy("learned", {}))
    await crawl.begin("http://a/", "http://b/")
    lease, other = await crawl.fetch(), await crawl.fetch()
    with served.client() as client:
        client.set(f"{{{prefix}}}:events", "something else")
        crawl.session.learn(Outcome(lease.entry.url, Kind.HTML, target=False), "html")
        crawl.finish(lease)
        await crawl.session.detach("html")
        assert client.hget(f"{{{prefix}}}:meta", "done") == b"1"
        assert client.hlen(f"{{{prefix}}}:lease") == 0
        assert client.hget(f"{{{prefix}}}:hosts:html", other.entry.host) == b"1"


async def test_the_crawl_ends_when_all_is_finished(crawl: Crawl) -> None:
    """Seeds given twice are fetched once, and after the last acknowledgement the crawl is over."""
    assert await crawl.begin("http://a/", "http://a/", "http://b/") == 2
    leases = [await crawl.fetch(), await crawl.fetch()]
    assert {lease.entry.url for lease in leases} == {"http://a/", "http://b/"}
    assert not crawl.session.finished.is_set()
    for lease in leases:
        crawl.finish(lease)
    await crawl.ended()
    assert crawl.session.requests == 2


@pytest.mark.parametrize("crawl", [{"budget": 3}], indirect=True)
async def test_the_budget_is_never_exceeded(crawl: Crawl) -> None:
    """Of ten links three are handed out, and the crawl ends."""
    await crawl.begin(*(f"http://h{n}/" for n in range(10)))
    for lease in [await crawl.fetch() for _ in range(3)]:
        crawl.finish(lease)
    await crawl.ended()
    assert crawl.session.requests == 3
    assert crawl.leases.empty()


@pytest.mark.parametrize("crawl", [{"budget": 2}], indirect=True)
async def test_a_request_whose_lease_is_lost_before_it_leaves_is_not_sent_and_costs_nothing(
    crawl: Crawl,
) -> None:
    await crawl.begin("http://a/")
    lease = await asyncio.wait_for(crawl.leases.get(), LIMIT)
    await crawl.session.frontier.reclaim_all()
    assert not await crawl.session.starts(replace(lease, held=True))
    assert crawl.session.requests == 0


async def test_links_that_were_taken_and_not_finished_are_left_at_the_end(crawl: Crawl) -> None:
    """They go back in when the worker closes."""
    await crawl.begin("http://a/", "http://b/", "http://c/")
    leases = [await crawl.fetch() for _ in range(3)]
    crawl.finish(leases[0])
    await crawl.session.detach("html")
    assert crawl.session.outlook.waiting_left == 2


async def test_what_is_being_acknowledged_when_a_session_ends_is_not_fetched_again(
    crawl: Crawl,
) -> None:
    await crawl.begin("http://a/")
    acknowledge, begun = crawl.session.frontier.done, asyncio.Event()

    async def take_long(leases: Sequence[Lease]) -> None:
        begun.set()
        await asyncio.sleep(0.05)
        await acknowledge(leases)

    crawl.session.frontier.done = take_long  # type: ignore[method-assign]
    crawl.finish(await crawl.fetch())
    await asyncio.wait_for(begun.wait(), LIMIT)
    await crawl.session.detach("html")
    assert crawl.session.outlook.waiting_left == 0


class Counting(BreadthFirst):
    """Notes which links it was asked to judge."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[str] = []

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        self.judged += [link.url for link in links]
        return super().rank(page, links)


async def test_what_is_known_or_was_dropped_is_not_judged_again(crawl: Crawl) -> None:
    """Unless it is found with other attributes: a picture in one place is a page in another."""
    await crawl.begin("http://a/")
    strategy = Counting()
    intake = crawl.session.intake
    intake.strategy = strategy
    links = [Link("http://a/1"), Link("http://a/s", element="link", rel="stylesheet")]
    page, other = Page("http://a/"), Page("http://a/other")
    assert len(await intake.discover(page, links, "html", lambda ranked: True)) == 1
    assert await intake.discover(other, links, "html", lambda ranked: True) == ()
    assert strategy.judged == ["http://a/1", "http://a/s"]
    again = [Link("http://a/s", anchor="styles")]
    assert len(await intake.discover(other, again, "html", lambda ranked: True)) == 1
    assert strategy.judged == ["http://a/1", "http://a/s", "http://a/s"]


@pytest.mark.parametrize("crawl", [{"concurrency": 1}], indirect=True)
async def test_a_redirects_target_comes_next(crawl: Crawl) -> None:
    """It goes to the front of its group; one that was seen before does not go in again."""
    await crawl.begin("http://a/", "http://b/", "http://c/")
    first = await crawl.fetch()
    memo = LinkMemo(redirects=(first.entry.url,))
    assert await crawl.session.intake.follow_redirect(first, "http://target/", memo)
    assert not await crawl.session.intake.follow_redirect(first, "http://b/", memo)
    crawl.finish(first)
    second = await crawl.fetch()
    assert second.entry.url == "http://target/"
    assert LinkMemo.unpack(second.entry).redirects == (first.entry.url,)


async def test_a_retry_waits_and_comes_back(crawl: Crawl) -> None:
    """A link given back keeps its memo, is not handed out before its time, and holds the crawl."""
    await crawl.begin("http://a/")
    loop = asyncio.get_running_loop()
    lease = await crawl.fetch()
    given = loop.time()
    await crawl.session.retry(lease, LinkMemo(retries=1), 0.4)
    again = await crawl.fetch()
    assert loop.time() - given >= 0.39
    assert LinkMemo.unpack(again.entry).retries == 1
    crawl.finish(again)
    await crawl.ended()


@pytest.mark.parametrize("crawl", [{"concurrency": 3}], indirect=True)
async def test_the_spiders_of_a_process_share_its_requests_in_flight(crawl: Crawl) -> None:
    """Not so many for each: three are taken for the one, and none for the other until they end."""
    session = crawl.session
    await session.open()
    for queue in ("html", "rdf"):
        urls = [(f"http://{queue}{n}/", LinkMemo()) for n in range(4)]
        await session.intake.plant(urls, queue)
        await session.attach(
            queue, deliver=crawl.leases.put_nowait, plant=lambda raw: None, seed_key="seeds"
        )
    leases = [await crawl.fetch() for _ in range(3)]
    assert [lease.entry.queue for lease in leases] == ["html"] * 3
    crawl.finish(leases[0])
    leases.append(await crawl.fetch())
    crawl.finish(leases[1])
    leases.append(await crawl.fetch())
    assert [lease.entry.queue for lease in leases[3:]] == ["html", "rdf"]
    assert crawl.leases.empty()
    assert len(session.in_flight) == 3
    await session.detach("html")
    crawl.finish(leases[2])
    assert (await crawl.fetch()).entry.queue == "rdf"
    await session.detach("rdf")


@pytest.mark.parametrize("crawl", [{"concurrency": 3, "slow_start": 2}], indirect=True)
async def test_a_crawl_that_starts_slowly_asks_for_more_at_a_time_as_it_learns(
    crawl: Crawl,
) -> None:
    await crawl.begin(*(f"http://h{n}/" for n in range(9)))
    for at_a_time in (1, 1, 2, 3):
        leases = [await crawl.fetch() for _ in range(at_a_time)]
        assert len(crawl.session.in_flight) == at_a_time
        for lease in leases:
            crawl.session.learn(Outcome(lease.entry.url, Kind.HTML, target=False), "html")
            crawl.finish(lease)


@pytest.mark.parametrize("crawl", [{"concurrency": 1}], indirect=True)
async def test_what_is_due_again_goes_before_new_links_the_most_urgent_first(
    crawl: Crawl,
) -> None:
    intake = crawl.session.intake
    await crawl.session.open()
    links = [Link("http://a/new"), Link("http://a/newer")]
    await intake.discover(Page("http://a/"), links, "html", lambda ranked: True)
    due = [("http://a/seldom", 0.5, LinkMemo(revisit=True)), ("http://a/often", 2.0, LinkMemo())]
    assert await intake.revisit(due, "html") == 2
    assert await intake.revisit(due[:1], "html") == 0
    await crawl.begin()
    order = []
    for _ in range(4):
        lease = await crawl.fetch()
        order.append(lease.entry.url.removeprefix("http://a/"))
        crawl.finish(lease)
    assert order == ["often", "seldom", "new", "newer"]


@pytest.mark.parametrize("crawl", [{"concurrency": 3, "leases": 4}], indirect=True)
async def test_leases_whose_results_are_not_written_are_bounded(crawl: Crawl) -> None:
    await crawl.begin(*(f"http://h{n}/" for n in range(8)))
    held = [await crawl.fetch() for _ in range(3)]
    for lease in held:
        crawl.session.downloaded(lease)
        crawl.session.processed(lease)
    held.append(await crawl.fetch())
    crawl.session.downloaded(held[3])
    crawl.session.processed(held[3])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(crawl.leases.get(), 0.3)
    crawl.session.acknowledge(held[0])
    assert await crawl.fetch() not in held


class Favouring(BreadthFirst):
    """Puts one waiting link before the others as soon as it learns anything."""

    rekeys = True

    def __init__(self, favourite: str) -> None:
        super().__init__()
        self._favourite = favourite
        self._learned = False

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        return [Ranked(link, Label.H, "all") for link in links]

    def learn(self, outcome: Outcome) -> None:
        self._learned = True

    def rekeyed(self) -> Mapping[str, float]:
        learned, self._learned = self._learned, False
        return {self._favourite: -1e6} if learned else {}


@pytest.mark.parametrize("shared", [False, True])
async def test_what_is_read_while_the_frontier_is_told_of_something_counts_in_the_next_take(
    embedded: EmbeddedRedis, prefix: str, shared: bool
) -> None:
    """Acknowledging a link takes a moment, in which the answer to another one may be read."""
    strategy = Favouring("http://e/")
    crawl = Crawl(str(embedded.socket), f"session-{prefix}", strategy, concurrency=1, shared=shared)
    session = crawl.session
    try:
        await crawl.begin(*(f"http://{name}/" for name in "abcde"))
        first = await crawl.fetch()
        session.downloaded(first)
        session.processed(first)
        second = await crawl.fetch()
        acknowledge = session.frontier.done

        async def read_meanwhile(leases: Sequence[Lease]) -> None:
            await acknowledge(leases)
            session.learn(Outcome(second.entry.url, Kind.HTML, target=False), "html")
            session.downloaded(second)
            session.processed(second)

        session.frontier.done = read_meanwhile  # type: ignore[method-assign]
        session.acknowledge(first)
        third = await crawl.fetch()
        assert third.entry.url == "http://e/"
        session.frontier.done = acknowledge  # type: ignore[method-assign]
    finally:
        await session.detach("html")


class Unsaveable(BreadthFirst):
    """Has a fault that shows when it is saved."""

    def dump_state(self) -> bytes:
        raise ValueError("what was learned is odd")


async def test_a_strategy_that_cannot_be_saved_costs_no_lease(
    embedded: EmbeddedRedis, prefix: str
) -> None:
    """Leases are prolonged all the same while the crawl goes on, and given back at its end."""
    crawl = Crawl(str(embedded.socket), prefix, Unsaveable(), lease_time=0.6, save_interval=0.1)
    try:
        await crawl.begin("http://a/")
        lease = await crawl.fetch()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(crawl.leases.get(), 1.5)
        assert await crawl.session.frontier.renew([lease]) == [True]
    finally:
        await crawl.session.detach("html")
    assert crawl.session.finished.is_set()
    assert crawl.session.outlook.waiting_left == 1


@pytest.mark.parametrize(
    "crawl", [{"penalty_after": 2, "tell_yield": True, "concurrency": 1}], indirect=True
)
async def test_a_host_without_targets_lets_others_go_first(crawl: Crawl) -> None:
    """SWSE's penalty: after two barren fetches a host rests, though its links were in first."""
    await crawl.begin(*(f"http://barren/{n}" for n in range(4)), "http://other/")
    asked = []
    for _ in range(3):
        lease = await crawl.fetch()
        asked.append(lease.entry.host)
        crawl.session.learn(Outcome(lease.entry.url, Kind.HTML, target=False), "html")
        crawl.finish(lease)
    assert asked == ["barren", "barren", "other"]


@pytest.fixture
async def two_workers(embedded: EmbeddedRedis, prefix: str) -> AsyncIterator[list[Crawl]]:
    """Workers of one crawl, which goes on as long as a link of the first one has no answer."""
    address, name = str(embedded.socket), f"two-{prefix}"
    crawls = [
        Crawl(address, name, worker=worker, shared=True, event_interval=interval)
        for worker, interval in (("one", 0.05), ("two", 1000.0))
    ]
    await crawls[0].begin("http://a/")
    await crawls[0].fetch()
    await crawls[1].begin()
    yield crawls
    for crawl in crawls:
        await crawl.session.detach("html")


async def test_a_worker_knows_the_site_of_a_seed_that_another_planted(
    two_workers: list[Crawl],
) -> None:
    """Before it asks for the seed: what is found there would be out of scope else."""
    one, two = two_workers
    one.session.drain()
    await one.session.intake.widen({"site.example", "www.site.example"})
    await one.session.intake.plant([("http://www.site.example/", LinkMemo())], "html")
    two.session.wake()
    assert (await two.fetch()).entry.url == "http://www.site.example/"
    assert two.session.intake.roots == {"site.example", "www.site.example"}


async def test_a_worker_hears_of_sites_that_others_were_given(two_workers: list[Crawl]) -> None:
    """Pages of the sites that it knows may link there."""
    one, two = two_workers
    await two.session.intake.widen({"late.example"})
    async with asyncio.timeout(LIMIT):
        while one.session.intake.roots != {"late.example"}:
            one.session.wake()
            await asyncio.sleep(0.01)
