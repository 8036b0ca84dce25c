"""How much of a target a document is."""

from hypothesis import given
from hypothesis import strategies as st

from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.focus import Counting, grade
from semcrawl.web.vocabulary import Kind

SHARES = st.floats(0, 1)
THRESHOLDS = st.floats(0.01, 1)


def test_without_a_topic_the_kind_decides():
    assert grade(True, None, 0.5) == (True, 1.0)
    assert grade(False, None, 0.5) == (False, 0.0)


@given(SHARES, THRESHOLDS)
def test_what_is_of_another_kind_is_no_target_however_relevant(relevance, threshold):
    assert grade(False, relevance, threshold) == (False, 0.0)


@given(SHARES, SHARES, THRESHOLDS)
def test_the_more_relevant_document_is_worth_more(one, other, threshold):
    low, high = sorted((one, other))
    lower, higher = grade(True, low, threshold), grade(True, high, threshold)
    assert lower.gain <= higher.gain
    assert lower.target <= higher.target


@given(SHARES, THRESHOLDS)
def test_a_target_is_worth_more_than_any_near_miss(relevance, threshold):
    target, gain = grade(True, relevance, threshold)
    assert target == (relevance >= threshold)
    assert 0 <= gain <= 1
    assert target == (gain >= 0.75)


@given(SHARES, SHARES, THRESHOLDS)
def test_where_a_topic_says_what_is_won_the_relevance_decides_what_is_kept(
    relevance, worth, threshold
):
    assert grade(True, relevance, threshold, worth) == (relevance >= threshold, worth)
    assert grade(False, relevance, threshold, worth) == (False, 0.0)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_with_more_statements_a_document_is_worth_no_less(one, other):
    fewer, more = sorted((one, other))
    for counting in Counting:
        assert 0 <= counting.worth(fewer) <= counting.worth(more) <= 1


def test_an_empty_document_is_worth_less_if_not_only_documents_count():
    worths = {each: [each.worth(n) for n in (0, 1, 10_000)] for each in Counting}
    assert worths[Counting.DOCUMENTS] == [1, 1, 1]
    assert worths[Counting.BOTH] == [0.1, 1, 1]
    nothing, one, full = worths[Counting.STATEMENTS]
    assert (nothing, full) == (0, 1)
    assert 0 < one < 0.1


@given(st.sampled_from(Counting))
def test_of_a_document_whose_contexts_are_missing_nothing_is_known(counting):
    assert counting.worth(0, unread=True) == 1


def test_a_copy_brings_nothing_new():
    copy = Outcome("http://a.example/", Kind.RDF, True, duplicate=True, gain=1.0)
    assert copy.worth == 0
    assert Outcome("http://a.example/", Kind.RDF, True).worth == 1
    assert Outcome("http://a.example/", Kind.RDF, False, gain=0.2).worth == 0.2
