import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Outcome, Relevance, load_strategy
from semcrawl.relevance.association_rules import AssociationRules, antecedents
from semcrawl.relevance.random import Random
from semcrawl.relevance.registry import strategies
from semcrawl.relevance.strategy import RuleOptions
from semcrawl.relevance.url_distance import UrlDistance, url_distance
from semcrawl.settings.reader import fill
from semcrawl.web.vocabulary import Kind

THESIS = RuleOptions(promote_waiting=False, keep_unlikely=False)
HOST = "http://a.example"
PAGE = Page(f"{HOST}/")

urls = st.from_regex(r"http://[ab]\.example(/[xyz]{1,2}){0,3}(\?[pq])?", fullmatch=True)


def rank(strategy, path, **texts):
    return strategy.rank(PAGE, [Link(HOST + path, **texts)])[0]


def fetched(strategy, path, kind, parent=None, status=200):
    target = kind is Kind.RDF
    strategy.learn(Outcome(HOST + path, kind, target, HOST + path, parent, status=status))


@pytest.mark.parametrize("name", strategies())
class TestEveryStrategy:
    """All of them meet the contract."""

    def test_it_meets_the_contract(self, name):
        assert isinstance(load_strategy(name, {}), Relevance)

    def test_it_judges_every_link_in_order(self, name):
        strategy = load_strategy(name, {})
        links = [Link(f"{HOST}/{n}{ext}") for n, ext in enumerate(["", ".rdf", ".png", ".xyz"])]
        assert [ranked.link for ranked in strategy.rank(PAGE, links)] == links
        assert strategy.rank(PAGE, []) == []

    def test_it_drops_images(self, name):
        assert rank(load_strategy(name, {}), "/x.png").group is None

    def test_it_wants_links_to_targets(self, name):
        """Those to media types that a crawl is after; association rules have to learn them."""
        strategy = load_strategy(name, {"SEMCRAWL_TARGETS": "rdf,text/csv,image/png"})
        for path in ("/x.csv", "/x.png"):
            assert rank(strategy, path).group is not None
            assert (rank(strategy, path).label is Label.R) == (name != "association-rules")
        assert rank(strategy, "/x.jpg").group is None

    def test_it_explains_without_changing_its_mind(self, name):
        strategy = load_strategy(name, {})
        before = rank(strategy, "/x")
        assert all(len(row) == 2 for row in strategy.explain(PAGE, Link(f"{HOST}/x")))
        assert rank(strategy, "/x").label is before.label

    def test_what_it_learned_can_be_taken_over(self, name):
        one, two = load_strategy(name, {}), load_strategy(name, {})
        seed = one.rank(Page(f"{HOST}/", -1), [Link(f"{HOST}/", element="seed")])
        assert seed
        new = tuple(r for r in one.rank(PAGE, [Link(f"{HOST}/m/1"), Link(f"{HOST}/m/1.rdf")]))
        one.learn(Outcome(f"{HOST}/", Kind.HTML, False, f"{HOST}/", new_links=new))
        fetched(one, "/m/1.rdf", Kind.RDF, f"{HOST}/m/1")
        state = one.dump_state()
        if state:
            two.load_state(state)
            assert rank(two, "/m/2").label is rank(one, "/m/2").label
            with pytest.raises(UsageError):
                load_strategy(name, {}).load_state(b"nonsense")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        *((value, False) for value in (False, 0, "False", "0", " no ", "OFF", "none")),
        *((value, True) for value in (True, 1, "True", "1", " yes ", "ON", "")),
    ],
)
def test_switches_are_read_as_the_command_line_gives_them(value, meant):
    options = fill(RuleOptions, {"SEMCRAWL_PROMOTE_WAITING": value})
    assert options.promote_waiting is meant
    assert options.keep_unlikely


def test_an_explanation_names_label_rules_and_group():
    strategy = load_strategy("rules", {})
    rdf, page, image = (
        dict(strategy.explain(PAGE, Link(f"{HOST}/{name}"))) for name in ("foaf.rdf", "x", "x.png")
    )
    assert rdf == {"label": "R", "rules": "ex1 pa1", "group": "R"}
    assert page == {"label": "H", "rules": "none holds", "group": "H"}
    assert image == {"label": "N", "rules": "none holds", "group": "dropped"}


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("breadth-first", Kind.RDF, False),
        ("rules", Kind.RDF, False),
        ("rules-parents", Kind.RDF, True),
        ("rules-parents", Kind.HTML, False),
        ("association-rules", Kind.HTML, True),
        ("url-distance", Kind.RDF, True),
    ],
)
def test_other_workers_are_told_what_teaches_them_something(name, kind, told):
    outcome = Outcome(f"{HOST}/x", kind, kind is Kind.RDF, status=200)
    assert load_strategy(name, {}).worth_telling(outcome) is told


def test_a_switch_that_says_neither_yes_nor_no_is_refused():
    with pytest.raises(UsageError, match="SEMCRAWL_KEEP_UNLIKELY"):
        fill(RuleOptions, {"SEMCRAWL_KEEP_UNLIKELY": "perhaps"})


def test_random_order_follows_from_seed_and_url():
    links = [Link(f"{HOST}/{n}") for n in range(50)]

    def order(seed):
        ranked = Random(seed=seed).rank(PAGE, links)
        return [r.link.url for r in sorted(ranked, key=lambda r: r.key)]

    assert order(1) == order(1) != order(2)
    assert all(0 <= r.key < 1 for r in Random().rank(PAGE, links))


@pytest.mark.parametrize("strategy_class", [UrlDistance, AssociationRules])
def test_other_targets_teach_as_rdf_does(strategy_class):
    strategy = strategy_class(RuleOptions(target_extensions=frozenset({"csv"})))
    strategy.learn(
        Outcome(f"{HOST}/1.csv", Kind.OTHER, True, parent=f"{HOST}/show?id=1", status=200)
    )
    assert rank(strategy, "/2.csv").label is Label.R
    if strategy_class is UrlDistance:
        assert rank(strategy, "/show?id=2").label is Label.HR


@pytest.mark.parametrize("seed", ["x", 1 << 70])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(UsageError, match="SEMCRAWL_RANDOM_SEED"):
        Random.from_settings({"SEMCRAWL_RANDOM_SEED": seed})


class TestUrlDistance:
    @pytest.mark.parametrize(
        ("one", "two", "distance"),
        [
            ("/x", "/x", 0),
            ("/x?a", "/x?b", 1),
            ("/x", "/y", 2),
            ("/x/y", "/x", 4),
            ("/x?a", "/y?b", 5),
            ("/x/y", "/z", 6),
        ],
    )
    def test_the_formula(self, one, two, distance):
        assert url_distance(HOST + one, HOST + two) == distance

    def test_another_host_is_far(self):
        assert url_distance("http://a.example/", "http://b.example/") == 32

    @pytest.mark.slow
    @given(urls, urls)
    def test_it_is_symmetric_and_zero_for_the_same(self, one, two):
        assert url_distance(one, two) == url_distance(two, one) >= 0
        assert url_distance(one, one) == 0

    @given(urls, urls)
    def test_known_parents_are_found_as_if_all_were_compared(self, link, parent):
        strategy = UrlDistance(THESIS)
        strategy.learn(Outcome("http://x/", Kind.RDF, True, parent=parent))
        [ranked] = strategy.rank(PAGE, [Link(link)])
        assert (ranked.label is Label.HR) == (url_distance(link, parent) <= 1)

    def test_labels_have_the_priorities_of_t4(self):
        """R before HR before H, and seeds with H whatever they look like."""
        strategy = UrlDistance(THESIS)
        fetched(strategy, "/show.rdf", Kind.RDF, f"{HOST}/show?id=1")
        ranked = [rank(strategy, path) for path in ("/x.rdf", "/show?id=2", "/m")]
        assert [r.label for r in ranked] == [Label.R, Label.HR, Label.H]
        values = strategy.values()
        assert [values[r.group] for r in ranked] == [-1, -2, -3]
        assert rank(strategy, "/seed.xml", element="seed").group == ranked[2].group

    def test_what_an_rdf_document_names_is_judged_by_its_extension_only(self):
        strategy = UrlDistance(THESIS)
        fetched(strategy, "/show.rdf", Kind.RDF, f"{HOST}/show.html?id=1")
        links = [Link(f"{HOST}/show.html?id=2"), Link(f"{HOST}/show?id=2"), Link(f"{HOST}/x.xml")]
        ranked = strategy.rank(Page(f"{HOST}/me.rdf", rdf=True), links)
        assert [r.label for r in ranked] == [Label.H, Label.R, Label.N]

    def test_pages_that_differ_in_the_query_only_are_alike(self):
        strategy = UrlDistance(THESIS)
        fetched(strategy, "/show.rdf", Kind.RDF, f"{HOST}/show?id=1")
        assert rank(strategy, "/show?id=2").rules == ("url",)
        assert rank(strategy, "/shows?id=2").label is Label.H


class TestAssociationRules:
    def test_a_url_says_extension_words_and_words_with_host(self):
        assert list(antecedents(f"{HOST}/a-b/C.rdf")) == [
            "ext rdf", "word a", "word b", "word c",
            "host a.example word a", "host a.example word b", "host a.example word c",
        ]  # fmt: skip

    def test_nothing_is_rdf_before_the_first_rdf_document(self):
        strategy = AssociationRules(THESIS)
        fetched(strategy, "/people/ann", Kind.HTML)
        assert rank(strategy, "/people/ann.rdf").label is Label.N
        assert rank(strategy, "/people/bob").label is Label.H

    def test_what_is_predicted_goes_first_and_seeds_go_with_the_pages(self):
        strategy = AssociationRules()
        fetched(strategy, "/x.rdf", Kind.RDF)
        rdf, page, named = (rank(strategy, path) for path in ("/y.rdf", "/y", "/y.html"))
        assert [r.label for r in (rdf, page, named)] == [Label.R, Label.H, Label.H]
        assert page.group == named.group
        last = rank(strategy, "/y.xml")
        values = dict(strategy.values())
        assert values[rdf.group] > values[page.group] > values[last.group]
        assert rank(strategy, "/seed.xml", element="seed").group == page.group
        assert strategy.values() == {}

    def test_a_redirect_teaches_by_the_address_that_it_led_to(self):
        strategy = AssociationRules(THESIS)
        strategy.learn(Outcome(f"{HOST}/id/ann", Kind.RDF, True, f"{HOST}/data/ann", status=200))
        assert strategy.confidence(f"{HOST}/data/bob") == (1, "word data")
        assert strategy.confidence(f"{HOST}/id/bob") == (0, "")

    def test_the_rule_that_applied_is_explained(self):
        strategy = AssociationRules(THESIS)
        fetched(strategy, "/data/x", Kind.RDF)
        for path, rule in {
            "/data/y": "word data ⇒ RDF, confidence 1.00",
            "/y": "none applies",
        }.items():
            rows = strategy.explain(PAGE, Link(HOST + path))
            assert ("association rule", rule) in rows

    def test_an_extension_speaks_first(self):
        strategy = AssociationRules(THESIS)
        fetched(strategy, "/people/ann", Kind.HTML)
        fetched(strategy, "/people/ann.rdf", Kind.RDF)
        ranked = rank(strategy, "/people/bob.rdf")
        assert (ranked.label, ranked.rules) == (Label.R, ("extension",))

    def test_a_word_shared_with_pages_is_not_enough(self):
        strategy = AssociationRules(THESIS)
        fetched(strategy, "/data/x", Kind.RDF)
        assert rank(strategy, "/data/y").rules == ("word",)
        fetched(strategy, "/data/index", Kind.HTML)
        assert strategy.confidence(f"{HOST}/data/y") == (0.5, "word data")
        assert rank(strategy, "/data/y").label is Label.H

    def test_predicted_links_are_fetched_in_the_order_of_their_confidence(self):
        """T.7: the confidence that predicts a link is its place in the queue."""
        strategy = AssociationRules(THESIS)
        for path in ("/a/1.rdf", "/sure/1", "/sure/2", "/likely/1", "/likely/2", "/likely/3"):
            fetched(strategy, path, Kind.HTML if path == "/likely/3" else Kind.RDF)
        likely, sure, html = (rank(strategy, path) for path in ("/likely/8", "/sure/8", "/b"))
        assert (sure.group, sure.key) == ("R", -1.0)
        assert (likely.group, likely.key) == ("R", -2 / 3)
        assert html.group == "H"

    def test_errors_teach_nothing_and_other_types_do(self):
        strategy = AssociationRules(THESIS)
        fetched(strategy, "/x.xml", Kind.RDF)
        fetched(strategy, "/y.xml", None, status=404)
        assert strategy.confidence(f"{HOST}/z.xml")[0] == 1
        fetched(strategy, "/z.xml", None)  # filtered: a document of another type
        assert strategy.confidence(f"{HOST}/z.xml")[0] == 0.5

    @pytest.mark.slow
    @given(st.lists(st.tuples(urls, st.sampled_from([Kind.RDF, Kind.HTML, None])), max_size=30))
    def test_confidence_is_a_share(self, documents):
        strategy = AssociationRules(THESIS)
        for url, kind in documents:
            strategy.learn(Outcome(url, kind, False, url, status=200))
        for url, _ in documents:
            assert 0 <= strategy.confidence(url)[0] <= 1
        assert json.loads(strategy.dump_state())["strategy"] == "association-rules"
