"""Workers share outcomes, and send changed keys to the frontier."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from semcrawl.crawl.learning import SharedLearning
from semcrawl.frontier import FrontierOptions, RedisFrontier
from semcrawl.frontier.contract import Entry
from semcrawl.frontier.links import LinkState
from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Outcome, Relevance
from semcrawl.relevance.association_rules import AssociationRules
from semcrawl.relevance.learned import Learned
from semcrawl.relevance.thesis import Rules, RulesParents
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import Kind

SITE = "http://site.example"


@pytest.fixture
async def frontiers(
    redis_server: RedisServer, prefix: str
) -> AsyncIterator[tuple[RedisFrontier, RedisFrontier]]:
    """Those of two workers of one crawl."""
    options = FrontierOptions(delay=0.0, concurrency=100)
    one, two = (
        RedisFrontier(
            str(redis_server.socket), prefix=f"tell-{prefix}", worker_id=name, options=options
        )
        for name in ("one", "two")
    )
    async with one, two:
        yield one, two


def pair(
    frontiers: tuple[RedisFrontier, RedisFrontier],
    first: Relevance,
    second: Relevance,
    *,
    synchronised: bool = False,
) -> tuple[SharedLearning, SharedLearning]:
    one, two = (
        SharedLearning(frontier, strategy, netloc_of, synchronised=synchronised)
        for frontier, strategy in zip(frontiers, (first, second), strict=True)
    )
    return one, two


def rdf(path: str, parent: str | None = None) -> Outcome:
    url = SITE + path
    return Outcome(url, Kind.RDF, True, url, parent and SITE + parent, status=200)


async def test_a_worker_hears_once_what_others_fetched_and_not_what_it_did(
    frontiers: tuple[RedisFrontier, RedisFrontier],
) -> None:
    first, second = AssociationRules(), AssociationRules()
    one, two = pair(frontiers, first, second)
    one.learn(rdf("/data/1"), "html")
    one.learn(Outcome(f"{SITE}/data/2", Kind.HTML, False, f"{SITE}/data/2", status=200), "rdf")
    await one.publish()
    for _ in range(2):
        await one.read_events()
        await two.read_events()
    assert (one.outcomes, two.outcomes) == (2, 2)
    assert first.dump_state() == second.dump_state()


async def test_what_teaches_the_others_nothing_is_not_told(
    frontiers: tuple[RedisFrontier, RedisFrontier],
) -> None:
    one, two = pair(frontiers, RulesParents(), RulesParents())
    one.learn(Outcome(f"{SITE}/page", Kind.HTML, False, f"{SITE}/page", status=200), "html")
    one.learn(rdf("/m/1.rdf", "/m/1"), "html")
    await one.publish()
    assert await two.read_events() == 1
    (ranked,) = two.strategy.rank(Page(f"{SITE}/"), [Link(f"{SITE}/m/2")])
    assert ranked.label is Label.HR
    silent, other = pair(frontiers, Rules(), Rules())
    silent.learn(rdf("/x.rdf"), "html")
    await silent.publish()
    assert await other.read_events() == 0


async def test_waiting_links_rise_for_all_workers_when_one_hears_of_a_parent(
    frontiers: tuple[RedisFrontier, RedisFrontier],
) -> None:
    """Their group gets its new value with the news, or at once where it was learned."""
    one, two = pair(frontiers, RulesParents(), RulesParents())
    for learning, path in ((one, "/n/1"), (two, "/m/1")):
        (ranked,) = learning.strategy.rank(Page(f"{SITE}/"), [Link(SITE + path)])
        await learning.apply_values()
        entry = Entry(ranked.link.url, "site.example", "html", ranked.group or "", ranked.key)
        await frontiers[0].add([entry])
    one.learn(rdf("/m/2.rdf", "/m/2"), "html")
    await one.publish()
    (lease,) = await frontiers[0].take(1, ["html"])
    assert lease.entry.url == f"{SITE}/m/1"


async def test_outcomes_of_both_queues_are_heard_in_the_order_in_which_they_came(
    frontiers: tuple[RedisFrontier, RedisFrontier],
) -> None:
    one, two = pair(frontiers, Learned(), Learned(), synchronised=True)
    for n, queue in enumerate(("html", "rdf", "rdf", "html", "rdf")):
        one.learn(rdf(f"/data/{n}"), queue)
    await one.publish()
    assert one.outcomes == 5
    await two.read_events()
    assert one.strategy.dump_state() == two.strategy.dump_state()


async def test_an_event_that_cannot_be_read_is_said_and_costs_no_other(
    frontiers: tuple[RedisFrontier, RedisFrontier], caplog: pytest.LogCaptureFixture
) -> None:
    one, two = pair(frontiers, AssociationRules(), AssociationRules())
    await frontiers[0].shared.exchange(b"of a later version", limit=0)
    one.learn(rdf("/data/1"), "html")
    await one.publish()
    assert await two.read_events() == 2
    assert two.outcomes == 1
    assert "cannot be read" in caplog.text


async def test_a_redirects_target_that_is_taken_stands_for_the_link_that_led_there(
    frontiers: tuple[RedisFrontier, RedisFrontier],
) -> None:
    """Its outcome will be told under that one's URL, and is waited for until then."""
    one, _ = pair(frontiers, Learned(), Learned(), synchronised=True)
    state = LinkState(redirects=(f"{SITE}/old", f"{SITE}/older"))
    one.note_taken([Entry(f"{SITE}/new", "site.example", "html", "g", 0.0, state.pack())])
    assert one.awaited(60) == 1
    one.learn(rdf("/old"), "html")
    await one.publish()
    assert one.awaited(60) == 0


async def test_links_get_their_new_keys_where_they_wait_or_may_wait(
    frontiers: tuple[RedisFrontier, RedisFrontier],
) -> None:
    """In either queue; those that an earlier run put in as well."""
    strategy = Learned()
    one, _ = pair(frontiers, strategy, Learned())
    home = Page(f"{SITE}/")
    links = [Link(f"{SITE}/{place}/{n}.html") for n in range(6) for place in ("news", "data")]
    ranked = strategy.rank(home, links)
    for r, queue in zip(ranked, ["html", "rdf"] * 6, strict=True):
        host = "site.example"
        await frontiers[0].add([Entry(r.link.url, host, queue, r.group or "", 0.0)])
    page = Outcome(home.url, Kind.HTML, False, home.url, new_links=tuple(ranked))
    one.learn(page, "html")
    one.learn(rdf("/data/0.html", "/"), "html")
    await one.publish()
    taken = await frontiers[0].take(12, ["html", "rdf"])
    keys = [lease.entry.key for lease in taken]
    assert len(taken) == 12
    assert any(key < -0.1 for key in keys)
    queues = {lease.entry.queue for lease in taken if lease.entry.key}
    assert queues == {"html", "rdf"}
