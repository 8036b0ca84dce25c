"""When a session ends, and when it does not yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest
from answered_crawl import LIMIT, Crawl
from served_redis import ServedRedis

from semcrawl.crawl.channels import SpiderChannel
from semcrawl.crawl.learning import STRATEGY_STATE
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.links import LinkState
from semcrawl.relevance import Outcome, load_strategy
from semcrawl.relevance.association_rules import AssociationRules
from semcrawl.relevance.orders import BreadthFirst
from semcrawl.web.vocabulary import Kind

#: seconds in which a crawl that is over would have ended
SOON = 0.3


async def attach(crawl: Crawl, queue: str, *, waits: bool = False) -> None:
    await crawl.session.attach(
        queue,
        SpiderChannel(
            deliver=crawl.leases.put_nowait,
            plant=lambda raw: None,
            seed_key=f"seeds-{queue}",
            waits=waits,
        ),
    )


async def goes_on(crawl: Crawl) -> bool:
    """Whether a crawl has not ended after a moment."""
    crawl.session.wake()
    try:
        await asyncio.wait_for(crawl.session.finished.wait(), SOON)
    except TimeoutError:
        return True
    return False


async def test_not_before_the_spiders_own_seeds_are_in(crawl: Crawl) -> None:
    await attach(crawl, "html")
    assert await goes_on(crawl)
    crawl.session.planted("html")
    await crawl.ended()


@pytest.mark.parametrize("crawl", [{"spiders": 2}], indirect=True)
async def test_not_before_all_spiders_have_come(crawl: Crawl) -> None:
    await attach(crawl, "html")
    crawl.session.planted("html")
    assert await goes_on(crawl)
    await attach(crawl, "rdf")
    crawl.session.planted("rdf")
    await crawl.ended()


async def test_not_while_a_spider_waits_for_seeds(crawl: Crawl) -> None:
    await attach(crawl, "html", waits=True)
    crawl.session.planted("html")
    assert await goes_on(crawl)


@pytest.mark.slow
@pytest.mark.parametrize("crawl", [{"idle_time": 0.1}], indirect=True)
async def test_a_spider_that_waits_does_so_no_longer_than_it_may_be_idle(crawl: Crawl) -> None:
    await attach(crawl, "html", waits=True)
    crawl.session.planted("html")
    await crawl.ended()


@pytest.mark.parametrize("crawl", [{"budget": 1}], indirect=True)
async def test_not_before_the_last_answer_that_the_budget_allows(crawl: Crawl) -> None:
    await crawl.begin("http://a/", "http://b/")
    lease = await crawl.fetch()
    assert await goes_on(crawl)
    crawl.finish(lease)
    await crawl.ended()


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
async def test_not_while_another_process_is_at_a_link_of_any_spider(
    address: str, prefix: str, shared: bool
) -> None:
    """Its finds may be for the spider of this one."""
    one, two = (
        Crawl(address, f"end-{prefix}", worker=worker, shared=shared) for worker in ("one", "two")
    )
    await attach(one, "rdf", waits=True)
    await one.session.intake.plant([("http://a/x.ttl", LinkState())], "rdf")
    await one.fetch()
    await two.begin()
    assert await goes_on(two) is shared
    await two.session.detach("html")
    await one.session.detach("rdf")


@pytest.mark.parametrize("crawl", [{"patience": 3, "concurrency": 1}], indirect=True)
async def test_a_crawl_gives_up_after_so_many_requests_without_a_target(crawl: Crawl) -> None:
    await crawl.begin(*(f"http://h{n}/" for n in range(9)))
    for target in (False, True, False, False, False):
        lease = await crawl.fetch()
        crawl.session.learn(Outcome(lease.entry.url, Kind.HTML, target), "html")
        crawl.finish(lease)
    await crawl.ended()
    assert crawl.session.requests == 5
    assert crawl.session.outlook.gave_up


class Faulty(BreadthFirst):
    """Has a fault that shows when it has learned something."""

    learned = False

    def learn(self, outcome: Outcome) -> None:
        self.learned = True

    def values(self) -> Mapping[str, float]:
        if self.learned:
            raise KeyError("no such group")
        return super().values()


async def test_a_strategys_fault_ends_the_crawl_with_a_word(address: str, prefix: str) -> None:
    crawl = Crawl(address, f"end-{prefix}", Faulty())
    await crawl.begin("http://a/", "http://b/")
    lease = await crawl.fetch()
    crawl.session.learn(Outcome(lease.entry.url, Kind.HTML, False), "html")
    crawl.finish(lease)
    await crawl.ended()
    assert crawl.session.failure == "KeyError: 'no such group'"
    crawl.session.fail("something that followed")
    assert crawl.session.failure == "KeyError: 'no such group'"
    await crawl.session.detach("html")


async def test_what_was_learned_is_saved_from_time_to_time(address: str, prefix: str) -> None:
    """For the case that the crawl does not end as it should."""
    name = f"end-{prefix}"
    crawl = Crawl(address, name, AssociationRules(), save_interval=0.05)
    await crawl.begin("http://a/data/1", "http://b/")
    lease = await crawl.fetch()
    crawl.session.learn(Outcome(lease.entry.url, Kind.RDF, True, status=200), "html")
    saved: bytes | None = b""
    async with asyncio.timeout(LIMIT):
        while b"word data" not in (saved or b""):
            await asyncio.sleep(0.01)
            saved = await crawl.session.frontier.shared.load_state(
                STRATEGY_STATE + "association-rules"
            )
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


@pytest.mark.slow
async def test_what_is_finished_counts_though_what_was_learned_cannot_be_told(
    served: ServedRedis, prefix: str
) -> None:
    """One broken key at a session's end stops none of its other reports."""
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
    acknowledge, begun = crawl.session.frontier.end, asyncio.Event()

    async def take_long(leases: Sequence[Lease]) -> None:
        begun.set()
        await asyncio.sleep(0.05)
        await acknowledge(leases)

    crawl.session.frontier.end = take_long  # type: ignore[method-assign]
    crawl.finish(await crawl.fetch())
    await asyncio.wait_for(begun.wait(), LIMIT)
    await crawl.session.detach("html")
    assert crawl.session.outlook.waiting_left == 0


class Unsaveable(BreadthFirst):
    """Has a fault that shows when it is saved."""

    def dump_state(self) -> bytes:
        raise ValueError("what was learned is odd")


@pytest.mark.slow
async def test_a_strategy_that_cannot_be_saved_costs_no_lease(address: str, prefix: str) -> None:
    """Leases are prolonged all the same while the crawl goes on, and given back at its end."""
    crawl = Crawl(address, prefix, Unsaveable(), lease_time=0.6, save_interval=0.1)
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
