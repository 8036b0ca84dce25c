"""PageRank and IPageRank while a crawl's graph grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.learning import decode_event, encode_event
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Outcome, load_strategy
from semcrawl.relevance.pagerank import IPageRank, LinkRank, LinkRankOptions, PageRank
from semcrawl.relevance.weighting import (
    LinkWeights,
    RelevanceWeighting,
    WeightOptions,
    metadata_terms,
)
from semcrawl.web.vocabulary import Kind
from tests.relevance.settling import settle_wholly

#: (page, whom it links to with which weights), in the order in which pages are fetched
graphs = st.lists(
    st.tuples(
        st.integers(0, 9).map(str),
        st.dictionaries(st.integers(0, 9).map(str), st.sampled_from([0.25, 0.5, 1.0]), max_size=6),
    ),
    max_size=14,
)


def solved(pages, damping=0.85):
    """The ranks as linear algebra has them: x = (1−d) + d·Pᵀ·x."""
    links = {}
    for page, weights in pages:
        links.setdefault(page, {}).update(weights)
    matrix = np.zeros((10, 10))
    for page, weights in links.items():
        for to, weight in weights.items():
            matrix[int(to), int(page)] = weight / sum(weights.values())
    ranks = np.linalg.solve(np.eye(10) - damping * matrix, np.full(10, 1 - damping))
    return {str(n): rank for n, rank in enumerate(ranks)}


@pytest.mark.slow
@given(graphs, st.integers(1, 30))
def test_ranks_are_those_of_the_equation_however_the_graph_grew(pages, updates):
    graph = LinkRank(LinkRankOptions(updates=updates))
    for page, links in pages:
        graph.cite(page, links)
        graph.settle()
    settle_wholly(graph)
    assert {url: graph.rank(url) for url in map(str, range(10))} == pytest.approx(solved(pages))


@pytest.mark.slow
@given(graphs)
def test_ranks_are_near_the_equation_with_the_usual_options(pages):
    graph = LinkRank()
    for page, links in pages:
        graph.cite(page, links)
        graph.settle()
    exact = solved(pages)
    assert {url: graph.rank(url) for url in exact} == pytest.approx(exact, rel=0.05)


@pytest.mark.slow
@given(graphs, st.integers(1, 20))
def test_no_more_links_are_held_than_was_asked_for(pages, limit):
    """Nor pages that none of them is of or leads to."""
    graph = LinkRank(LinkRankOptions(links=limit))
    for page, links in pages:
        graph.cite(page, links)
        graph.settle()
        assert graph.held == sum(len(node.links) for node in graph.sources) <= limit
        used = set(graph.sources).union(*(node.links for node in graph.sources))
        assert set(graph.nodes.values()) == used
        assert all(np.isfinite(node.rank) for node in used)


@pytest.mark.slow
@given(graphs, graphs)
def test_a_graph_that_was_kept_goes_on_as_if_nothing_had_been(before, after):
    whole, kept = PageRank(), PageRank()
    for page, links in before:
        whole.graph.cite(page, links)
        whole.graph.settle()
    kept.load_state(whole.dump_state())
    for strategy in (whole, kept):
        for page, links in after:
            strategy.graph.cite(page, links)
        settle_wholly(strategy.graph)
    for url in map(str, range(10)):
        assert kept.graph.rank(url) == pytest.approx(whole.graph.rank(url))


@given(st.binary(max_size=60), st.integers(0, 200))
def test_a_damaged_state_is_refused_in_a_line(noise, at):
    strategy = PageRank()
    strategy.graph.cite("a", {"b": 1.0, "c": 1.0})
    state = strategy.dump_state()
    damaged = state[: at % len(state)] + noise
    if damaged != state:
        with pytest.raises(UsageError, match="no learned state"):
            PageRank().load_state(damaged)


def test_a_page_costs_no_more_updates_than_allowed():
    """However large the graph has become."""
    graph = LinkRank(LinkRankOptions(updates=50))
    for page in range(300):
        graph.cite(str(page), {str((page * 7 + n * n) % 300): 1.0 for n in range(1, 6)})
    passed = {url: node.value for url, node in graph.nodes.items()}
    graph.settle()
    moved = [url for url, node in graph.nodes.items() if node.value != passed[url]]
    assert 0 < len(moved) <= 50 / 5 + 1


HOME = Page("http://a.example/")


def link(name, **texts):
    return Link(HOME.url + str(name), **texts)


def read(strategy, page, links, new=None):
    """Let a strategy hear of a page and its links, as a crawl does; return its judgement."""
    strategy.cited(page, links)
    ranked = strategy.rank(page, links)
    strategy.learn(
        Outcome(
            page.url, Kind.HTML, False, page.url, status=200,
            new_links=tuple(r for r in ranked if r.group and (new is None or r.link.url in new)),
        )
    )  # fmt: skip
    return ranked


def test_a_link_from_many_pages_comes_before_one_from_few():
    strategy = PageRank()
    first, second = read(strategy, HOME, [link("a"), link("b")])
    assert first.key == second.key
    strategy.rekeyed()
    read(strategy, Page(HOME.url + "a", 1), [link("b"), link("c")])
    moved = strategy.rekeyed()
    assert moved[HOME.url + "b"] < second.key
    assert HOME.url + "a" not in moved


def test_where_a_redirect_led_gets_the_rank_of_the_link():
    strategy = PageRank()
    read(strategy, HOME, [link("old"), link("b")])
    strategy.cited(Page(HOME.url + "new", 1), [link("c")])
    rank = strategy.graph.rank(HOME.url + "c")
    strategy.learn(Outcome(HOME.url + "old", Kind.HTML, False, HOME.url + "new", HOME.url))
    assert strategy.graph.rank(HOME.url + "c") > rank


def test_another_worker_learns_what_new_links_got_of_their_page():
    one, two = PageRank(), PageRank()
    links = [link("a"), link("b"), link("known"), link("x.png")]
    one.cited(HOME, links)
    ranked = one.rank(HOME, links)
    outcome = Outcome(HOME.url, Kind.HTML, False, HOME.url, new_links=tuple(ranked[:2]))
    assert one.worth_telling(outcome)
    two.learn(decode_event(encode_event(outcome)))
    for name, rank in (("a", one.graph.rank(HOME.url + "a")), ("known", 0.15)):
        assert two.graph.rank(HOME.url + name) == pytest.approx(rank)
    assert one.graph.rank(HOME.url + "a") == pytest.approx(0.15 + 0.85 * 0.15 / 3)


SIMILAR = {"travel": 1.0, "hotel": 0.8, "harbour": 0.3, "page": 0.1}


def weights(threshold=0.2, **options):
    return LinkWeights(lambda word: SIMILAR.get(word, 0.0), WeightOptions(threshold, **options))


def test_the_terms_of_a_link_are_words_and_texts_of_anchor_and_explanation():
    terms = metadata_terms(link("x", anchor="Hotel Zur Post", title="hotel", after="près d’ici"))
    assert terms == ["hotel", "zur", "post", "près", "d’ici", "hotel zur post", "près d’ici"]


@pytest.mark.parametrize("name", ["ipagerank", "relevance-weighting"])
def test_the_topic_is_that_of_the_crawl(name):
    settings = {"SEMCRAWL_ABOUT": "keywords:merge sort", "SEMCRAWL_RW_THRESHOLD": "0.2"}
    strategy = load_strategy(name, settings)
    near, half, far = (
        link(n, anchor=text) for n, text in enumerate(["The Merge Sort", "to sort", "hotel"])
    )
    assert [strategy.weights.of(each) for each in (near, half, far)] == [1.0, 0.25, 0.0]
    rows = dict(strategy.explain(HOME, near))
    assert rows["relevance weight"] == "1.00: “the merge sort” is 1.00 like the topic"


@pytest.mark.parametrize("name", ["ipagerank", "relevance-weighting"])
def test_a_topic_that_cannot_be_read_is_told(name):
    with pytest.raises(UsageError, match="about"):
        load_strategy(name, {"SEMCRAWL_ABOUT": "no-such:thing"})


@pytest.mark.parametrize(
    ("texts", "weight"),
    [
        ({"anchor": "A Hotel page"}, 0.8),
        ({"anchor": "here", "before": "about TRAVEL"}, 1.0),
        ({"anchor": "harbour"}, 0.3),
        ({"anchor": "page"}, 0.0),
        ({"anchor": "nothing"}, 0.0),
        ({}, 0.0),
    ],
)
def test_a_link_weighs_as_its_nearest_word_unless_that_is_below_the_threshold(texts, weight):
    assert weights(threshold=0.2).of(link("x", **texts)) == weight


def test_without_a_topic_all_links_weigh_the_same():
    plain = LinkWeights(None, WeightOptions())
    assert plain.of(link("x")) == plain.of(link("y", anchor="hotel")) == 1


def test_a_page_gives_its_rank_by_the_weights_of_its_links():
    """IPR(A) = (1−d) + d·IPR(T)·RW(A)/ΣRW."""
    strategy = IPageRank(weights=weights())
    links = [link("a", anchor="hotel"), link("b", anchor="travel"), link("c", anchor="imprint")]
    hotel, travel, imprint = read(strategy, HOME, links)
    assert -hotel.key == pytest.approx(0.15 + 0.85 * 0.15 * 0.8 / 1.8)
    assert -travel.key == pytest.approx(0.15 + 0.85 * 0.15 * 1.0 / 1.8)
    assert -imprint.key == pytest.approx(0.15)
    rows = dict(strategy.explain(HOME, links[0]))
    assert rows["relevance weight"] == "0.80: “hotel” is 0.80 like the topic"
    assert rows["rank"].startswith("0.207, 0.057 of it from this page, which gives 44.4%")


def test_a_page_whose_links_all_weigh_nothing_gives_nothing():
    strategy = IPageRank(weights=weights())
    links = [link("a", anchor="imprint"), link("b", anchor="page")]
    read(strategy, HOME, links)
    assert [r.key for r in strategy.rank(HOME, links)] == [pytest.approx(-0.15)] * 2


@pytest.mark.parametrize("strategy_class", [IPageRank, RelevanceWeighting])
def test_links_below_the_threshold_are_dropped_only_where_the_user_says_so(strategy_class):
    links = [link("a", anchor="hotel"), link("b", anchor="imprint")]
    soft = strategy_class(weights=weights()).rank(HOME, links)
    assert [r.group for r in soft] == ["links", "links"]
    assert soft[0].key <= soft[1].key
    hard = strategy_class(weights=weights(prune=True)).rank(HOME, links)
    assert [r.group for r in hard] == ["links", None]
    assert hard[1].label is Label.N


def test_a_link_that_is_found_again_with_better_words_moves_up():
    strategy = RelevanceWeighting(weights=weights())
    [first] = read(strategy, HOME, [link("a", anchor="harbour")])
    strategy.cited(Page(HOME.url + "b", 1), [link("a", anchor="travel"), link("c", anchor="hotel")])
    assert (first.key, strategy.rekeyed()) == (-0.3, {HOME.url + "a": -1.0})
    assert not strategy.rekeyed()
    strategy.taken([HOME.url + "a"])
    strategy.cited(HOME, [link("a", anchor="travel")])
    assert not strategy.rekeyed()


def test_links_of_matched_pages_come_first_and_each_list_goes_level_by_level():
    strategy = load_strategy("keyword-focused", {})
    keys = {}
    for page, matched in ((HOME, False), (Page(HOME.url + "m", 3), True), (Page("u", 1), False)):
        (ranked,) = strategy.rank(page, [link(f"from-{page.depth}")])
        strategy.learn(
            Outcome(page.url, Kind.HTML, matched, page.url, depth=page.depth, new_links=(ranked,))
        )
        keys |= {ranked.link.url: ranked.key} | strategy.rekeyed()
    assert sorted(keys, key=keys.get) == [HOME.url + f"from-{depth}" for depth in (3, 0, 1)]
    assert not strategy.rekeyed()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SEMCRAWL_PAGERANK_UPDATES", "many"),
        ("SEMCRAWL_RW_THRESHOLD", "2"),
        ("SEMCRAWL_RW_PRUNE", "perhaps"),
    ],
)
def test_a_wrong_setting_is_named(name, value):
    with pytest.raises(UsageError, match=name):
        load_strategy("ipagerank", {name: value})
