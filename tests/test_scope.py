"""Which links a crawl may follow."""

from __future__ import annotations

import pytest

from semcrawl.config.scope import Scope
from semcrawl.errors import UsageError
from semcrawl.links import Link

INSIDE, OUTSIDE = "http://data.a.org/", "http://b.org/x"


def scope_of(text: str) -> Scope:
    scope = Scope.parse(text)
    scope.roots |= scope.roots_of("http://www.a.org/x")
    return scope


def test_a_site_is_what_its_seeds_domain_holds_and_the_rdf_that_it_links_to():
    scope = scope_of("site")
    assert scope.inside(INSIDE)
    assert scope.allows(INSIDE, label_r=False)
    assert scope.allows(OUTSIDE, label_r=True)
    assert not scope.inside(OUTSIDE)
    assert not scope.allows(OUTSIDE, label_r=False)


OWN = "http://data.example/mine/rdf/all.nq"


def says(url: str, **how: str) -> Link:
    return Link(url, **{"element": "link", "rel": "alternate", "type": "text/turtle", **how})


def test_the_pages_of_a_site_by_its_other_name_are_in_scope_and_no_others_there() -> None:
    scope = scope_of("site")
    pages = [Link(f"http://data.example/mine/id/{n}?x=/") for n in range(5)]
    around = [Link("http://data.example/"), Link("http://b.org/mine/1")]
    place = scope.place_of_own_data([*around, *pages, says(OWN)])
    assert place == "data.example/mine/"
    scope.roots.add(place)
    assert scope.inside(pages[0].url)
    assert scope.inside("https://data.example/mine/id/other")
    assert not any(map(scope.inside, ["http://data.example/", "http://data.example/yours/mine/"]))
    assert scope.place_of_own_data([*pages, says(OWN)]) == ""


@pytest.mark.parametrize(
    "links",
    [
        [Link(OWN), Link("http://data.example/mine/1")],
        [says(OWN, rel="stylesheet"), Link("http://data.example/mine/1")],
        [says(OWN, type="text/html"), Link("http://data.example/mine/1")],
        [says(OWN, element="a"), Link("http://data.example/mine/1")],
        [says("http://data.example/all.nq"), Link("http://data.example/1")],
        [says("http://data.a.org/all.ttl"), Link("http://data.a.org/1")],
        [says(OWN)],
        [],
    ],
)
def test_a_link_that_is_no_other_form_of_the_page_brings_no_place_into_scope(
    links: list[Link],
) -> None:
    assert scope_of("site").place_of_own_data(links) == ""


@pytest.mark.parametrize("text", ["any", "a.org"])
def test_a_scope_that_the_user_names_is_not_widened(text: str) -> None:
    assert scope_of(text).place_of_own_data([says(OWN), Link("http://data.example/mine/1")]) == ""


def test_off_the_site_the_redirectors_that_are_named_are_followed():
    assert scope_of("site").allows("https://w3id.org/x", label_r=False)
    assert not scope_of("parent").allows("https://w3id.org/x", label_r=False, page_inside=False)
    named = Scope.parse("site", ["ids.example"])
    assert named.allows("http://ids.example/x", label_r=False)
    assert not named.allows("https://w3id.org/x", label_r=False)


def test_with_parent_a_link_is_followed_when_its_page_or_it_is_on_the_site():
    scope = scope_of("parent")
    assert scope.allows(OUTSIDE, label_r=False, page_inside=True)
    assert scope.allows(INSIDE, label_r=False, page_inside=False)
    assert not scope.allows(OUTSIDE, label_r=True, page_inside=False)


def test_with_any_everything_is_followed():
    scope = scope_of("any")
    assert scope.inside(OUTSIDE)
    assert scope.allows(OUTSIDE, label_r=False, page_inside=False)


@pytest.mark.parametrize(
    ("text", "url", "inside"),
    [
        ("a.org/data/,b.org", "http://a.org/data/x", True),
        ("a.org/data/,b.org", "http://a.org/x", False),
        ("a.org/data/,b.org", "http://www.b.org/", True),
        ("a.org/data/ b.org", "http://b.org", True),
        (" a.org,, b.org ", "http://b.org/", True),
        ("www.b.org", "http://b.org/", True),
        ("https://B.org", "http://b.org/x", True),
        ("b.org", "http://data.b.org/", False),
        ("localhost:8080", "http://localhost:8080/", True),
        ("localhost:8080", "http://localhost/", False),
        ("localhost", "http://localhost:8080/", True),
        ("münchen.example", "http://xn--mnchen-3ya.example/x", True),
        ("https://a.org:443/", "https://a.org/x", True),
        ("a.org:443", "https://a.org/x", True),
        ("a.org/é/%7e", "http://a.org/%C3%A9/~x", True),
        ("a.org/data/#top", "http://a.org/data/x", True),
        ("a.org/data/#top", "http://a.org/x", False),
        ("[::1]", "http://[::1]:8080/", True),
        ("[::1]:8080", "http://[::1]/", False),
    ],
)
def test_hosts_and_folders_are_all_that_is_followed_when_they_are_named(
    text: str, url: str, inside: bool
) -> None:
    scope = scope_of(text)
    assert scope.inside(url) == inside
    assert scope.allows(url, label_r=True, page_inside=True) == inside
    assert scope.may_lead(url, page_inside=True) == inside


@pytest.mark.parametrize(
    ("text", "url", "page_inside", "may_lead"),
    [
        ("site", OUTSIDE, False, True),
        ("any", OUTSIDE, False, True),
        ("parent", OUTSIDE, True, True),
        ("parent", INSIDE, False, True),
        ("parent", OUTSIDE, False, False),
    ],
)
def test_a_link_that_no_label_brings_into_scope_is_not_ranked(
    text: str, url: str, page_inside: bool, may_lead: bool
) -> None:
    assert scope_of(text).may_lead(url, page_inside=page_inside) == may_lead


@pytest.mark.parametrize("text", ["", ",", "a b!", "a..org", "*.a.org", "sites", "SITE"])
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Scope.parse(text)
