"""Weighted PageRank while a crawl's graph grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.links import Link, Page
from semcrawl.relevance import load_strategy
from semcrawl.relevance.pagerank import LinkRankOptions, WeightedPageRank
from tests.relevance.settling import settle_wholly

NAMES = [f"http://a.example/{n}" for n in range(8)]
#: page → whom it links to; every page is fetched once
graphs = st.lists(st.lists(st.integers(0, 7), max_size=6, unique=True), min_size=8, max_size=8)


def crawled(graph, updates=500):
    """A strategy that has read all pages."""
    strategy = WeightedPageRank(rank=LinkRankOptions(updates=updates))
    for page, links in enumerate(graph):
        strategy.taken([NAMES[page]])
        strategy.cited(Page(NAMES[page]), [Link(NAMES[to]) for to in links])
    strategy.taken(NAMES)  # (also those without links, which the graph forgot)
    return strategy


def solved(graph, damping=0.85):
    """The ranks as linear algebra has them: x = (1−d) + d·(W_in ∘ W_out)ᵀ·x."""
    links_to = [sum(n in links for links in graph) for n in range(8)]
    links_on = [max(1, len(links)) for links in graph]
    matrix = np.zeros((8, 8))
    for page, links in enumerate(graph):
        for to in links:
            w_in = links_to[to] / sum(links_to[each] for each in links)
            w_out = links_on[to] / sum(links_on[each] for each in links)
            matrix[to, page] = w_in * w_out
    ranks = np.linalg.solve(np.eye(8) - damping * matrix, np.full(8, 1 - damping))
    return dict(zip(NAMES, ranks, strict=True))


@given(graphs)
def test_ranks_are_those_of_the_equation(graph):
    """Once all pages were read, and their links weighed by what is known then."""
    strategy = crawled(graph)
    for page in list(strategy.graph.sources):
        strategy._weigh(page.url)
    settle_wholly(strategy.graph)
    assert {url: strategy.graph.rank(url) for url in NAMES} == pytest.approx(solved(graph))


@settings(max_examples=25, deadline=None)
@given(graphs, st.integers(1, 20))
def test_links_are_weighed_again_in_turn(graph, updates):
    """After some more pages the weights are those of the whole graph."""
    strategy = crawled(graph, updates)
    for _ in range(16):
        strategy._weigh_others()
    settle_wholly(strategy.graph)
    assert {url: strategy.graph.rank(url) for url in NAMES} == pytest.approx(solved(graph))


def test_a_page_that_is_linked_to_more_waits_in_front():
    strategy = load_strategy("weighted-pagerank", {})
    hub, other = Page("http://a.example/hub"), Page("http://a.example/other")
    known, lone = Link("http://a.example/known"), Link("http://a.example/lone")
    for page, links in ((other, [known]), (hub, [known, lone])):
        strategy.taken([page.url])
        strategy.cited(page, links)
    keys = [ranked.key for ranked in strategy.rank(hub, [known, lone])]
    assert keys[0] < keys[1] < 0


def test_a_page_costs_no_more_than_allowed_however_large_the_graph():
    strategy = WeightedPageRank(rank=LinkRankOptions(updates=50))
    weighed = []
    for number in range(300):
        before = strategy._weigh
        strategy._weigh = lambda url, more=(), plain=before: weighed.append(url) or plain(url, more)
        links = [Link(f"http://a.example/{(number * 7 + n * n) % 300}") for n in range(1, 6)]
        strategy.cited(Page(f"http://a.example/{number}"), links)
        strategy._weigh = before
    assert len(weighed) <= 300 * (1 + 50 / 5)


def test_more_links_than_are_held_do_no_harm():
    strategy = WeightedPageRank(rank=LinkRankOptions(links=3))
    for number in range(20):
        links = [Link(f"http://a.example/{number}/{n}") for n in range(5)]
        strategy.cited(Page(f"http://a.example/{number}"), links)
    assert strategy.graph.held <= 3
