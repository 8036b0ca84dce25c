"""The address of a document is guessed from that of its page, as others on the host show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.links import Link
from semcrawl.links.twins import Rule, Twins
from semcrawl.web.vocabulary import FoundBy

SITE = "http://a.example"


@pytest.mark.parametrize(
    ("page", "document", "other", "guess"),
    [
        ("/page/Fish", "/data/Fish", "/page/Bird", "/data/Bird"),
        ("/pub/2001/fish-1.html", "/pub/2001/fish-1.rdf", "/sub/2001/bird.html", ""),
        ("/p/2001/fish-1.html", "/p/2001/fish-1.rdf", "/p/1999/bird.html", "/p/1999/bird.rdf"),
        ("/v1/fish/index.html", "/v1/fish/index.ttl", "/v1/bird/index.html", "/v1/bird/index.ttl"),
        ("/onto/fish/", "/onto/fish.ttl", "/onto/bird/", "/onto/bird.ttl"),
        ("/onto/fish/", "/onto/fish/data.ttl", "/onto/bird/", "/onto/bird/data.ttl"),
        ("/c/fish", "https://w3id.org/x/c/fish.rdf", "/c/bird", "https://w3id.org/x/c/bird.rdf"),
        # other folders, other endings, no name of its own
        ("/page/Fish", "/data/Fish", "/about/Bird", ""),
        ("/page/Fish", "/data/Fish", "/page/Bird.html", ""),
        ("/page/Fish", "/data/Fish", "/page/", ""),
        ("/a/fish.html", "/a/fish.ttl", "/a/bird.pdf", ""),
    ],
)  # fmt: skip
def test_a_rule_is_what_stands_around_the_shared_name(page, document, other, guess):
    rule = Rule.of(page, document)
    assert rule is not None
    assert rule.apply(page) == document
    assert rule.apply(other) == guess


@pytest.mark.parametrize(
    ("page", "document"),
    [("/", "/data.ttl"), ("/fish.html", "/bird.ttl"), ("/a/b", "/a/b"), ("/p/1", "/d/1"), ("", "")],
)
def test_without_a_shared_name_there_is_no_rule(page, document):
    assert Rule.of(page, document) is None


@given(
    st.text(st.sampled_from("ab1/.-é"), max_size=40),
    st.text(st.sampled_from("ab1/.-"), max_size=40),
)
def test_a_rule_makes_the_document_that_it_was_made_of(page, document):
    rule = Rule.of(page, document)
    if rule is not None and (again := rule.apply(page)):
        assert again == document


def links(*names: str) -> list[Link]:
    return [Link(f"{SITE}/page/{name}") for name in names]


def urls(found: list[Link]) -> list[str]:
    assert all(link.found_by is FoundBy.TWIN for link in found)
    return [link.url.rpartition("/")[2] for link in found]


def found(twins: Twins, name: str) -> list[str]:
    return urls(twins.found(f"{SITE}/data/{name}", f"{SITE}/page/{name}"))


def test_few_are_guessed_until_guesses_are_right():
    """Two after two pages showed a rule, four more for each that was right, none twice."""
    twins = Twins()
    names = [f"thing{n:02}" for n in range(20)]
    assert twins.of_links(links(*names)) == []
    assert found(twins, names[0]) == []
    assert found(twins, names[1]) == names[2:4]
    assert found(twins, names[5]) == []  # had by its page: no guess was right
    assert found(twins, names[2]) == [names[4], *names[6:9]]
    assert found(twins, names[3]) == names[9:13]
    assert urls(twins.of_links(links("thing99"))) == []


def test_guesses_that_are_wrong_end():
    twins = Twins()
    twins.of_links(links(*(f"thing{n}" for n in range(100))))
    for n in range(10):
        found(twins, f"thing{n}")
    assert sum(len(twins.of_links(links(f"more{n}"))) for n in range(100)) == 0


def test_what_an_address_redirects_to_has_the_document_too():
    """Pages link to names of things, which redirect to their pages."""
    twins = Twins()
    twins.of_links(Link(f"{SITE}/id/{name}") for name in ("fish", "bird", "lion"))
    for name in ("fish", "bird"):
        twins.redirected(f"{SITE}/id/{name}", f"{SITE}/page/{name}")
    assert found(twins, "fish") == []
    assert found(twins, "bird") == ["lion"]


def test_of_many_rules_those_that_hold_are_kept():
    """However many folders show a rule once, one that was shown twice goes on."""
    twins = Twins()
    twins.of_links(links("fish", "bird", "lion"))
    found(twins, "fish")
    assert found(twins, "bird") == ["lion"]
    for n in range(500):
        name = f"x{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}{'uvwxy'[n // 100]}"
        twins.found(f"{SITE}/{name}/d/thing", f"{SITE}/{name}/p/thing")
    found(twins, "lion")
    assert urls(twins.of_links(links("wolf"))) == ["wolf"]


def test_pages_that_ask_not_to_follow_their_links_have_no_guessed_documents():
    twins = Twins()
    twins.of_links(links("fish", "bird", "lion", "wolf"))
    lion = f"{SITE}/page/lion"
    assert twins.suggested_by(links("lamb"), lion, lion, followed=False) == []
    found(twins, "fish")
    assert found(twins, "bird") == ["wolf"]
