"""What the rest of a host that is down hangs on."""

from __future__ import annotations

import pytest

from semcrawl.crawl.healthsigns import (
    EvenRests,
    HealthOptions,
    PageRankRests,
    RestPolicy,
    RestPolicyName,
    rest_policy,
)
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance import load_strategy
from semcrawl.settings.reader import fill

HOME, HUB, LONE = (f"http://a.example/{name}" for name in ("", "hub", "lone"))


def read_by(strategy_name):
    """A strategy that has read pages which all link to the hub, and one to another page."""
    strategy = load_strategy(strategy_name, {})
    strategy.cited(Page(HOME), [Link(HUB), Link(LONE)])
    for number in range(5):
        strategy.cited(Page(f"{HOME}{number}"), [Link(HUB)])
    return strategy


@pytest.mark.parametrize("strategy", ["pagerank", "weighted-pagerank", "ipagerank", "domain-score"])
def test_with_pagerank_important_pages_weigh_more(strategy):
    rests = rest_policy(RestPolicyName.PAGERANK, 2.0, strategy=(known := read_by(strategy)))
    assert rests.step(HUB) == 2.0 * known.importance(HUB)
    assert rests.step(HUB) > rests.step(LONE) > 0


def test_a_strategy_that_knows_no_pagerank_gives_all_pages_the_mean():
    rests = rest_policy(RestPolicyName.PAGERANK, 2.0, load_strategy("breadth-first", {}))
    assert rests.step(HUB) == rests.step(LONE) == 2.0


def test_a_page_is_gone_after_four_failed_checks_and_an_answer_forgets_them():
    rests = PageRankRests(2.0, lambda url: 1.0)
    assert [rests.is_gone(HUB) for _ in range(3)] == [False] * 3
    rests.answered(HUB)
    assert [rests.is_gone(HUB) for _ in range(5)] == [False] * 3 + [True, False]
    assert not rests.is_gone(LONE)


def test_many_pages_cost_no_more_memory():
    rests = PageRankRests(2.0, lambda url: 1.0)
    for number in range(20_000):
        assert not rests.is_gone(str(number))
    assert len(rests._failed) <= 10_000


def test_evenly_every_check_weighs_the_same_and_no_page_is_gone():
    rests = rest_policy(RestPolicyName.EVEN, 2.0, read_by("pagerank"))
    assert isinstance(rests, EvenRests)
    assert isinstance(rests, RestPolicy)
    assert rests.step(HUB) == rests.step(LONE) == 2.0
    assert not any(rests.is_gone(HUB) for _ in range(10))


def test_another_policy_is_refused_in_a_line():
    assert fill(HealthOptions, {}).rest_policy is RestPolicyName.EVEN
    given = {"SEMCRAWL_HOST_REST_POLICY": "PageRank"}
    assert fill(HealthOptions, given).rest_policy is RestPolicyName.PAGERANK
    with pytest.raises(UsageError, match="even, pagerank"):
        fill(HealthOptions, {"SEMCRAWL_HOST_REST_POLICY": "none"})
