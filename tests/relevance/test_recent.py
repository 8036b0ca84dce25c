"""Judgements that are remembered from a page's reading to its being learned from."""

from __future__ import annotations

import numpy as np

from semcrawl.relevance.learned.judging import Judgement
from semcrawl.relevance.learned.recent import RecentJudgements

URLS = ["http://a.example/1", "http://a.example/2", "http://a.example/3"]


def judgement(count: int = 3) -> Judgement:
    indexes = np.arange(count, dtype=np.float32)
    return Judgement(indexes, indexes, np.zeros(count, bool), indexes, indexes)


def test_links_found_together_are_judged_once_although_others_were_fetched_meanwhile():
    recent, judged = RecentJudgements(), judgement()
    recent.keep(URLS, judged, (10, 0))
    assert recent.pop(URLS, (12, 0)) is judged


def test_of_some_of_the_links_their_own_judgements_come_back():
    recent = RecentJudgements()
    recent.keep(URLS, judgement(), (10, 0))
    found = recent.pop([URLS[2], URLS[0]], (10, 0))
    assert found is not None
    assert found.indexes.tolist() == [2, 0]


def test_what_was_said_long_ago_is_asked_anew():
    recent = RecentJudgements()
    recent.keep(URLS, judgement(), (10, 0))
    assert recent.pop(URLS, (100, 0)) is None


def test_links_that_were_not_judged_together_are_asked_anew():
    recent = RecentJudgements()
    recent.keep(URLS[:2], judgement(2), (10, 0))
    recent.keep(URLS[2:], judgement(1), (10, 0))
    assert recent.pop(URLS, (10, 0)) is None


def test_a_judgement_is_used_once():
    recent = RecentJudgements()
    recent.keep(URLS, judgement(), (10, 0))
    recent.pop(URLS, (10, 0))
    assert recent.pop(URLS, (10, 0)) is None


def test_memory_is_bounded():
    recent = RecentJudgements()
    for number in range(20_000):
        recent.keep([f"http://a.example/{number}"], judgement(1), (10, 0))
    assert recent.pop(["http://a.example/0"], (10, 0)) is None
    assert recent.pop(["http://a.example/19999"], (10, 0)) is not None


def test_where_others_learn_the_same_nothing_counts_that_only_one_of_them_said():
    recent, judged = RecentJudgements(), judgement()
    recent.exact = True
    recent.keep(URLS, judged, (10, 40))
    assert recent.pop(URLS, (11, 40)) is None
    recent.keep(URLS, judged, (10, 40))
    assert recent.pop(URLS, (10, 47)) is None
    recent.keep(URLS, judged, (10, 40))
    assert recent.pop(URLS, (10, 40)) is judged
