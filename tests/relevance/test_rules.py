"""The relevance functions of the thesis, rule by rule (sources.md T.2 to T.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Outcome
from semcrawl.relevance.rules import (
    R_RULES,
    is_non_semantic,
    is_plain,
    relevancy_inside_rdf,
    relevancy_r,
)
from semcrawl.relevance.strategy import RuleOptions
from semcrawl.relevance.thesis import KnownParents, Rules, RulesParents, address_of
from semcrawl.web.vocabulary import Kind

THESIS = RuleOptions(promote_waiting=False, keep_unlikely=False)
HOST = "http://a.example"
PAGE = Page(f"{HOST}/")


@pytest.mark.parametrize(
    ("link", "rules"),
    [
        (Link(f"{HOST}/x.rdf"), ("ex1",)),
        (Link(f"{HOST}/x.owl?v=1"), ("ex1",)),
        (Link(f"{HOST}/dump.nt.gz"), ("ex1",)),
        (Link(f"{HOST}/x", type="application/rdf+xml"), ("ty1", "ty2")),
        (Link(f"{HOST}/x", type="text/turtle; charset=utf-8"), ("ty1", "ty2")),
        (Link(f"{HOST}/x", type="Text/Turtle"), ("ty1", "ty2")),
        (Link(f"{HOST}/x", type="foaf"), ("ty2",)),
        (Link(f"{HOST}/x", title="as application/rdf+xml"), ("ti1",)),
        (Link(f"{HOST}/x", title="text/rdf+n3"), ("ti1",)),
        (Link(f"{HOST}/x", title="My FOAF"), ("ti2",)),
        (Link(f"{HOST}/x", anchor="text/n3"), ("an1",)),
        (Link(f"{HOST}/x", anchor="RDF version"), ("an2",)),
        (Link(f"{HOST}/x", before="served as text/turtle:"), ("co1",)),
        (Link(f"{HOST}/x", after="(triples)"), ("co2",)),
        (Link(f"{HOST}/foaf/ann"), ("pa1",)),
        (Link(f"{HOST}/foaf/ann.rdf", anchor="rdf"), ("ex1", "an2", "pa1")),
    ],
)
def test_each_rule_by_its_name(link, rules):
    """Every rule of T.2 that holds is remembered, and makes the link R."""
    assert relevancy_r(link) == (Label.R, rules)


@pytest.mark.parametrize(
    ("url", "label"),
    [
        (f"{HOST}/", Label.H), (f"{HOST}/a", Label.H), (f"{HOST}/a.html", Label.H),
        (f"{HOST}/a.php?x=1", Label.H), (f"{HOST}/a.xml", Label.N), (f"{HOST}/a.csv", Label.N),
        (f"{HOST}/surf/board", Label.H), (f"{HOST}/x.rdfa", Label.N),
    ],
)  # fmt: skip
def test_without_a_rule_the_extension_decides(url, label):
    """An HTML extension or none gives H, any other N; words count whole."""
    assert relevancy_r(Link(url)) == (label, ())


texts = st.sampled_from(["", "rdf", "x text/turtle y", "words", "FOAF Turtle", "trip"])


@given(
    st.builds(
        Link,
        st.sampled_from([f"{HOST}/x", f"{HOST}/x.ttl", f"{HOST}/owl/x", f"{HOST}/x.xml"]),
        anchor=texts, title=texts, type=texts, before=texts, after=texts,
    )
)  # fmt: skip
def test_a_link_is_r_exactly_when_a_rule_holds(link):
    """Label R and the rules agree, and the rules keep the order of T.2."""
    label, rules = relevancy_r(link)
    assert (label is Label.R) == bool(rules)
    assert list(rules) == [rule for rule in R_RULES if rule in rules]


def test_inside_rdf_only_the_extension_counts():
    """Links of RDF documents: RDF extension or none R, HTML extension H, otherwise N (T.6)."""
    assert relevancy_inside_rdf(Link(f"{HOST}/x", element="rdf")) is Label.R
    assert relevancy_inside_rdf(Link(f"{HOST}/x.ttl")) is Label.R
    assert relevancy_inside_rdf(Link(f"{HOST}/foaf.html", anchor="rdf")) is Label.H
    assert relevancy_inside_rdf(Link(f"{HOST}/x.xml")) is Label.N


def test_what_is_known_to_be_something_else_is_dropped():
    """Images, styles, scripts and archives go whatever is said about them; a packed dump stays."""
    for name in ("a.png", "a.CSS", "rdf.js", "a.pdf", "a.zip", "all.gz"):
        assert is_non_semantic(Link(f"{HOST}/{name}"))
    assert is_non_semantic(Link(f"{HOST}/x", element="link", rel="stylesheet"))
    assert not is_non_semantic(Link(f"{HOST}/x", element="link", rel="alternate"))
    assert not is_non_semantic(Link(f"{HOST}/dump.nt.gz"))
    assert is_plain(f"{HOST}/a.txt")
    assert not is_plain(f"{HOST}/a.xml")


@pytest.mark.parametrize(
    ("parent", "link", "rules"),
    [
        ("/members/member1/", "/members/member2/", ("r1",)),
        ("/members", "/news", ()),
        ("/a/b/c", "/a/b/d", ("r1",)),
        ("/a/b/c?x", "/a/b/d?y", ("r1",)),
        ("/a/b/c", "/x/b/d", ()),
        ("/members/m1", "/members/m1", ("r2",)),
        ("/show?id=1", "/show?id=2", ("r2",)),
        ("/a/b/c", "/a/x/c", ()),
        ("/a/b", "/a/b/c", ()),
        ("/a/b", "/x/y", ()),
        ("/", "/?x", ("r2",)),
    ],
)
def test_parents_are_compared_as_t3_says(parent, link, rules):
    """r1: only the last of several segments differs; r2: only the query does."""
    assert KnownParents([HOST + parent]).rules(HOST + link) == rules
    assert KnownParents(["http://b.example" + parent]).rules(HOST + link) == ()


def by_definition(link, parent):
    """Which rules hold between two URLs, in the words of T.3."""
    (host_i, i), (host_j, j) = address_of(link), address_of(parent)
    held = set()
    if host_i == host_j:
        if i == j:
            held.add("r2")
        elif len(i) == len(j) and len(i) > 1:
            differing = [x for x in range(len(i)) if i[x] != j[x]]
            if len(differing) == 1 and differing[-1] == len(i) - 1:
                held.add("r1")
    return held


page_urls = st.from_regex(r"http://[ab]\.example(/[xyz]){0,3}/?(\?[pq])?", fullmatch=True)


@pytest.mark.slow
@given(page_urls, st.lists(page_urls, max_size=6))
def test_a_lookup_says_what_comparing_all_parents_says(link, parents):
    """The index of parents gives the same rules as comparing with each of them."""
    expected = set().union(*(by_definition(link, parent) for parent in parents))
    assert set(KnownParents(parents).rules(link)) == expected


def rank(strategy, path, **texts):
    return strategy.rank(PAGE, [Link(HOST + path, **texts)])[0]


def learn_parent(strategy, path):
    strategy.learn(Outcome(f"{HOST}/x.rdf", Kind.RDF, True, parent=HOST + path))


@pytest.mark.parametrize("strategy_class", [Rules, RulesParents])
def test_in_the_thesis_n_is_never_crawled(strategy_class):
    """With the departures off, N links and plain text are dropped; on, unknown ones wait last."""
    thesis, departing = strategy_class(THESIS), strategy_class()
    assert rank(thesis, "/a.xml").group is rank(thesis, "/a.txt").group is None
    assert rank(thesis, "/a.txt", anchor="RDF").group is None  # link filter 1 comes first
    assert rank(departing, "/a.txt", anchor="RDF").label is Label.R
    last = rank(departing, "/a.xml")
    assert (last.label, rank(departing, "/a.png").group) == (Label.N, None)
    groups = [rank(departing, p).group for p in ("/a.rdf", "/a/b")]
    values = departing.values()
    assert all(values[last.group] < values[group] for group in groups)


def test_labels_have_the_priorities_of_t4():
    """R before HR before H."""
    strategy = RulesParents(THESIS)
    learn_parent(strategy, "/m/1")
    ranked = [rank(strategy, path) for path in ("/m/2.rdf", "/m/2", "/n")]
    assert [r.label for r in ranked] == [Label.R, Label.HR, Label.H]
    assert ranked[1].rules == ("r1",)
    values = strategy.values()
    assert [values[r.group] for r in ranked] == [-1, -2, -3]


def test_in_the_thesis_there_is_one_group_for_each_label():
    strategy = RulesParents(THESIS)
    assert {rank(strategy, path).group for path in ("/a/b/1", "/m/1", "/x")} == {"H"}


def test_rules_alone_has_links_that_a_rule_speaks_for_first():
    strategy = Rules(THESIS)
    rdf, page = rank(strategy, "/x.rdf"), rank(strategy, "/x")
    values = strategy.values()
    assert values[rdf.group] > values[page.group]


def test_only_rdf_documents_teach_their_parents():
    """Pages, failures and seeds add nothing to the known parents."""
    strategy = RulesParents(THESIS)
    strategy.learn(Outcome(f"{HOST}/p", Kind.HTML, False, parent=f"{HOST}/m/1"))
    strategy.learn(Outcome(f"{HOST}/p", None, False, parent=f"{HOST}/m/1"))
    strategy.learn(Outcome(f"{HOST}/p.rdf", Kind.RDF, True, parent=None))
    assert rank(strategy, "/m/2").label is Label.H


def test_other_targets_teach_their_parents_too():
    """A crawl for tables learns which pages have tables."""
    strategy = RulesParents(RuleOptions(target_extensions=frozenset({"csv"})))
    waiting = rank(strategy, "/m/2")
    table = Outcome(f"{HOST}/m/1.csv", Kind.OTHER, True, parent=f"{HOST}/m/1")
    assert strategy.worth_telling(table)
    strategy.learn(table)
    assert rank(strategy, "/m/3").label is Label.HR
    assert strategy.values()[waiting.group] == -2


def test_waiting_links_of_a_learned_shape_rise():
    """A group of H links gets the value of HR when a parent of its shape is learned."""
    strategy = RulesParents()
    waiting, other = rank(strategy, "/m/2"), rank(strategy, "/n/2")
    strategy.values()
    learn_parent(strategy, "/m/1")
    assert strategy.values() == {waiting.group: -2}
    assert rank(strategy, "/n/3").group == other.group
    learn_parent(strategy, "/m/9")
    assert strategy.values() == {}


def test_shapes_are_folders_of_any_depth_below_the_root():
    """Where r1 can never hold, nothing rises: pages directly below the root have no shape."""
    strategy = RulesParents()
    waiting = [rank(strategy, path) for path in ("/a/b/2", "/a/c/2", "/b", "/")]
    assert waiting[2].group == waiting[3].group
    strategy.values()
    learn_parent(strategy, "/a/b/1")
    learn_parent(strategy, "/c")
    assert strategy.values() == {waiting[0].group: -2}


def test_pages_that_rdf_names_leave_a_learned_shape_where_it_is():
    """Such links are H by their extension (T.6), and wait among others that rose."""
    strategy = RulesParents()
    waiting = rank(strategy, "/m/2")
    learn_parent(strategy, "/m/1")
    assert strategy.values()[waiting.group] == -2
    [named] = strategy.rank(Page(f"{HOST}/me.rdf", rdf=True), [Link(f"{HOST}/m/3.html")])
    assert (named.label, named.group) == (Label.H, waiting.group)
    assert strategy.values() == {}


def test_links_that_another_worker_put_in_rise_as_well():
    """The group's value is the crawl's, whoever put links into the group."""
    group = rank(RulesParents(), "/m/2").group
    strategy = RulesParents()
    learn_parent(strategy, "/m/1")
    assert strategy.values() == {group: -2}


def test_rules_alone_learns_nothing():
    """FC-R knows no HR, whatever was found."""
    strategy = Rules(THESIS)
    learn_parent(strategy, "/m/1")
    assert rank(strategy, "/m/2").label is Label.H
