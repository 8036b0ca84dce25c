import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.metrics import (
    LabelFigures,
    RuleFigures,
    RuleTable,
    Truth,
    auc,
    auc_relative,
    compare,
    depth_histogram,
    harvest_rate,
    label_figures,
    padded,
    requests_to,
    rule_table,
    spread,
)
from semcrawl.lab.simulator import simulate
from semcrawl.relevance import Label, load_strategy
from tests.evaluation.worlds import members

THESIS = {"SEMCRAWL_PROMOTE_WAITING": False, "SEMCRAWL_KEEP_UNLIKELY": False}


def test_a_short_curve_goes_on_with_its_last_value():
    assert padded([0, 1], 4) == [0, 1, 1, 1]
    assert padded([0, 1, 2], 2) == [0, 1]
    assert padded([], 2) == [0, 0]
    assert auc([0, 1], 4) == 3


def test_areas_are_relative_to_the_bound():
    assert auc_relative([0, 1, 2], [1, 2, 3], 3) == 0.5
    assert auc_relative([0], [0], 1) == 0


def test_requests_until_a_share_is_had():
    assert requests_to([0, 1, 1, 3], 2) == 4
    assert requests_to([0, 1, 2, 3], 2) == 3
    assert requests_to([0, 1], 2) is None


def test_a_harvest_rate_stays_when_the_crawl_has_run_dry():
    assert harvest_rate([1, 1, 2, 2], 2) == 0.5
    assert harvest_rate([1, 1], 100) == 0.5
    assert harvest_rate([1], 1) == 1
    assert harvest_rate([], 10) == 0


@pytest.fixture(scope="module")
def crawled():
    graph = LinkGraph(members())
    run = simulate(graph, load_strategy("rules-parents", THESIS), ambiguous_types=())
    return run, Truth(graph)


def test_labels_are_judged_by_what_the_world_serves(crawled):
    run, truth = crawled
    figures = label_figures(run, truth)
    assert (figures[Label.R].predicted, figures[Label.R].right) == (9, 9)
    # the two .xml files were dropped as N; one of them is RDF
    assert (figures[Label.N].predicted, figures[Label.N].fetched, figures[Label.N].right) == (
        2,
        2,
        1,
    )
    assert figures[Label.N].precision == 0.5


def test_only_what_was_fetched_counts_for_the_precision_of_a_label():
    graph = LinkGraph(members())
    run = simulate(graph, load_strategy("rules-parents", THESIS), pages=6, ambiguous_types=())
    figures = label_figures(run, Truth(graph))
    assert figures.keys() == {judged[0] for judged in run.judged.values()}
    for label in figures.keys() - {Label.N}:
        had = [fetch for fetch in run.fetches if fetch.label is label and fetch.parent]
        assert figures[label].fetched == sum(fetch.status == 200 for fetch in had)
    assert any(one.predicted > one.fetched for one in figures.values())


def test_where_nothing_was_fetched_no_share_is_told():
    assert LabelFigures(predicted=2, fetched=0, right=0).precision is None
    [figures] = RuleTable({"ex1": (Label.R, 2, 0)}).figures().values()
    assert (figures.confidence, figures.support) == (0, None)
    assert RuleFigures(Label.R, 0, 0, 1).confidence is None


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/members/0.rdf", Label.R),
        ("/hidden.xml", Label.R),
        ("/members/0", Label.HR),
        ("/members/11", Label.H),
        ("/everybody", Label.H),
        ("/data.xml", Label.N),
        ("/gone", None),
        ("/away", None),
    ],
)
def test_the_right_label_is_what_a_link_leads_to(crawled, path, label):
    """A redirect counts as what it leads to; what nobody serves has no label."""
    _, truth = crawled
    assert truth.label(f"http://members.example{path}") is label


def test_rules_are_judged_by_documents_that_were_served(crawled):
    """The dead link and the redirects were fetched for rules, too."""
    run, truth = crawled
    table = rule_table(run, truth)
    served = [fetch for fetch in run.fetches if fetch.status == 200]
    assert len(served) < run.requests
    for rule, (_, selected, _) in table.counts.items():
        assert selected == sum(rule in fetch.rules for fetch in served)
    right = sum(truth.label(fetch.url) is fetch.label for fetch in served)
    assert sum(table.documents.values()) == right


def test_rules_have_confidence_and_support(crawled):
    run, truth = crawled
    figures = rule_table(run, truth).figures()
    assert figures["ex1"].confidence == figures["ex1"].support == 1
    assert figures["ty1"].right == 9


def test_rule_tables_add_up():
    one = RuleTable({"ex1": (Label.R, 4, 2)}, {Label.R: 2})
    two = RuleTable({"an1": (Label.H, 1, 1), "ex1": (Label.R, 6, 3)}, {Label.R: 6, Label.H: 1})
    figures = (one + two).figures()
    assert figures["ex1"] == RuleFigures(Label.R, selected=10, right=5, documents=8)
    assert figures["ex1"].support == 0.625
    assert figures["ex1"].confidence == 0.5
    assert figures["an1"] == RuleFigures(Label.H, selected=1, right=1, documents=1)


def test_depths_count_every_request(crawled):
    run, _ = crawled
    table = depth_histogram(run)
    assert sum(every for every, _ in table.values()) == run.requests
    assert sum(targets for _, targets in table.values()) == run.found
    assert table[0] == (1, 0)


def test_spread_of_one_value_is_nothing():
    assert spread([2.0]).deviation == 0
    assert spread([1.0, 3.0]).mean == 2
    with pytest.raises(ValueError, match="no values"):
        spread([])


def test_a_clear_difference_is_told_from_chance():
    clear = compare("a", "b", [(0.9, 0.5)] * 8)
    assert clear.difference == pytest.approx(0.4)
    assert clear.p_value < 0.05
    assert clear.low > 0
    assert (clear.wins, clear.ties, clear.losses) == (8, 0, 0)
    alike = compare("a", "b", [(0.5, 0.6), (0.6, 0.5), (0.4, 0.4)])
    assert alike.p_value == 1


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_a_comparison_turned_round_says_the_opposite(pairs):
    one, two = compare("a", "b", pairs), compare("b", "a", [(b, a) for a, b in pairs])
    assert one.difference == pytest.approx(-two.difference)
    assert (one.wins, one.losses) == (two.losses, two.wins)
    assert 0 <= one.p_value <= 1
    assert one.low <= one.difference + 1e-9
    assert one.high >= one.difference - 1e-9
