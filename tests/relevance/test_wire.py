"""Outcomes on the wire."""

import math

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.crawl.learning import decode_event, encode_event
from semcrawl.links import Link, Page
from semcrawl.relevance import load_strategy, strategies
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.web.vocabulary import FoundBy, Kind

#: half a pair of surrogates among the signs, as pages of odd encodings have it
TEXT = st.text(st.characters() | st.just("\ud83d"), max_size=40)
LINKS = st.builds(
    Link,
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    st.integers(0, 9999),
    TEXT,
    found_by=st.sampled_from(FoundBy),
)
RULES = st.lists(TEXT, max_size=3).map(tuple)
NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5).map(tuple)
RANKED = st.builds(
    Ranked, LINKS, st.sampled_from(Label), st.none() | TEXT, st.floats(allow_nan=False), RULES,
    NUMBERS,
)  # fmt: skip
SHARES = st.none() | st.floats(0, 1)
OUTCOMES = st.builds(
    Outcome, TEXT, st.none() | st.sampled_from(Kind), st.booleans(), TEXT, st.none() | TEXT,
    st.integers(0, 99), st.none() | st.integers(100, 599), st.sampled_from(Label), RULES, TEXT,
    st.booleans(), st.lists(RANKED, max_size=5).map(tuple), relevance=SHARES, gain=SHARES,
)  # fmt: skip


@pytest.mark.slow
@given(OUTCOMES)
def test_an_outcome_comes_back_as_it_was(outcome):
    assert decode_event(encode_event(outcome)) == outcome


@pytest.mark.parametrize("name", sorted(strategies()))
def test_what_a_strategy_says_of_links_comes_back_as_it_was(name):
    page = Page("http://a.example/", 1)
    links = [Link("http://a.example/data.ttl", anchor="RDF"), Link("http://a.example/b/", "area")]
    ranked = tuple(load_strategy(name, {}).rank(page, links))
    outcome = Outcome(page.url, Kind.HTML, False, page.url, new_links=ranked)
    assert decode_event(encode_event(outcome)) == outcome


@given(st.binary(max_size=60))
def test_foreign_bytes_are_refused_with_one_line(event):
    with pytest.raises(ValueError, match=r"^not an outcome: [^\n]*"):
        decode_event(event)


@given(OUTCOMES, st.integers(0, 10))
def test_an_event_cut_short_is_refused(outcome, cut):
    event = encode_event(outcome)
    with pytest.raises(ValueError, match="not an outcome"):
        decode_event(event[: max(0, len(event) - 1 - cut)])


def test_an_event_of_the_version_without_topics_is_read():
    outcome = Outcome("http://a.example/", Kind.RDF, True, "http://a.example/")
    fields = msgpack.unpackb(encode_event(outcome)[1:])
    older = b"p" + msgpack.packb([2, *fields[1:-2]])
    assert decode_event(older) == outcome


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, "1", True])
def test_a_relevance_that_is_no_share_is_refused(share):
    event = encode_event(Outcome("http://a.example/", Kind.RDF, True, relevance=share))
    with pytest.raises(ValueError, match="not an outcome"):
        decode_event(event)


@pytest.mark.parametrize("judged", [(math.nan,), (0.5, math.inf), ("0.5",), 0.5])
def test_a_judgement_that_is_no_numbers_is_refused(judged):
    link = Ranked(Link("http://a.example/"), Label.H, "a", judged=judged)
    with pytest.raises(ValueError, match="not an outcome"):
        decode_event(
            encode_event(Outcome("http://a.example/", Kind.HTML, False, new_links=(link,)))
        )


def test_many_links_with_common_parts_stay_small():
    page = "http://a.example/some/folder"
    new = tuple(
        Ranked(Link(f"{page}/{i}", "a", f"Item {i}", tag_path="body/ul/li/a"), Label.H, "a", -0.1)
        for i in range(100)
    )  # fmt: skip
    assert len(encode_event(Outcome(page, Kind.HTML, False, new_links=new))) < 5000
