"""The parts of a spider on a session with a frontier."""

from __future__ import annotations

import pytest
from answered_crawl import Crawl
from scrapy.exceptions import CloseSpider
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from semcrawl import settings as defaults
from semcrawl.crawl.attempt import Attempt, Stage
from semcrawl.crawl.courses import RetryRules
from semcrawl.crawl.redirects import RedirectOptions, RedirectRules
from semcrawl.frontier.links import LinkState
from semcrawl.items import FetchOutcome
from semcrawl.links import Link, Page
from semcrawl.spiders.html import HtmlSpider
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.planting import BackgroundTasks, SeedPlanter
from semcrawl.spiders.redirecting import Redirects, Retries

D = "http://d.example/"
DEFAULTS = {name: getattr(defaults, name) for name in dir(defaults) if name.startswith("SEMCRAWL_")}


class Spider:
    """A spider of a crawl, and the parts that tests ask for."""

    def __init__(self, crawl: Crawl, seeds: str | None = None, **settings: object) -> None:
        crawler = get_crawler(settings_dict={**DEFAULTS, **settings})
        self.spider = HtmlSpider.from_crawler(crawler, seeds=seeds)
        self.crawl = crawl
        self.session = crawl.session
        self.policy = self.spider._policy
        self.policy.scope.roots = self.session.intake.roots
        self.feed = LinkFeed(self.policy, self.session, "html", "rdf", "rdf:start_urls")

    @property
    def retries(self) -> Retries:
        rules = RetryRules.from_settings(self.spider.settings)
        return Retries(session=self.session, rules=rules)

    def redirects(self) -> Redirects:
        options = RedirectOptions.from_settings(self.spider.settings)
        rules = RedirectRules(self.policy, options, self.spider.normalisation)
        return Redirects(session=self.session, rules=rules, queue="html")

    def planter(self) -> SeedPlanter:
        return SeedPlanter(
            *(self.spider, self.session, self.feed, BackgroundTasks(self.spider, self.session)),
            self.spider.normalisation,
            queue="html",
            key="html:start_urls",
            seeds=self.spider._seeds_text,
            scope="site",
        )

    async def next(self) -> Attempt:
        return self.session.attempt(await self.crawl.fetch())


def response(status: int, **headers: str) -> Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(D, status=status, headers=sent, request=Request(D))


async def leased(crawl: Crawl) -> int:
    return (await crawl.session.frontier.counts(["html"], [])).leased


async def test_a_server_that_is_busy_is_asked_again_and_one_without_the_page_is_not(
    crawl: Crawl,
) -> None:
    parts = Spider(crawl, RETRY_TIMES=1)
    await crawl.begin(D)
    attempt = await parts.next()
    assert not await parts.retries.after_response(attempt, response(404))
    assert not await parts.retries.after_response(attempt, response(503, Retry_After="9999999"))
    assert attempt.stage is Stage.SENT
    assert await parts.retries.after_response(attempt, response(503))
    assert attempt.stage is Stage.OVER
    assert not crawl.session.awaits(attempt.lease)
    assert await leased(crawl) == 0


async def test_a_link_has_as_many_tries_as_the_settings_give_it(crawl: Crawl) -> None:
    await crawl.begin(D)
    parts = Spider(crawl, RETRY_TIMES=1)
    attempt = await parts.next()
    assert not await Spider(crawl, RETRY_ENABLED=False).retries.again(attempt, "a reason")
    attempt.link_state = LinkState(retries=1)
    assert not await parts.retries.again(attempt, "a reason")
    assert attempt.stage is Stage.SENT


async def test_the_target_of_a_redirect_takes_the_place_of_the_link(crawl: Crawl) -> None:
    parts = Spider(crawl)
    await crawl.begin(D)
    attempt = await parts.next()
    record, _ = await parts.redirects().follow(attempt, response(301, Location="/there"))
    assert (record.outcome, record.final_url) == (FetchOutcome.REDIRECTED, D + "there")
    crawl.finish(attempt.lease)
    target = await parts.next()
    assert (target.url, target.link_url) == (D + "there", D)


@pytest.mark.parametrize(
    ("settings", "location", "problem"),
    [
        ({"REDIRECT_ENABLED": False}, "/there", "REDIRECT_ENABLED is off"),
        ({"REDIRECT_MAX_TIMES": 0}, "/there", "too many redirects"),
        ({}, "mailto:a@d.example", "Location is no http(s) URL"),
    ],
)
async def test_a_redirect_that_is_not_followed_says_why(
    crawl: Crawl, settings: dict[str, object], location: str, problem: str
) -> None:
    parts = Spider(crawl, **settings)
    await crawl.begin(D)
    attempt = await parts.next()
    record, _ = await parts.redirects().follow(attempt, response(302, Location=location))
    assert (record.outcome, record.errors) == (FetchOutcome.HTTP_ERROR, problem)


async def test_a_folder_takes_the_place_of_a_link_to_its_name_without_a_request(
    crawl: Crawl,
) -> None:
    parts = Spider(crawl)
    redirects = parts.redirects()
    await crawl.begin(D)
    seed = await parts.next()
    await parts.session.intake.add_roots(parts.policy.scope.roots_of(D))
    await parts.feed.discover(Page(D, 0), [Link(f"{D}{name}") for name in "abc"])
    crawl.finish(seed.lease)
    attempts = [await parts.next() for _ in "abc"]
    assert not any(redirects.foreseen(attempt) for attempt in attempts)
    for attempt in attempts[:2]:
        redirects.rules.note_folder(attempt.url, attempt.link_state, added=True)
    last = attempts[2]
    folder = redirects.foreseen(last)
    assert folder is not None
    assert folder.url == last.url + "/"
    await redirects.go_ahead(last, folder)
    for attempt in attempts:
        crawl.finish(attempt.lease)
    target = await parts.next()
    assert target.url == last.url + "/"
    assert target.link_state.foreseen
    assert target.link_state.redirects == (last.url,)


async def test_given_seeds_are_planted_and_wrong_ones_end_the_crawl(crawl: Crawl) -> None:
    await crawl.begin(D + "first")
    await crawl.fetch()
    await Spider(crawl, seeds=D).planter().plant_own()
    assert (await crawl.fetch()).entry.url == D
    assert "d.example" in crawl.session.intake.named
    with pytest.raises(CloseSpider):
        await Spider(crawl, seeds="what").planter().plant_own()
    assert crawl.session.failure.startswith("not an http or https URL")


async def test_what_is_wrong_in_a_seed_list_costs_the_others_nothing(crawl: Crawl) -> None:
    await crawl.begin(D + "first")
    await crawl.fetch()
    await Spider(crawl).planter().plant_raw(["nonsense", '{"url": 3}', D])
    assert (await crawl.fetch()).entry.url == D


async def test_a_spider_waits_on_its_list_only_without_seeds_of_its_own(crawl: Crawl) -> None:
    await crawl.begin()
    assert Spider(crawl).planter().waits
    assert not Spider(crawl, seeds=D).planter().waits
    assert not Spider(crawl, SEMCRAWL_HARVEST=True).planter().waits


async def test_an_attempt_goes_from_its_hand_out_to_its_acknowledgement(crawl: Crawl) -> None:
    await crawl.begin(D)
    lease = await crawl.leases.get()
    attempt = crawl.session.attempt(lease)
    assert attempt.stage is Stage.WAITING
    crawl.session.send(lease)
    assert attempt.stage is Stage.SENT
    crawl.session.processed(lease)
    assert attempt.stage is Stage.READ
    crawl.session.acknowledge(lease)
    assert attempt.stage is Stage.OVER
