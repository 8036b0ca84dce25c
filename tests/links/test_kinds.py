"""Kinds of links and pages as S tells them apart."""

from __future__ import annotations

import pytest

from semcrawl.config.targets import Targets
from semcrawl.links import ExtractionOptions, extract_links
from semcrawl.links.kinds import LinkKind, link_kind
from semcrawl.relevance.learned import LearnedOptions
from semcrawl.relevance.learned.features import FeatureMaker
from semcrawl.relevance.learned.parts import SeedFolders, folder_of
from semcrawl.relevance.learned.prior import TargetSigns

PAGE = "http://www.a.example/x/page.html"


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("http://www.a.example/", "up"), ("http://www.a.example/y", "up"),
        ("http://www.a.example/x/z", "down"), ("http://www.a.example/x/y/z", "down"),
        ("http://www.a.example/y/z", "across"), ("http://data.a.example/x/", "out"),
        ("http://b.example/x/", "foreign"), ("http://www.a.example:8080/x/", "out"),
    ],
)  # fmt: skip
def test_links_are_told_apart(target: str, kind: str) -> None:
    assert link_kind(PAGE, target) is LinkKind(kind)


def body(links: list[str], text: str = "") -> bytes:
    anchors = "".join(f"<li><a href={link}>a link to a page</a>" for link in links)
    return f"<title>t</title><ul>{anchors}</ul><p>{text}".encode()


OWN = [f"/p{n}" for n in range(12)]
OTHERS = [f"http://{n}.example/" for n in range(12)]


@pytest.mark.parametrize(
    ("links", "text", "kind"),
    [
        (OTHERS, "", "hub"), (OTHERS, "word " * 300, "hub"), ([*OTHERS, *OWN, "/"], "", "index"),
        (OWN, "", "index"), (OWN, "word " * 300, "content"), (OWN[:2], "word " * 300, "content"),
        (OWN[:2], "", "other"), (["#a", PAGE] * 20 + OWN[:1], "", "other"),
    ],
)  # fmt: skip
def test_pages_are_told_apart(links: list[str], text: str, kind: str) -> None:
    """Whatever links of it are known, and only if that is asked for."""
    page = body(links, text)
    found = extract_links(page, PAGE, None, ExtractionOptions(kinds=True))
    kept = extract_links(page, PAGE, None, ExtractionOptions(kinds=True), known=lambda _: True)
    assert {link.cues.split()[0] for link in found} == {f"page:{kind}"}
    assert all(link in found for link in kept)
    assert all(link.cues == "" for link in extract_links(page, PAGE))


def test_the_kinds_are_features_of_the_learned_strategy() -> None:
    (link, *_) = extract_links(body(OTHERS), PAGE, None, ExtractionOptions(kinds=True))
    maker = FeatureMaker(LearnedOptions(), TargetSigns.of(Targets.parse("rdf")))
    names = [name for name, _ in maker.named(link, folder_of(PAGE), SeedFolders())]
    assert {"its source says 'page:hub'", "its source says 'link:foreign'"} <= set(names)
