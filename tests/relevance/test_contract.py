"""Every strategy meets the contract of relevance."""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from semcrawl.crawl.learning import decode_event, encode_event
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Outcome, Relevance, load_strategy, strategies
from semcrawl.web.vocabulary import Kind

HOST = "http://a.example"
urls = st.from_regex(
    r"http://[ab]\.example(/[xyz]{1,2}){0,3}(\.rdf|\.html|\.png|\.xml|\.txt)?(\?q=[12])?",
    fullmatch=True,
)
texts = st.sampled_from(["", "rdf", "People", "text/turtle", "é ☃"])
links = st.lists(
    st.builds(
        Link, urls, element=st.sampled_from(["a", "link", "header", "rdf", "seed", "redirect"]),
        anchor=texts, title=texts, type=texts, tag_path=st.sampled_from(["", "html/body/a"]),
    ),
    max_size=6, unique_by=lambda link: link.url,
)  # fmt: skip
steps = st.lists(
    st.tuples(
        st.builds(Page, urls, st.integers(-1, 5), st.booleans()),
        links,
        st.sampled_from([Kind.RDF, Kind.HTML, Kind.OTHER, None]),
        st.booleans(),
    ),
    max_size=6,
)


def crawl(strategy, story):
    """Let a strategy live through pages and outcomes; return what it told of groups and keys."""
    values, keys, groups = {}, {}, set()
    parent = None
    for page, found, kind, duplicate in story:
        ranked = strategy.rank(page, found)
        assert [r.link for r in ranked] == found
        for r in ranked:
            assert isinstance(r.label, Label)
            assert math.isfinite(r.key)
        kept = tuple(r for r in ranked if r.group is not None)
        groups.update(r.group for r in kept)
        strategy.taken([page.url])
        strategy.learn(
            Outcome(
                page.url, kind, kind is Kind.RDF, page.url, parent, max(0, page.depth), 200,
                duplicate=duplicate, new_links=kept if kind is Kind.HTML else (),
            )
        )  # fmt: skip
        parent = page.url
        values.update(strategy.values())
        keys.update(strategy.rekeyed())
    return values, keys, groups


@pytest.mark.parametrize("name", strategies())
class TestStrategyContract:
    """One suite for all strategies."""

    @pytest.mark.slow
    @hypothesis_settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(story=steps)
    def test_any_crawl_gives_finite_values_of_the_groups_in_use(self, name, story):
        """Values and keys are finite; a group without a value counts as 0."""
        values, keys, _ = crawl(load_strategy(name, {}), story)
        assert all(math.isfinite(value) for value in values.values())
        assert all(math.isfinite(key) for key in keys.values())

    @pytest.mark.slow
    @hypothesis_settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(story=steps, found=links)
    def test_what_was_learned_can_be_taken_over(self, name, story, found):
        """A strategy that loads another's state labels new links as that one does."""
        found = [
            replace(link, url=f"{HOST}/unseen/{n}-{link.url.rsplit('/', 1)[-1]}")
            for n, link in enumerate(found)
        ]
        one, two = load_strategy(name, {}), load_strategy(name, {})
        crawl(one, story)
        state = one.dump_state()
        if state:
            two.load_state(state)
        page = Page(f"{HOST}/after", 1)
        labels = [(r.label, r.rules, r.group) for r in one.rank(page, found)]
        assert [(r.label, r.rules, r.group) for r in two.rank(page, found)] == labels

    @pytest.mark.parametrize("state", [b"nonsense", b"\xff\xfe", b"[]", b"{}", b"null", b"\x80"])
    def test_a_wrong_state_is_a_usage_error(self, name, state):
        """A state of something else is refused in one line, or not looked at."""
        strategy = load_strategy(name, {})
        if not strategy.dump_state():
            strategy.load_state(state)
            return
        with pytest.raises(UsageError, match=r"\A[^\n]+\Z"):
            strategy.load_state(state)

    def test_the_state_of_another_strategy_is_refused(self, name):
        """Even where the two learn of the same things."""
        strategy = load_strategy(name, {})
        if not strategy.dump_state():
            return
        outcome = Outcome(f"{HOST}/x.rdf", Kind.RDF, True, parent=f"{HOST}/m/1", status=200)
        for other in set(strategies()) - {name}:
            another = load_strategy(other, {})
            another.learn(outcome)
            if state := another.dump_state():
                with pytest.raises(UsageError, match=r"\A[^\n]+\Z"):
                    strategy.load_state(state)

    def test_changes_are_told_once(self, name):
        """values() and rekeyed() say only what is new since the last call."""
        strategy = load_strategy(name, {})
        strategy.rank(Page(f"{HOST}/"), [Link(f"{HOST}/x"), Link(f"{HOST}/y.rdf")])
        strategy.values()
        assert not strategy.values()
        strategy.rekeyed()
        assert not strategy.rekeyed()

    def test_seeds_are_never_dropped(self, name):
        """A seed is fetched whatever it looks like, and not behind what is unlikely."""
        names = ("", "a.xml", "a.txt", "a.png", "a.zip")
        seeds = [Link(f"{HOST}/{x}", element="seed") for x in names]
        for settings in ({}, {"SEMCRAWL_KEEP_UNLIKELY": False}):
            strategy = load_strategy(name, settings)
            ranked = strategy.rank(Page(f"{HOST}/", -1), seeds)
            assert None not in {r.group for r in ranked}
            [unlikely] = strategy.rank(Page(f"{HOST}/", 0), [Link(f"{HOST}/b.xml")])
            if name != "learned":
                assert unlikely.group not in {r.group for r in ranked}

    def test_known_images_are_always_dropped(self, name):
        """Link filter 1 holds for all."""
        links = [Link(f"{HOST}/x.png"), Link(f"{HOST}/x.css")]
        assert {r.group for r in load_strategy(name, {}).rank(Page(HOST), links)} == {None}

    def test_it_explains_in_rows(self, name):
        """An explanation is rows of topic and text, for any kind of link."""
        strategy = load_strategy(name, {})
        for url in (f"{HOST}/x", f"{HOST}/x.rdf", f"{HOST}/x.png"):
            rows = strategy.explain(Page(f"{HOST}/"), Link(url))
            assert rows
            assert all(isinstance(a, str) and isinstance(b, str) for a, b in rows)

    def test_an_outcome_survives_the_wire(self, name):
        """Another worker's state arrives whole."""
        strategy = load_strategy(name, {})
        ranked = strategy.rank(Page(f"{HOST}/"), [Link(f"{HOST}/x"), Link(f"{HOST}/y.rdf")])
        outcome = Outcome(f"{HOST}/", Kind.HTML, False, f"{HOST}/", status=200)
        strategy.learn(decode_event(encode_event(outcome)))
        assert ranked

    def test_it_meets_the_contract_under_its_name(self, name):
        """The registry's name is the strategy's own."""
        strategy = load_strategy(name, {})
        assert isinstance(strategy, Relevance)
        assert strategy.name == name


@pytest.mark.parametrize(
    "name",
    ["no-such", "", "no.such.Class", "semcrawl.relevance.Nothing", "json.JSONDecoder", "..", "a."],
)
def test_what_is_no_strategy_is_a_usage_error(name):
    """Unknown names and classes that are none are refused in one line."""
    with pytest.raises(UsageError, match=r"\A[^\n]+\Z"):
        load_strategy(name, {})


def test_a_class_can_be_named_by_its_path():
    """A strategy of one's own is loaded by its import path."""
    assert load_strategy("semcrawl.relevance.thesis.Rules", {}).name == "rules"


def test_uninformed_orders():
    """Breadth-first takes the smallest depth first, depth-first the newest of the deepest."""
    breadth, depth = load_strategy("breadth-first", {}), load_strategy("depth-first", {})
    found = [Link(f"{HOST}/1"), Link(f"{HOST}/2")]
    for strategy, sign in ((breadth, -1), (depth, 1)):
        near = strategy.rank(Page(HOST, 0), found)[0]
        far = strategy.rank(Page(HOST, 4), found)[0]
        values = strategy.values()
        assert (values[far.group] - values[near.group]) * sign > 0
    older = depth.rank(Page(HOST, 0), found)
    first, second = depth.rank(Page(HOST, 0), found)
    assert first.key < second.key < older[0].key  # the newest page first, its first link first
    seeds = [depth.rank(Page(HOST, -1), [Link(x.url, element="seed")])[0] for x in found]
    assert seeds[0].key == seeds[1].key
    one, two = breadth.rank(Page(HOST, 0), found)
    assert one.key == two.key
