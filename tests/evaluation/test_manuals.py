"""Crawls about a topic on real pages: the manuals of Debian packages behind a portal."""

from __future__ import annotations

import pytest

from semcrawl.lab.graph import Aim, LinkGraph, map_site
from semcrawl.lab.simulator import simulate
from semcrawl.lab.worlds import SiteBuilder, World
from semcrawl.relevance import load_strategy
from tests.evaluation.manuals import SECTIONS, missing, portal
from tests.evaluation.portal import Portal
from tests.evaluation.worlds import barren, members


def test_a_portal_is_one_world_that_leads_to_all_of_its_worlds():
    world = Portal("both", [members(3, with_rdf=2), barren()], ["Members & co", "Nothing"])
    assert isinstance(world, World)
    assert world.hosts == {"both.example", "members.example", "barren.example"}
    assert b"Members &amp; co" in world.body(world.starts[0])
    site = map_site(LinkGraph(world))
    assert "barren.example /other" in site.pages
    assert "members.example /members/1.rdf" in site.target_depth
    for url in ("http://both.example/x", "http://elsewhere.example/"):
        assert world.fetch(url).status == 404
        assert world.body(url) == b""


def test_the_worlds_of_a_portal_keep_their_robots_txt():
    class Closed(type(SiteBuilder("a.example").build("a"))):
        def robots(self, host):
            return "User-agent: *\nDisallow: /"

    world = Portal("p", [Closed("a", "a.example", SiteBuilder("a.example").documents)], ["A"])
    assert world.robots("a.example").endswith("Disallow: /")
    assert world.robots("p.example") == ""


@pytest.fixture(scope="module")
def plain() -> LinkGraph:
    if absent := missing():
        pytest.skip(f"not installed: {', '.join(absent)} (apt-get install)")
    return LinkGraph(portal())


class EnoughError(Exception):
    """Most of the pages were found."""


def crawl(graph, name, settings, documents, aim=None, share=0.8, cap=10_000):
    """Crawl until a share of the documents was found, or ``cap`` requests were made."""
    latest = None

    def progress(run):
        nonlocal latest
        latest = run
        if run.found >= share * len(documents):
            raise EnoughError

    simulate(
        graph, load_strategy(name, settings), cap, aim=aim, progress=progress,
        is_target=lambda node: node.answer.document in documents,
    )  # fmt: skip
    assert latest.error.startswith("EnoughError"), latest.error
    return latest


@pytest.mark.study
@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("name", SECTIONS)
def test_a_topic_takes_at_most_half_the_requests_of_breadth_first(name, plain):
    """80 % of its pages, and most of what is kept until then is in the manual's own list."""
    section = SECTIONS[name]
    documents = section.documents()
    assert len(documents) >= 5
    settings = {
        "SEMCRAWL_ABOUT": section.about,
        "SEMCRAWL_ABOUT_THRESHOLD": section.threshold,
        "SEMCRAWL_TARGETS": "html",
    }
    aim = Aim.from_settings(settings)
    graph = LinkGraph(plain.world, judge=aim.judge)
    topical = crawl(graph, "learned", settings, documents, aim)
    kept = {graph.look(f.url).answer.document for f in topical.fetches if f.kept}
    breadth = crawl(plain, "breadth-first", {}, documents)
    assert 2 * topical.requests <= breadth.requests
    assert len(kept & documents) >= section.precision * len(kept)
