"""Which pages are asked for again as RDF."""

from __future__ import annotations

import pytest

from semcrawl.links import Link
from semcrawl.rdf import read_embedded
from semcrawl.sources.negotiation import (
    NegotiationBook,
    Wish,
    address_of,
    as_rdf,
    first_wish,
    is_as_rdf,
    names_itself,
    next_wish,
    other_form,
    own_type,
    prefers_rdf,
    wish_of,
)
from semcrawl.sources.negotiation import varies_by_type as varies
from semcrawl.web.urls import normalise
from semcrawl.web.vocabulary import RDF_FIRST, RdfFormat
from sources.rules import RULES

D = "http://d.example"
SYNTAXES = {"turtle", "rdfxml", "jsonld", "ntriples", "trig"}


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


def test_a_host_that_gave_rdf_is_known_for_it() -> None:
    book = NegotiationBook(2)
    assert not book.gives_forms(f"{D}/q/1")
    book.note_found(as_rdf(f"{D}/p/1"))
    assert book.gives_forms(f"{D}/q/1")


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


def test_where_rdf_is_wanted_no_type_of_pages_is_named() -> None:
    """Servers with patterns give a page to whoever names its type, whatever the weights."""
    for wish in (Wish.RDF, Wish.ONLY_RDF, Wish.TURTLE):
        assert "html" not in wish.header
        assert prefers_rdf(wish.header)
    assert not prefers_rdf(Wish.PAGE.header)
    assert "*" not in Wish.ONLY_RDF.header + Wish.TURTLE.header


def test_all_syntaxes_that_are_asked_for_are_in_the_header_of_requests_for_rdf() -> None:
    named = {part.split(";")[0].strip() for part in RDF_FIRST.split(",")}
    assert named - {"*/*"} == {each.media_types[0] for each in RdfFormat if each.weight}


@pytest.mark.parametrize("shape", RULES)
def test_rules_of_servers_give_rdf_to_the_first_wishes(shape: str) -> None:
    """The wishes that follow one another get RDF, from most rules with the first."""
    rule, requests = RULES[shape]
    wish, given = first_wish(f"{D}/a", rdf=True), []
    while wish is not None:
        given.append(rule(wish.header))
        first = len(given) == 1
        wish = next_wish(wish, f"{D}/a", rdf=True, first=first)
    assert SYNTAXES & set(given[:requests])
    assert not SYNTAXES & set(given[: requests - 1])


def test_after_the_last_wish_nothing_is_asked_for() -> None:
    """RDF: Turtle alone, then a page. A page, or the RDF form of one: Turtle alone."""

    def wishes(url: str, *, rdf: bool) -> list[str]:
        found: list[str] = []
        wish: Wish | None = first_wish(url, rdf=rdf)
        while wish is not None:
            found.append(str(wish))
            wish = next_wish(wish, url, rdf=rdf, first=len(found) == 1)
        return found

    assert wishes(f"{D}/a", rdf=True) == ["rdf", "turtle", "page"]
    assert wishes(f"{D}/a", rdf=False) == ["page", "turtle"]
    assert wishes(as_rdf(f"{D}/a"), rdf=True) == ["only-rdf", "turtle"]


def test_a_link_to_a_page_as_rdf_may_name_its_wish() -> None:
    assert wish_of(other_form(f"{D}/a")) == ""
    assert wish_of(other_form(f"{D}/a", Wish.TURTLE)) == "turtle"
    assert Wish.read("turtle") is Wish.TURTLE
    assert Wish.read("cake") is None


def test_a_page_names_the_type_of_its_own_rdf() -> None:
    """Of several types the usual one; other addresses, relations and types name none."""

    def named(type_: str, url: str = f"{D}/a", rel: str = "alternate") -> str:
        return own_type(f"{D}/a", [Link(f"{D}/b", "a"), Link(url, "link", type=type_, rel=rel)])

    assert named("application/rdf+xml; charset=utf-8") == "application/rdf+xml"
    assert named("application/rdf+xml text/turtle") == "text/turtle"
    assert not named("text/turtle", url=f"{D}/a.ttl")
    assert not named("text/turtle", rel="stylesheet")
    assert not named("application/atom+xml")
    assert Wish.read(wish_of(other_form(f"{D}/a", "text/turtle"))) is Wish.NAMED
