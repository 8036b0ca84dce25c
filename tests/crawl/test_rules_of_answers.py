"""What an answer calls for, and which links of lists enter the frontier."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import pytest

from semcrawl.config.options import SitemapRules
from semcrawl.config.scope import Scope, UrlPatterns
from semcrawl.crawl.courses import Course, RetryRules, course_of
from semcrawl.crawl.lists import ListRules, Portion, first_turn
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.frontier.links import GUESS, SITEMAP, LinkState
from semcrawl.sources import NAMED_AFTER
from semcrawl.web.robots import RobotsTags

T = TypeVar("T")
D = "http://d.example"
LINKED, GUESSED = LinkState(D, 1), LinkState(D, 1, rules=(GUESS,))
GUESSED_SITEMAP = LinkState(D, 1, rules=(SITEMAP, GUESS))


@pytest.mark.parametrize(
    ("state", "status", "location", "course"),
    [
        (LINKED, 200, "", Course.BODY),
        (LINKED, 206, "", Course.BODY),
        (LINKED, 301, "/x", Course.MOVED),
        (LINKED, 301, "", Course.FAILED),
        (LINKED, 300, "", Course.FAILED),
        (LINKED, 304, "", Course.UNCHANGED),
        (LINKED, 404, "/x", Course.FAILED),
        (GUESSED, 404, "", Course.GUESSED_WRONG),
        (GUESSED, 301, "/x", Course.MOVED),
        (GUESSED_SITEMAP, 301, "/", Course.NO_SITEMAP),
        (GUESSED_SITEMAP, 301, "/en/Sitemap.xml", Course.MOVED),
    ],
)
def test_the_status_and_the_link_say_what_an_answer_calls_for(
    state: LinkState, status: int, location: str, course: Course
) -> None:
    assert course_of(state, status, location) is course


def test_a_page_of_choices_is_read_and_the_end_of_a_document_is_not() -> None:
    assert course_of(LINKED, 300, "", choices=True) is Course.BODY
    assert course_of(LINKED, 206, "", part=True) is Course.FAILED


def test_retries_wait_twice_as_long_each_time_and_never_longer_than_is_obeyed() -> None:
    rules, state, delays = RetryRules(times=8, longest_wait=60), LINKED, []
    while (back := rules.again(state)) is not None:
        state = back.state
        delays.append(back.delay)
    assert delays == [2, 4, 8, 16, 32, 60, 60, 60]
    assert rules.after_status(LINKED, 503, 61) is None
    assert rules.rest_after(LINKED, 429, 30) == 30
    assert rules.rest_after(LINKED, 503, 30) == 0


def list_rules(use: str = "auto") -> ListRules:
    scope = Scope.parse("d.example")
    scope.roots |= Scope.roots_of(D)
    return ListRules(SitemapRules(use), LinkPolicy(scope, UrlPatterns.parse((), ()), RobotsTags()))


def portions(steps: Generator[Portion, int, T], new: int) -> tuple[list[Portion], T]:
    """Return all portions, each of which has so many new links, and the conclusion."""
    asked = []
    try:
        asked.append(next(steps))
        while True:
            asked.append(steps.send(new))
    except StopIteration as end:
        concluded: T = end.value
        return asked, concluded


def test_a_turn_takes_some_links_of_each_shelf_and_the_next_one_twice_as_many() -> None:
    rules, lengths = list_rules(), [100, 5]
    asked, turn = portions(rules.take_turn(first_turn("x"), lengths), new=1)
    assert [(each.place.shelf, each.place.number, each.end) for each in asked] == [
        (0, 0, 4),
        (1, 0, 4),
    ]
    asked, turn = portions(rules.take_turn(turn, lengths), new=1)
    assert [(each.place.number, each.end) for each in asked] == [(4, 12), (4, 12)]
    asked, turn = portions(rules.take_turn(turn, lengths), new=0)
    assert turn == ""
    assert asked[-1].end >= 100


def test_a_link_that_pays_brings_more_of_its_shape_once() -> None:
    rules = list_rules()
    asked, _ = portions(rules.go_on("x.0.4", [100]), new=3)
    assert [(each.place.number, each.end) for each in asked] == [(4, 36)]
    assert portions(rules.go_on("x.0.4", [100]), new=3)[0] == []


def test_a_host_is_asked_for_its_sitemaps_once_and_they_come_soon_after_some_answers() -> None:
    rules = list_rules()
    assert rules.seeks(f"{D}/a") == D
    assert rules.seeks(f"{D}/b") == ""
    named = rules.found(D, ["/one.xml", "http://e.example/two.xml"])
    assert [url for url, _ in named] == [f"{D}/one.xml"]
    due = []
    for number in range(NAMED_AFTER + 1):
        rules.note_answer(f"{D}/{number}")
        due.append(rules.due(f"{D}/{number}"))
    assert due == [""] * (NAMED_AFTER - 1) + ["sitemaps d.example", ""]
    assert list_rules("never").seeks(f"{D}/a") == ""
    [(url, state)] = list_rules().found(D, [])
    assert (url, state.is_guess) == (f"{D}/sitemap.xml", True)
