"""Workers whose strategy waits for answers: all know what all of them took and learned."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from frontier_calls import outcomes_of_others

from semcrawl.crawl.channels import SpiderChannel
from semcrawl.crawl.learning import encode_event
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier import FrontierOptions, RedisFrontier
from semcrawl.frontier.contract import Entry, Lease
from semcrawl.frontier.links import LinkState
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome
from semcrawl.relevance.learned import Learned
from semcrawl.web.vocabulary import Kind

LIMIT = 10  # seconds until a test counts as hanging
SITE = "http://site.example"


def page_links(number: int) -> list[Link]:
    """Links of a page: to further pages, and to two data files."""
    names = [f"list/{number * 5 + i}.html" for i in range(1, 6)]
    names += [f"data/{number}.ttl", f"more/{number}"]
    return [Link(f"{SITE}/{name}", anchor=name, tag_path="html/body/a") for name in names]


class Worker:
    """A session with the learned strategy, whose links are answered by the test."""

    def __init__(self, redis: RedisServer, prefix: str, name: str, *, shared: bool = True) -> None:
        frontier = RedisFrontier(
            str(redis.socket), prefix=prefix, worker_id=name,
            options=FrontierOptions(delay=0.0, concurrency=100),
        )  # fmt: skip
        self.strategy = Learned()
        self.session = CrawlSession(
            frontier, self.strategy, SessionOptions(concurrency=8, slow_start=0, shared=shared)
        )
        self.leases: asyncio.Queue[Lease] = asyncio.Queue()

    async def begin(self) -> None:
        await self.session.attach(
            "html",
            SpiderChannel(deliver=self.leases.put_nowait, plant=lambda raw: None, seed_key="seeds"),
        )

    async def answer(self, lease: Lease) -> None:
        """Let a fetch end: a data file, or a page with links."""
        url, state = lease.entry.url, LinkState.unpack(lease.entry)
        kind = Kind.RDF if url.endswith(".ttl") else Kind.HTML
        new = ()
        if kind is Kind.HTML:
            number = int("".join(filter(str.isdigit, url)) or 0)
            new = await self.session.intake.discover(
                Page(url, state.depth), page_links(number), "html", lambda _: True
            )
        outcome = Outcome(
            url, kind, kind is Kind.RDF, url, state.parent, state.depth, 200, new_links=new
        )
        self.session.learn(outcome, "html")
        self.session.downloaded(lease)
        self.session.processed(lease)
        self.session.acknowledge(lease)


@pytest.fixture
async def workers(redis_server: RedisServer, prefix: str) -> AsyncIterator[list[Worker]]:
    both = [Worker(redis_server, f"step-{prefix}", name) for name in ("one", "two")]
    for worker in both:
        await worker.begin()
    yield both
    for worker in both:
        await worker.session.detach("html")


async def next_lease(workers: list[Worker]) -> tuple[Worker, Lease]:
    """The next link that any worker takes."""
    waits = {asyncio.create_task(worker.leases.get()): worker for worker in workers}
    done, rest = await asyncio.wait(waits, timeout=LIMIT, return_when=asyncio.FIRST_COMPLETED)
    assert done, "no worker takes a link"
    task = done.pop()
    for other in done:
        waits[other].leases.put_nowait(other.result())
    for other in rest:
        other.cancel()
    return waits[task], task.result()


async def test_workers_learn_the_same(workers: list[Worker]) -> None:
    """Whoever fetches what: in the end both strategies are alike, to the byte."""
    await workers[0].session.intake.plant([(f"{SITE}/", LinkState())], "html")
    for _ in range(40):
        worker, lease = await next_lease(workers)
        await worker.answer(lease)
    for worker in workers:
        worker.session.drain()
    for worker in workers:
        while not worker.leases.empty():
            await worker.answer(worker.leases.get_nowait())
    for worker in workers:
        await worker.session.intake.learning.publish()
    for worker in workers:
        await worker.session.intake.learning.read_events()
    one, two = (worker.strategy.dump_state() for worker in workers)
    assert one == two


async def test_links_that_another_put_in_are_known(workers: list[Worker]) -> None:
    """They are neither judged nor sent to the frontier once more."""
    await workers[0].session.intake.plant([(f"{SITE}/", LinkState())], "html")
    worker, lease = await next_lease(workers)
    await worker.answer(lease)
    await worker.session.intake.learning.publish()
    (other,) = (each for each in workers if each is not worker)
    await other.session.intake.learning.read_events()
    assert all(other.session.intake.has_seen(link.url) for link in page_links(0))


async def test_a_worker_waits_for_what_another_fetches(workers: list[Worker]) -> None:
    """Restraint is the crawl's: of unsure links one is in flight at first, not one per worker."""
    await workers[0].session.intake.plant([(f"{SITE}/", LinkState())], "html")
    worker, lease = await next_lease(workers)
    await worker.answer(lease)
    flying = [await next_lease(workers) for _ in range(2)]
    urls = sorted(lease.entry.url for _, lease in flying)
    assert [url.endswith(".ttl") for url in urls] == [True, False]
    for other in workers:
        await other.session.intake.learning.publish()
        await other.session.intake.learning.read_events()
        assert other.strategy.room(2) <= 0
        assert other.leases.empty()


@pytest.mark.slow
async def test_a_link_whose_taker_is_silent_is_not_waited_for_for_ever(
    workers: list[Worker],
) -> None:
    """A worker that hangs with the only link in flight does not stop the others."""
    await workers[0].session.intake.plant([(f"{SITE}/", LinkState())], "html")
    worker, lease = await next_lease(workers)
    await worker.answer(lease)
    takers = {(await next_lease(workers))[0] for _ in range(2)}
    for taker in takers:
        taker.session.drain()
    if idle := [other for other in workers if other not in takers]:
        await next_lease(idle)


@pytest.mark.slow
async def test_a_link_whose_taker_is_silent_is_waited_for_once(workers: list[Worker]) -> None:
    """And not again before every link that the others take."""
    await workers[0].session.intake.plant([(f"{SITE}/", LinkState())], "html")
    worker, lease = await next_lease(workers)
    await worker.answer(lease)
    while lease.entry.url != f"{SITE}/list/1.html":
        silent, lease = await next_lease(workers)
        if lease.entry.url.endswith(".ttl"):
            await silent.answer(lease)
    silent.session.drain()
    (other,) = (worker for worker in workers if worker is not silent)
    async with asyncio.timeout(LIMIT):
        for _ in range(20):
            worker, lease = await next_lease([other])
            await worker.answer(lease)


async def test_what_waits_for_others_is_not_waited_for(
    workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a document waits for its contexts, its worker takes the next link."""
    monkeypatch.setattr("semcrawl.crawl.dispatch._OVERDUE", 10.0 * LIMIT)
    pages = [f"{SITE}/", f"{SITE}/home"]
    await workers[0].session.intake.plant([(page, LinkState()) for page in pages], "html")
    worker, lease = await next_lease(workers)
    worker.session.downloaded(lease)
    worker.session.waits(lease)
    _, taken = await next_lease([worker])
    assert {lease.entry.url, taken.entry.url} == set(pages)


@pytest.mark.parametrize("again", [False, True], ids=["redirected", "tried again"])
async def test_what_went_back_is_not_waited_for(
    workers: list[Worker], again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that leads elsewhere, or failed for now, is in flight only when it is taken again."""
    monkeypatch.setattr("semcrawl.crawl.dispatch._OVERDUE", 10.0 * LIMIT)
    await workers[0].session.intake.plant([(f"{SITE}/", LinkState())], "html")
    worker, lease = await next_lease(workers)
    session = worker.session
    session.downloaded(lease)
    if again:
        await session.retry(lease, LinkState(retries=1), 0.0)
    else:
        state = LinkState(redirects=(lease.entry.url,))
        assert await session.intake.follow_redirect(lease, f"{SITE}/home", state)
        session.processed(lease)
        session.acknowledge(lease)
    _, taken = await next_lease(workers)
    assert taken.entry.url == (lease.entry.url if again else f"{SITE}/home")


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
async def test_an_answer_that_takes_long_is_not_waited_for(
    redis_server: RedisServer, prefix: str, shared: bool
) -> None:
    """Of many seeds, one whose host hangs does not stop the others."""
    worker = Worker(redis_server, f"slow-{prefix}", "one", shared=shared)
    await worker.begin()
    seeds = [f"http://{name}.example/" for name in "abc"]
    await worker.session.intake.plant([(url, LinkState()) for url in seeds], "html")
    first, second = [(await next_lease([worker]))[1].entry.url for _ in range(2)]
    assert first != second
    await worker.session.detach("html")


async def test_links_of_an_earlier_run_are_not_taken_for_seeds(
    redis_server: RedisServer, prefix: str
) -> None:
    """Giving them new keys leaves other folders of their host what they were worth."""
    data, place = "http://other.example/a/data", "http://other.example/b/pages"
    first = Worker(redis_server, f"home-{prefix}", "one", shared=False)
    await first.begin()
    found = [Link(f"{data}/{n}") for n in range(9)]
    new = await first.session.intake.discover(Page(f"{SITE}/"), found, "html", lambda _: True)
    outcome = Outcome(f"{SITE}/", Kind.HTML, False, f"{SITE}/", new_links=new)
    first.session.learn(outcome, "html")
    await first.session.detach("html")

    second = Worker(redis_server, f"home-{prefix}", "two", shared=False)
    await second.begin()
    try:
        assert second.strategy.expected_remaining() > 0
        (before,) = second.strategy.rank(Page(f"{SITE}/", 1), [Link(f"{place}/1")])
        outcome = Outcome(f"{data}/0", Kind.RDF, True, f"{data}/0", parent=f"{SITE}/")
        second.session.learn(outcome, "html")
        await second.session.intake.learning.publish()
        (after,) = second.strategy.rank(Page(f"{SITE}/", 1), [Link(f"{place}/2")])
        assert after.key <= before.key
    finally:
        await second.session.detach("html")


@pytest.mark.slow
async def test_a_worker_that_begins_hears_all_that_was_told_since_what_it_goes_on_from(
    redis_server: RedisServer, prefix: str
) -> None:
    """However much that is."""
    one = RedisFrontier(str(redis_server.socket), prefix=f"late-{prefix}", worker_id="one")
    pages = [f"{SITE}/{n}" for n in range(2500)]
    async with one:
        await one.shared.exchange(
            *(encode_event(Outcome(url, Kind.HTML, False)) for url in pages), limit=0
        )
    worker = Worker(redis_server, f"late-{prefix}", "two")
    await worker.begin()
    learning = worker.session.intake.learning
    await worker.session.detach("html")
    assert learning.outcomes == len(pages)


@pytest.fixture
async def pair(
    redis_server: RedisServer, prefix: str
) -> AsyncIterator[tuple[RedisFrontier, RedisFrontier]]:
    """Two workers' frontiers of one crawl."""
    options = FrontierOptions(delay=0.0, concurrency=100)
    one, two = (
        RedisFrontier(str(redis_server.socket), prefix=prefix, worker_id=name, options=options)
        for name in ("one", "two")
    )
    async with one, two:
        yield one, two


async def test_nothing_is_taken_in_step_while_there_is_news(
    pair: tuple[RedisFrontier, RedisFrontier],
) -> None:
    """A take in step fails until the worker has read what the others told; it is told itself."""
    one, two = pair
    await one.add([Entry(f"{SITE}/{n}", "site.example", "html", "g", n) for n in range(4)])
    first = await one.take(1, ["html"], announce="strict")
    assert first is not None
    assert [lease.entry.url for lease in first] == [f"{SITE}/0"]
    assert await two.take(1, ["html"], announce="strict") is None
    (news,) = await two.shared.exchange()
    assert (news.own, [entry.url for entry in news.taken]) == (False, [f"{SITE}/0"])
    second = await two.take(2, ["html"], announce="strict")
    assert second is not None
    assert [lease.entry.url for lease in second] == [f"{SITE}/1", f"{SITE}/2"]
    assert await one.take(1, ["html"], announce="strict") is None
    eager = await one.take(1, ["html"], announce="eager")
    assert eager is not None
    assert [lease.entry.url for lease in eager] == [f"{SITE}/3"]
    assert await outcomes_of_others(two) == []


async def test_a_worker_knows_its_own_takes_and_hears_what_it_publishes_in_its_place(
    pair: tuple[RedisFrontier, RedisFrontier],
) -> None:
    """A worker's own takes are no news to it; its outcomes come back after the others'."""
    one, two = pair
    await one.add([Entry(f"{SITE}/{n}", "site.example", "html", "g", n) for n in range(3)])
    for number in range(2):
        taken = await one.take(1, ["html"], announce="strict")
        assert taken is not None
        assert [lease.entry.url for lease in taken] == [f"{SITE}/{number}"]
    await two.shared.exchange(b"first", limit=0)
    news = await one.shared.exchange(b"second", queue="html")
    assert [(n.outcome, n.own, n.queue) for n in news] == [
        (b"first", False, ""),
        (b"second", True, "html"),
    ]
    assert await one.shared.exchange() == []
    heard = await two.shared.exchange(limit=3)
    assert [len(n.taken) for n in heard] == [1, 1, 0]
    assert await outcomes_of_others(two) == [b"second"]


async def test_what_is_heard_with_publishing_is_bounded_and_goes_on_where_it_ended(
    pair: tuple[RedisFrontier, RedisFrontier],
) -> None:
    one, two = pair
    await two.shared.exchange(b"a", b"b", limit=0)
    heard = await one.shared.exchange(b"c", b"d", queue="html", limit=3)
    assert [(n.outcome, n.own, n.more) for n in heard] == [
        (b"a", False, True),
        (b"b", False, False),
        (b"c", True, True),
    ]
    rest = await one.shared.exchange()
    assert [(n.outcome, n.own, n.queue, n.more) for n in rest] == [(b"d", True, "html", False)]
    await two.shared.exchange(b"e", b"f", limit=0)
    assert [n.outcome for n in await one.shared.exchange(b"g", limit=1)] == [b"e"]
    assert [n.outcome for n in await one.shared.exchange()] == [b"f", b"g"]


async def test_outcomes_told_together_say_which_is_the_last(
    pair: tuple[RedisFrontier, RedisFrontier],
) -> None:
    one, two = pair
    await one.shared.exchange(b"a", b"b", queue="html", limit=0)
    await one.shared.exchange(b"c", queue="html", limit=0)
    news = [news for news in await two.shared.exchange() if news.outcome]
    assert [(news.outcome, news.more) for news in news] == [
        (b"a", True),
        (b"b", False),
        (b"c", False),
    ]
