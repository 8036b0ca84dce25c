"""Links of one document that look alike, and what answers say of them."""

from __future__ import annotations

from collections import Counter

import pytest

from semcrawl.links import Link
from semcrawl.relevance import Label, Outcome, Ranked
from semcrawl.relevance.families import Family, Verdict, by_name, families, verdict
from semcrawl.web.vocabulary import Kind

D = "http://d.example"
DUMP = f"{D}/dump.nt.gz"
WORDS = [a + b + c for a in "bcdfg" for b in "aeiou" for c in "lmnr"]


def patterns(*urls: str, tries: int = 10) -> Counter[str]:
    """How many links are in the family of each pattern, ``""`` for those in none."""
    found = families(DUMP, urls, tries)
    return Counter(found[url].pattern.removeprefix(D) if url in found else "" for url in urls)


@pytest.mark.parametrize(
    ("paths", "pattern"),
    [
        ([f"/catch/{n}" for n in range(40)], "/catch/0"),
        ([f"/catch/{n}/" for n in range(40)], "/catch/0/"),
        ([f"/{n}/catch/{n}.ttl" for n in range(40)], "/0/catch/0.ttl"),
        ([f"/id/catch-{n}" for n in range(40)], "/id/catch-0"),
        ([f"/id/{word}" for word in WORDS], "/id/*"),
        ([f"/id/{word}.rdf" for word in WORDS], "/id/*.rdf"),
        ([f"/id/{n:08x}-0a0b-{n:04x}-aaaa-{n:012x}" for n in range(40)], "/id/#"),
        ([f"/get?id={n}&v=1" for n in range(40)], "/get?id=&v="),
        ([f"/id/{word}_{n}" for n, word in enumerate(WORDS)], "/id/…"),
        ([f"/{word}/profile" for word in WORDS], "/…"),
    ],
)
def test_links_that_look_alike_are_a_family(paths: list[str], pattern: str) -> None:
    assert patterns(*[D + path for path in paths]) == {pattern: len(paths)}


def test_families_are_told_apart_by_what_their_addresses_say() -> None:
    urls = [f"{D}/id/catch-{n}" for n in range(20)] + [f"{D}/id/species-{n}" for n in range(15)]
    urls += [f"{D}/id/{n}.ttl" for n in range(11)] + [f"https://d.example/{n}" for n in range(11)]
    assert patterns(*urls) == {
        "/id/catch-0": 20, "/id/species-0": 15, "/id/0.ttl": 11, "https://d.example/0": 11,
    }  # fmt: skip


def test_few_links_are_no_family() -> None:
    assert patterns(*[f"{D}/catch/{n}" for n in range(10)]) == {"": 10}
    assert patterns(*[f"{D}/{word}/profile" for word in WORDS[:30]]) == {"": 30}
    assert not families(DUMP, [], 10)


def test_a_family_is_one_documents() -> None:
    one, other = Family(DUMP, f"{D}/0"), Family(f"{D}/other", f"{D}/0")
    assert one.name != other.name
    assert len(one.name) == 8
    assert by_name({"a": one, "b": one, "c": other}) == {one.name: one, other.name: other}


@pytest.mark.parametrize(
    "url", [D, f"{D}/", f"{D}//", f"{D}/a//b/", f"{D}/?", "http://[::1]:8080/7"]
)
def test_any_address_has_its_pattern(url: str) -> None:
    assert patterns(*[url] * 11).total() == 11


NEW = (Ranked(Link(D), Label.H, "g"),)


@pytest.mark.parametrize(
    ("expected", "facts"),
    [
        (Verdict.USEFUL, {"kind": Kind.RDF, "status": 200}),
        (Verdict.USEFUL, {"kind": Kind.RDF, "status": 200, "duplicate": True}),
        (Verdict.USEFUL, {"kind": Kind.HTML, "status": 200}),
        (Verdict.USEFUL, {"kind": Kind.HTML, "status": 200, "duplicate": True, "new_links": NEW}),
        (Verdict.USEFUL, {"kind": Kind.OTHER, "status": 200, "target": True}),
        (Verdict.USEFUL, {"kind": None, "status": 200, "new_links": NEW}),
        (Verdict.BARREN, {"kind": Kind.HTML, "status": 200, "duplicate": True}),
        (Verdict.BARREN, {"kind": Kind.OTHER, "status": 200}),
        (Verdict.BARREN, {"kind": None, "status": 200}),
        (Verdict.BARREN, {"kind": None, "status": 302}),
        (Verdict.BARREN, {"kind": None, "status": 401}),
        (Verdict.BARREN, {"kind": None, "status": 404}),
        (Verdict.BARREN, {"kind": None, "status": 410}),
        (Verdict.UNKNOWN, {"kind": None, "status": 302, "duplicate": True}),
        (Verdict.UNKNOWN, {"kind": None, "status": 429}),
        (Verdict.UNKNOWN, {"kind": None, "status": 500}),
        (Verdict.UNKNOWN, {"kind": None, "status": 503}),
        (Verdict.UNKNOWN, {"kind": None}),
    ],
)
def test_only_what_the_server_says_of_an_address_counts(
    expected: Verdict, facts: dict[str, object]
) -> None:
    """A failure that may pass tells nothing of the family."""
    defaults: dict[str, object] = {"target": facts.get("kind") is Kind.RDF}
    assert verdict(Outcome(D, **(defaults | facts))) is expected  # type: ignore[arg-type]
