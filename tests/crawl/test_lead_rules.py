"""Which other requests an answer suggests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semcrawl.config.options import LeadOptions
from semcrawl.crawl.leadrules import LeadRules, shows_rdf
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link
from semcrawl.relevance import Label
from semcrawl.sources.listing import LAST, MANY_TARGETS, SOON
from semcrawl.sources.negotiation import Wish, as_rdf

D = "http://d.example"
LINKED = LinkState(D, 1)


@pytest.mark.parametrize(
    ("url", "says_vary", "itself", "wanted"),
    [
        (f"{D}/a", True, False, True),
        (f"{D}/a.html", True, False, True),
        (f"{D}/a", False, True, True),
        (f"{D}/a.html", False, True, False),
        (f"{D}/a?x=1", False, True, False),
        (f"{D}/a", False, False, False),
        (as_rdf(f"{D}/a"), True, True, False),
    ],
)
def test_pages_are_likely_to_have_an_rdf_form_by_their_signs(
    url: str, says_vary: bool, itself: bool, wanted: bool
) -> None:
    for rules in (LeadRules(LeadOptions()), LeadRules(LeadOptions(tries=0))):
        form = rules.form_of_page(
            url, LINKED, varies=says_vary, rdf=False, links=[], names_itself=lambda at: itself
        )
        asks = rules.options.asks_as_rdf
        assert (form is not None and form.is_likely) == (wanted and asks)


def test_a_redirect_by_type_is_asked_for_rdf_at_its_own_address() -> None:
    rules = LeadRules(LeadOptions())
    state, form = rules.after_redirect(f"{D}/a", LINKED, varies=True, rdf=False)
    assert (state, form and form.url) == (LINKED, f"{D}/a")
    state, form = rules.after_redirect(f"{D}/a", LINKED, varies=True, rdf=True)
    assert (state.varied, form) == (1, None)
    moved = replace(state, redirects=(f"{D}/a",))
    form = rules.after_dead_end(f"{D}/a.html", moved)
    assert form is not None
    assert (form.url, form.wish) == (f"{D}/a", Wish.TURTLE)
    assert rules.after_dead_end(f"{D}/a.html", moved, f"{D}/a.ttl") is None


def test_what_gave_nothing_is_asked_for_turtle_then_for_a_page() -> None:
    rules, state = LeadRules(LeadOptions()), replace(LINKED, label=Label.R)
    wishes = []
    while (again := rules.again(f"{D}/a", state, rdf=True)) is not None:
        wishes.append((again.wish, again.counts))
        state = again.state
    assert wishes == [(Wish.TURTLE, True), (Wish.PAGE, False)]


def test_places_come_last_and_after_many_targets_soon() -> None:
    rules = LeadRules(LeadOptions())
    found = [rules.after_target(f"{D}/{n}") for n in range(MANY_TARGETS)]
    first, last = found[0], found[-1]
    assert first is not None
    assert last is not None
    assert [url for url, _ in first.links] == [f"{D}/.well-known/void"]
    assert (first.value, last.value, last.links) == (LAST, SOON, ())
    assert not any(found[1:-1])


def test_a_page_shows_rdf_if_that_is_new_and_not_the_page() -> None:
    link = Link(f"{D}/a.ttl")
    assert shows_rdf(f"{D}/a", [link], lambda url: False)
    assert not shows_rdf(f"{D}/a", [link], lambda url: True)
    assert not shows_rdf(f"{D}/a.ttl", [link], lambda url: False)
