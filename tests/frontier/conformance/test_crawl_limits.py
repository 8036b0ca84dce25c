"""Limits of a crawl hold for all its workers, whatever keeps the frontier."""

from __future__ import annotations

from frontier_calls import OpenFrontier
from scrapy.settings import Settings

from semcrawl.crawl.crawllimits import CrawlLimits
from semcrawl.crawl.standingorders import HOST, changed_orders, load_orders
from semcrawl.items import FetchOutcome, FetchRecord

URL = "http://a.example/x"


async def test_what_one_worker_spends_another_knows_of(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    settings = Settings({HOST: "requests=3,documents=1"})
    second = await open_frontier("w2")
    one, two = CrawlLimits(frontier, settings), CrawlLimits(second, settings)
    for _ in range(2):
        one.sent(URL)
    two.sent(URL)
    assert not one.over_budget(URL, 0)
    for each in (one, two, one):
        await each.refresh()
    assert "3 requests" in one.over_budget(URL, 0)
    assert "3 requests" in two.over_budget(URL, 0)
    assert not one.over_budget("http://b.example/", 0)


async def test_documents_count_for_host_and_domain(open_frontier: OpenFrontier) -> None:
    frontier = await open_frontier()
    limits = CrawlLimits(frontier, Settings({"SEMCRAWL_DOMAIN_BUDGET": "documents=1"}))
    limits.note(FetchRecord(URL, FetchOutcome.FETCHED_RDF, bytes=10))
    assert "budget of its domain" in limits.over_budget("http://b.a.example/", 0)


async def test_a_limit_that_is_set_changes_what_holds(open_frontier: OpenFrontier) -> None:
    frontier, settings = await open_frontier(), Settings()
    settings.freeze()  # as Scrapy does before a crawl
    limits = CrawlLimits(frontier, settings)
    assert not await limits.refresh()
    async with changed_orders(frontier) as orders:
        orders.limits = {HOST: "depth=1", "SEMCRAWL_EXCLUDE": ["/x*"]}
    assert await limits.refresh()
    assert limits.over_budget(URL, 2)
    assert not limits.now.patterns.allow(URL)
    async with changed_orders(frontier) as orders:
        orders.limits = {}
    assert await limits.refresh()
    assert not limits.over_budget(URL, 2)
    assert (await load_orders(frontier)).limits == {}
