"""Which pages are asked for again as RDF."""

from __future__ import annotations

import pytest

from semcrawl.rdf import read_embedded
from semcrawl.sources.negotiation import (
    NegotiationBook,
    address_of,
    as_rdf,
    is_as_rdf,
    names_itself,
)
from semcrawl.sources.negotiation import varies_by_type as varies
from semcrawl.web.urls import normalise

D = "http://d.example"


def test_the_two_forms_of_an_address_have_two_names() -> None:
    """No normalised address is the name of another form, and both are asked for at one address."""
    name = as_rdf(f"{D}/a")
    assert is_as_rdf(name)
    assert address_of(name) == address_of(f"{D}/a") == f"{D}/a"
    assert normalise(name) == f"{D}/a"


def test_a_shape_that_gives_nothing_costs_the_tries_only() -> None:
    book = NegotiationBook(2)
    assert [book.ask(f"{D}/p/{n}") for n in range(5)] == [True, True, False, False, False]


def test_pages_that_waited_are_all_asked_for_where_their_shape_gives_rdf() -> None:
    book = NegotiationBook(2)
    urls = [f"{D}/p/{number}" for number in range(50)]
    asked = [url for url in urls if book.ask(url)]
    assert asked == urls[:2]
    for url in asked:  # (grows)
        asked += book.note_found(as_rdf(url))
    assert asked == urls


def test_a_shape_that_gives_seldom_is_given_up() -> None:
    """At most about half of the requests of a shape are for nothing."""
    book = NegotiationBook(2)
    assert book.ask(f"{D}/p/0")
    book.note_found(as_rdf(f"{D}/p/0"))
    assert sum(book.ask(f"{D}/p/{n}") for n in range(1, 100)) == 3


def test_a_host_with_many_shapes_and_no_rdf_is_left_alone() -> None:
    book = NegotiationBook(2)
    assert sum(book.ask(f"{D}/{n}x/page") for n in "abcdefghijkl") == 6


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
def test_pages_are_candidates_by_their_signs(
    url: str, says_vary: bool, itself: bool, wanted: bool
) -> None:
    assert NegotiationBook(2).is_candidate(url, varies=says_vary, names_itself=itself) is wanted


def test_a_host_that_gave_rdf_so_makes_its_other_pages_candidates() -> None:
    book = NegotiationBook(2)
    book.note_found(as_rdf(f"{D}/p/1"))
    assert book.is_candidate(f"{D}/q/1", varies=False, names_itself=False)


def test_no_tries_are_no_candidates() -> None:
    assert not NegotiationBook(0).is_candidate(f"{D}/a", varies=True, names_itself=True)


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [(["Accept"], True), (["Cookie, ACCEPT "], True), (["Accept-Encoding"], False), ([], False)],
)
def test_vary_names_accept_or_does_not(headers: list[str], wanted: bool) -> None:
    assert varies(headers) is wanted


@pytest.mark.parametrize(
    ("subject", "wanted"), [("", True), ("#it", True), (f"{D}/other", False), ("_:x", False)]
)
def test_a_page_names_itself_by_typed_data_about_its_address(subject: str, wanted: bool) -> None:
    body = f'<div vocab="http://schema.org/" typeof="Person" resource="{subject}">x</div>'
    reading = read_embedded(body.encode(), f"{D}/ann", "text/html")
    assert names_itself(reading.nquads, f"{D}/ann") is wanted
