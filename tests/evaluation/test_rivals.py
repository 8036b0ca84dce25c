"""Crawlers of others, rebuilt from their papers."""

from __future__ import annotations

import pytest

from semcrawl.lab.rivals import BATCH, RIVALS, Anthelion, SbClassifier, UrlClassifier, tokens
from semcrawl.lab.simulator import simulate
from semcrawl.lab.worlds import SiteBuilder
from semcrawl.links import Link, Page
from semcrawl.relevance import load_strategy
from semcrawl.relevance.contract import Citing, Outcome, Relevance
from semcrawl.web.vocabulary import Kind

PAGE = Page("http://a.example/", 0)


def data_site():
    """A hundred pages, of which those of one list have RDF beside them."""
    site = SiteBuilder("data.example")
    home = site.page("/")
    for kind in ("news", "people", "texts"):
        index = site.page(f"/{kind}/")
        site.link(home, index)
        for number in range(30):
            page = site.page(f"/{kind}/{number}")
            site.link(index, page)
            if kind == "people":
                site.link(page, site.rdf(f"/data/people-{number}.rdf"), "data")
    return site.build("data")


@pytest.mark.parametrize("name", RIVALS)
def test_it_is_a_strategy_that_finds_targets_earlier_than_breadth_first(name):
    strategy = load_strategy(RIVALS[name], {"SEMCRAWL_RANDOM_SEED": 1})
    assert isinstance(strategy, Relevance)
    assert strategy.name == name
    run = simulate(data_site(), strategy, 200)
    other = simulate(data_site(), load_strategy("breadth-first", {}), 200)
    assert not run.error
    assert run.found == 30
    assert sum(run.curve) > sum(other.curve)


@pytest.mark.parametrize("name", RIVALS)
def test_a_seed_gives_the_same_crawl_again(name):
    orders = []
    for seed in (1, 1, 2):
        strategy = load_strategy(RIVALS[name], {"SEMCRAWL_RANDOM_SEED": seed})
        orders.append(simulate(data_site(), strategy, 60).order)
    assert orders[0] == orders[1]


def outcome(url, target, group="", new_links=()):
    kind = Kind.RDF if target else Kind.HTML
    return Outcome(url, kind, target, group=group, new_links=new_links)


def test_paths_of_tags_that_are_alike_are_one_action():
    strategy = SbClassifier()
    paths = (
        "html/body/div#menu/ul/li/a",
        "html/body/div#menu/ul/li/a",
        "html/body/main/table/td/a",
    )
    links = [Link(f"http://a.example/{n}", tag_path=path) for n, path in enumerate(paths)]
    groups = [ranked.group for ranked in strategy.rank(PAGE, links)]
    assert groups[0] == groups[1] != groups[2]


def test_an_action_that_pays_has_a_higher_score_than_one_that_does_not():
    strategy = SbClassifier()
    links = [
        Link("http://a.example/1", tag_path="html/body/ul/li/a"),
        Link("http://a.example/2", tag_path="html/body/main/table/tr/td/a"),
    ]
    pays, not_ = (ranked.group for ranked in strategy.rank(PAGE, links))
    for number in range(8):
        strategy.learn(outcome(f"http://a.example/d/{number}", True, pays))
        strategy.learn(outcome(f"http://a.example/p/{number}", False, not_))
    values = strategy.values()
    assert values[pays] > values[not_]


def test_urls_that_look_like_targets_are_told_after_a_batch():
    classifier = UrlClassifier()
    for number in range(BATCH):
        assert not classifier.trained
        classifier.learn(
            f"http://a.example/{'x.rdf' if number % 2 else 'y/page'}", bool(number % 2)
        )
    assert classifier.trained
    assert classifier.probability("http://a.example/z.rdf") > 0.5
    assert classifier.probability("http://a.example/z/page") < 0.5


def test_anthelion_scores_by_tokens_and_by_siblings():
    strategy = Anthelion()
    assert isinstance(strategy, Citing)
    for number in range(5):
        strategy.learn(outcome(f"http://a.example/data/thing-{number}", True))
        strategy.learn(outcome(f"http://a.example/news/item-{number}", False))
    good = strategy.score(frozenset(tokens("http://a.example/data/other")))
    bad = strategy.score(frozenset(tokens("http://a.example/news/other")))
    assert good > 0 > bad
    strategy.cited(PAGE, [Link("http://a.example/data/thing-1"), Link("http://a.example/new")])
    assert strategy._graph[PAGE.url] == ("good sibling",)


def test_numbers_and_short_tokens_are_folded():
    assert tokens("http://a.example/item/123?of=ab") == tokens("http://a.example/item/456")
