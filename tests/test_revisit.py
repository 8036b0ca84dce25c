"""Re-visits: what changes often and is rich comes more often, at the same total load."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.config.revisit import (
    MAX_WEIGHT,
    RevisitOptions,
    RevisitPolicy,
    Visited,
    change_rate,
    conditional_headers,
    due,
    weights,
)
from semcrawl.errors import UsageError
from semcrawl.settings.reader import fill

DAY = 86400.0
HISTORIES = st.builds(
    Visited,
    url=st.text("abc", min_size=1, max_size=5),
    visits=st.integers(1, 50),
    changes=st.integers(0, 60),
    first_seen_at=st.floats(0, 10 * DAY),
    last_seen_at=st.floats(0, 100 * DAY),
    richness=st.integers(0, 10**9),
)


def seen(url: str, visits: int, changes: int, richness: int = 10) -> Visited:
    return Visited(
        url, visits=visits, changes=changes, last_seen_at=(visits - 1) * DAY, richness=richness
    )


@pytest.mark.parametrize("per_day", [0.05, 0.3, 1.0])
def test_the_change_rate_of_a_poisson_process_is_found(per_day):
    """Where the plain quotient of changes and looks would be too small."""
    draw = random.Random(7)
    looks = 20_000
    changes = sum(draw.random() < 1 - math.exp(-per_day) for _ in range(looks))
    rate = change_rate(seen("x", looks + 1, changes))
    assert rate is not None
    assert rate * DAY == pytest.approx(per_day, rel=0.12)


@pytest.mark.parametrize(("changes", "seen"), [(0, 0), (5, 5), (10, 10), (30, 10)])
def test_the_change_rate_is_that_of_cho_and_garcia_molina(changes, seen):
    """Per second between the first visit and the last; finite when every look saw a change."""
    document = Visited(
        "x", visits=11, changes=changes, first_seen_at=3 * DAY, last_seen_at=23 * DAY
    )
    rate = change_rate(document)
    assert rate is not None
    assert rate * 2 * DAY == pytest.approx(-math.log((10 - seen + 0.5) / 10.5))


def test_without_a_revisit_nothing_is_known():
    assert change_rate(Visited("x")) is None
    assert change_rate(Visited("x", last_seen_at=DAY)) is None
    assert change_rate(Visited("x", visits=2, first_seen_at=DAY, last_seen_at=DAY)) is None
    assert change_rate(Visited("x", visits=2, last_seen_at=0.5)) is not None


def test_what_was_never_revisited_changes_as_the_others_do_on_average():
    often, seldom, new = seen("often", 10, 6), seen("seldom", 10, 2), seen("new", 1, 0)
    shares = weights([often, seldom, new], RevisitPolicy.PROPORTIONAL)
    assert shares[2] == pytest.approx(1)
    assert shares[0] / shares[1] == pytest.approx(math.log(3.5 / 9.5) / math.log(7.5 / 9.5))


@pytest.mark.parametrize(("visits", "changes"), [(5, 2), (5, 0), (1, 0)])
def test_richness_counts_by_its_logarithm(visits, changes):
    """Whether or not anything is known of how often documents change."""
    poor, rich = seen("poor", visits, changes, 0), seen("rich", visits, changes, 1000)
    shares = weights([poor, rich], RevisitPolicy.PROPORTIONAL)
    assert shares[1] / shares[0] == pytest.approx(1 + math.log(1001))


def test_what_changes_most_is_not_looked_at_all_the_time():
    still = [seen(str(n), 10_000, 0) for n in range(1000)]
    shares = weights([seen("busy", 10_000, 9_999), *still], RevisitPolicy.PROPORTIONAL)
    assert shares[0] / shares[1] == pytest.approx(MAX_WEIGHT**2)


def test_the_interval_is_the_time_between_two_visits():
    document, options = Visited("x", last_seen_at=DAY), RevisitOptions(RevisitPolicy.UNIFORM, DAY)
    assert due([document], options, 2 * DAY - 1) == []
    [found] = due([document], options, 2 * DAY)
    assert found.priority == DAY
    [early] = due([document], RevisitOptions(RevisitPolicy.UNIFORM, 0), 0.0)
    assert early.priority == 0


@given(st.lists(HISTORIES, min_size=1, max_size=20), st.sampled_from(RevisitPolicy))
def test_both_policies_cost_the_same(documents, policy):
    shares = weights(documents, policy)
    assert sum(shares) / len(shares) == pytest.approx(1)
    assert max(shares) <= min(shares) * MAX_WEIGHT**2 * 1.001


def test_uniform_goes_by_age_alone():
    often, never = seen("often", 10, 9), seen("never", 10, 0)
    options = RevisitOptions(RevisitPolicy.UNIFORM)
    older = Visited("older", last_seen_at=DAY)
    assert [r.url for r in due([often, never, older], options, 20 * DAY)] == [
        "older",
        "never",
        "often",
    ]


def test_proportional_looks_more_often_at_what_changes():
    often, never = seen("often", 10, 9), seen("never", 10, 0)
    options = RevisitOptions(RevisitPolicy.PROPORTIONAL, interval=2 * DAY)
    now = 11 * DAY
    assert [r.url for r in due([never, often], options, now)] == ["often"]
    later = due([never, often], options, now + 40 * DAY)
    assert [r.url for r in later] == ["often", "never"]


def test_richer_documents_come_first_among_equals():
    poor, rich = seen("poor", 5, 2, 1), seen("rich", 5, 2, 100_000)
    for policy in RevisitPolicy:
        found = due([poor, rich], RevisitOptions(policy), 10 * DAY)
        assert [r.url for r in found] == ["rich", "poor"]


@given(st.lists(HISTORIES, max_size=20))
def test_with_no_interval_everything_is_due_once(documents):
    found = due(documents, RevisitOptions(), 200 * DAY)
    assert sorted(r.url for r in found) == sorted(d.url for d in documents)


def test_validators_are_sent_back():
    document = Visited("x", etag='W/"1"', last_modified="Thu, 01 Jan 2026 00:00:00 GMT")
    assert conditional_headers(document) == {
        "If-None-Match": 'W/"1"',
        "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT",
    }
    assert conditional_headers(Visited("x", etag='"a\r\nX: y"')) == {}
    assert conditional_headers(Visited("x", etag='"é"')) == {}


def test_wrong_options_are_one_clear_line():
    with pytest.raises(UsageError, match="uniform, proportional, not 'often'"):
        fill(RevisitOptions, {"SEMCRAWL_REVISIT_POLICY": "often"})
    with pytest.raises(UsageError, match="0 or more"):
        fill(RevisitOptions, {"SEMCRAWL_REVISIT_INTERVAL": -1})


def test_what_was_missing_is_asked_for_whole_and_as_seldom_as_anything():
    there = Visited("there", etag='"1"')
    missing = Visited("missing", etag='"1"', missing=True)
    first, last = due([missing, there], RevisitOptions(), DAY)
    assert (first.url, first.headers) == ("there", {"If-None-Match": '"1"'})
    assert (last.url, last.headers) == ("missing", {})
    options = RevisitOptions(RevisitPolicy.UNIFORM, DAY)
    assert [one.url for one in due([missing, there], options, 2 * DAY)] == ["there"]
    assert len(due([missing, there], options, (MAX_WEIGHT + 1) * DAY)) == 2
