"""A session on a real Redis: budget, redirects, retries, the order of takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

import pytest
from answered_crawl import LIMIT, Crawl
from backends import backend_at

from semcrawl.crawl.attempt import LeaseBook
from semcrawl.crawl.channels import SpiderChannel
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome, Ranked, load_strategy
from semcrawl.relevance.contract import Label
from semcrawl.relevance.orders import BreadthFirst
from semcrawl.web.vocabulary import Kind


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
    crawl: Crawl, address: str, prefix: str
) -> None:
    await crawl.begin("http://a/")
    lease = await asyncio.wait_for(crawl.leases.get(), LIMIT)
    name = f"session-{prefix}"
    async with backend_at(address).frontier(name, "w1", guest=True):
        pass  # a worker of the same name takes its leases back
    crawl.session.send(lease)
    assert not await crawl.session.leaves(replace(lease, held=True))
    assert crawl.session.requests == 0


@pytest.mark.parametrize("status", [200, 302, 404, 503])
async def test_hosts_that_gave_something_come_before_those_that_gave_no_more_than_robots_txt(
    crawl: Crawl, status: int
) -> None:
    """However well a stranger's links look: a thousand such hosts are a thousand requests."""
    await crawl.begin("http://good/")
    lease, health = await crawl.fetch(), crawl.session.health
    await health.answered(lease.entry.url, 200, lease)  # it is not over: the crawl goes on
    for n in range(16):
        await health.answered(f"http://h{n}/robots.txt", status, None)
    urls = ["http://new/", "http://good/data"]
    await crawl.session.intake.plant([(url, LinkState()) for url in urls], "html")
    assert (await crawl.fetch()).entry.url == urls[1]


@pytest.mark.parametrize("crawl", [{"strategy": load_strategy("learned", {})}], indirect=True)
async def test_seeds_come_before_all_that_strangers_name(crawl: Crawl) -> None:
    """A page has named sure targets on a hundred hosts before the seed is there."""
    await crawl.session.open()
    links = [Link(f"http://h{n}/{n}.ttl", anchor="RDF data") for n in range(100)]
    intake = crawl.session.intake
    assert len(await intake.discover(Page("http://list/"), links, "html", lambda _: True)) == 100
    await crawl.begin("http://seed/")
    assert (await crawl.fetch()).entry.url == "http://seed/"


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
    state = LinkState(redirects=(first.entry.url,))
    assert await crawl.session.intake.follow_redirect(first, "http://target/", state)
    assert not await crawl.session.intake.follow_redirect(first, "http://b/", state)
    crawl.finish(first)
    second = await crawl.fetch()
    assert second.entry.url == "http://target/"
    assert LinkState.unpack(second.entry).redirects == (first.entry.url,)


@pytest.mark.slow
async def test_a_retry_waits_and_comes_back(crawl: Crawl) -> None:
    """A link given back keeps its state, is not handed out before its time, and holds the crawl."""
    await crawl.begin("http://a/")
    loop = asyncio.get_running_loop()
    lease = await crawl.fetch()
    given = loop.time()
    await crawl.session.retry(lease, LinkState(retries=1), 0.4)
    again = await crawl.fetch()
    assert loop.time() - given >= 0.39
    assert LinkState.unpack(again.entry).retries == 1
    crawl.finish(again)
    await crawl.ended()


@pytest.mark.parametrize("crawl", [{"concurrency": 3}], indirect=True)
async def test_the_spiders_of_a_process_share_its_requests_in_flight(crawl: Crawl) -> None:
    """Not so many for each: three are taken for the one, and none for the other until they end."""
    session = crawl.session
    await session.open()
    for queue in ("html", "rdf"):
        urls = [(f"http://{queue}{n}/", LinkState()) for n in range(4)]
        await session.intake.plant(urls, queue)
        await session.attach(
            queue,
            SpiderChannel(
                deliver=crawl.leases.put_nowait, plant=lambda raw: None, seed_key="seeds"
            ),
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


async def test_a_spider_that_is_closed_before_the_others_ends_the_crawl(crawl: Crawl) -> None:
    """Scrapy's ``CLOSESPIDER_ITEMCOUNT`` does so; the links that it has not read wait again."""
    session = crawl.session
    for queue in ("html", "rdf"):
        channel = SpiderChannel(crawl.leases.put_nowait, plant=lambda raw: None, seed_key="seeds")
        await session.attach(queue, channel)
        await session.intake.plant([(f"http://{queue}/", LinkState())], queue)
        session.planted(queue)
    leases = {(lease := await crawl.fetch()).entry.queue: lease for _ in range(2)}
    await session.detach("html")
    assert session.in_flight == [leases["rdf"]]
    crawl.finish(leases["rdf"])
    await crawl.ended()
    await session.detach("rdf")
    assert session.outlook.waiting_left == 1


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


@pytest.mark.slow
@pytest.mark.parametrize("crawl", [{"concurrency": 8, "slow_start": 100}], indirect=True)
async def test_a_link_that_keeps_silent_lets_two_others_be_tried(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, each would hold those behind it for as long."""
    await crawl.begin(*(f"http://h{n}/" for n in range(9)))
    silent = await crawl.fetch()
    monkeypatch.setattr(LeaseBook, "overdue", lambda book, *seconds, **reading: [silent])
    others = [await crawl.fetch() for _ in range(2)]
    assert crawl.session.in_flight == [silent, *others]


@pytest.mark.slow
@pytest.mark.parametrize("crawl", [{"concurrency": 8, "seed_interval": 2.0 * LIMIT}], indirect=True)
async def test_a_host_is_asked_as_soon_as_it_may_while_another_keeps_silent(crawl: Crawl) -> None:
    """Nothing that ends wakes the crawl, as the last link taken is one without an answer."""
    await crawl.session.open()
    await crawl.session.frontier.pace.set("quick", delay=0.3)
    await crawl.begin("http://quick/1", "http://quick/2")
    first = await crawl.fetch()
    await crawl.session.intake.plant([("http://silent/", LinkState())], "html")
    crawl.finish(first)
    assert [(await crawl.fetch()).entry.host for _ in range(2)] == ["silent", "quick"]


@pytest.mark.parametrize("crawl", [{"concurrency": 1}], indirect=True)
async def test_what_is_due_again_goes_before_new_links_the_most_urgent_first(
    crawl: Crawl,
) -> None:
    intake = crawl.session.intake
    await crawl.session.open()
    links = [Link("http://a/new"), Link("http://a/newer")]
    await intake.discover(Page("http://a/"), links, "html", lambda ranked: True)
    due = [("http://a/seldom", 0.5, LinkState(revisit=True)), ("http://a/often", 2.0, LinkState())]
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
    """Puts one waiting link before (or behind) the others as soon as it learns anything."""

    rekeys = True

    def __init__(self, favourite: str, key: float = -1e6) -> None:
        super().__init__()
        self._favourite = favourite
        self._key = key
        self._learned = False

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        return [Ranked(link, Label.H, "all") for link in links]

    def learn(self, outcome: Outcome) -> None:
        self._learned = True

    def rekeyed(self) -> Mapping[str, float]:
        learned, self._learned = self._learned, False
        return {self._favourite: self._key} if learned else {}


@pytest.mark.parametrize("shared", [False, True])
async def test_what_is_read_while_the_frontier_is_told_of_something_counts_in_the_next_take(
    address: str, prefix: str, shared: bool
) -> None:
    """Acknowledging a link takes a moment, in which the answer to another one may be read."""
    strategy = Favouring("http://e/")
    crawl = Crawl(address, f"session-{prefix}", strategy, concurrency=1, shared=shared)
    session = crawl.session
    try:
        await crawl.begin(*(f"http://{name}/" for name in "abcde"))
        first = await crawl.fetch()
        session.downloaded(first)
        session.processed(first)
        second = await crawl.fetch()
        acknowledge = session.frontier.end

        async def read_meanwhile(leases: Sequence[Lease]) -> None:
            await acknowledge(leases)
            session.learn(Outcome(second.entry.url, Kind.HTML, target=False), "html")
            session.downloaded(second)
            session.processed(second)

        session.frontier.end = read_meanwhile  # type: ignore[method-assign]
        session.acknowledge(first)
        third = await crawl.fetch()
        assert third.entry.url == "http://e/"
        session.frontier.end = acknowledge  # type: ignore[method-assign]
    finally:
        await session.detach("html")


async def test_a_redirect_to_a_link_that_waits_brings_it_forward(address: str, prefix: str) -> None:
    """Its turn had come under the other address; what the strategy thought of this one is old."""
    strategy = Favouring("http://a/d/", key=1e6)
    crawl = Crawl(address, f"session-{prefix}", strategy, concurrency=1)
    session = crawl.session
    try:
        await crawl.begin("http://a/")
        page = await crawl.fetch()
        links = [Link(f"http://a/{name}") for name in ("d", "b", "c", "d/")]
        new = await session.intake.discover(Page("http://a/"), links, "html", lambda ranked: True)
        assert len(new) == 4
        crawl.finish(page)
        moved = await crawl.fetch()
        assert moved.entry.url == "http://a/d"
        state = LinkState(redirects=(moved.entry.url,))
        assert not await session.intake.follow_redirect(moved, "http://a/d/", state)
        session.learn(Outcome("http://a/d", None, target=False, duplicate=True), "html")
        crawl.finish(moved)
        assert (await crawl.fetch()).entry.url == "http://a/d/"
    finally:
        await session.detach("html")


@pytest.mark.parametrize(
    "crawl", [{"penalty_after": 2, "report_yields": True, "concurrency": 1}], indirect=True
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
async def two_workers(address: str, prefix: str) -> AsyncIterator[list[Crawl]]:
    """Workers of one crawl, which goes on as long as a link of the first one has no answer."""
    address, name = address, f"two-{prefix}"
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
    await one.session.intake.add_roots({"site.example", "www.site.example"})
    await one.session.intake.plant([("http://www.site.example/", LinkState())], "html")
    two.session.wake()
    assert (await two.fetch()).entry.url == "http://www.site.example/"
    assert two.session.intake.roots == {"site.example", "www.site.example"}


@pytest.mark.slow
async def test_a_worker_hears_of_sites_that_others_were_given(two_workers: list[Crawl]) -> None:
    """Pages of the sites that it knows may link there."""
    one, two = two_workers
    await two.session.intake.add_roots({"late.example"})
    async with asyncio.timeout(LIMIT):
        while one.session.intake.roots != {"late.example"}:
            one.session.wake()
            await asyncio.sleep(0.01)
