"""What strategies make of links of sitemaps."""

from __future__ import annotations

import pytest

from semcrawl.links import Link, Page
from semcrawl.relevance import Label, load_strategy, strategies

PAGE = Page("http://a.example/sitemap.xml", 1)
CHILD = Link(
    "http://a.example/maps/1.xml.gz", element="sitemap", rel="sitemap", tag_path="sitemap/sitemap"
)


@pytest.mark.parametrize("name", sorted(strategies()))
def test_a_sitemap_of_an_index_is_a_page_of_links_to_every_strategy(name: str) -> None:
    (ranked,) = load_strategy(name, {}).rank(PAGE, [CHILD])
    assert ranked.group is not None
    # (association rules go by extension, and keep what they expect nothing of for the end)
    assert ranked.label in (Label.H, Label.HR) or name == "association-rules"


def test_learned_names_what_a_sitemap_says_of_a_page() -> None:
    link = Link("http://a.example/x", element="sitemap", cues="modified:7-days priority:0.8")
    rows = dict(load_strategy("learned", {}).explain(PAGE, link))
    assert "is a target" in rows
