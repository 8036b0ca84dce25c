"""What is measured on the made web of pictures, and on manuals with figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from semcrawl.images.schema import image_addresses
from semcrawl.imagesearch.search import ImageSearch
from semcrawl.lab.imagefigures import image_figures, index_pages
from semcrawl.lab.imageworlds import image_webs
from semcrawl.lab.study import Plan, simulated, study
from semcrawl.lab.studytables import image_rows
from semcrawl.lab.worlds import FolderSite, FolderWorld
from semcrawl.lab.worldsets import image_worlds
from semcrawl.relevance import load_strategy
from tests.evaluation.portal import Portal

_HELP = Path("/usr/share/gimp/2.0/help")
FIGURES = json.loads(Path(__file__).with_name("manual_figures.json").read_text("utf-8"))


@pytest.mark.study
@pytest.mark.slow
def test_places_and_searches_of_the_made_web():
    """The best place is known for 25 of 30 domains, and 8 of 10 pictures found are right."""
    figures = image_figures(image_webs(0)[0])
    assert figures["best_places"]["domains"] == 30
    assert figures["best_places"]["right"] >= 25
    assert figures["search"]["queries"] == 50
    assert figures["search"]["misspelled"] >= 10
    assert figures["search"]["precision_at_10"] >= 0.8
    links = figures["spellings"]
    assert links["links"] > links["written"] > links["normalised"] > links["all_rules"]
    assert len(image_rows(figures)) == 4 + len(figures["places"])


@pytest.mark.study
@pytest.mark.slow
def test_domain_score_is_ahead_of_breadth_first_and_learned_of_both():
    """In matching pictures for so many requests, over the three queries."""
    worlds = image_worlds("images", 0)
    worlds = type(worlds)(worlds.name, worlds.worlds, strategies=worlds.strategies)
    plan = Plan([], settings={"SEMCRAWL_MAX_LINKS_PER_PAGE": 500})
    [result] = study([worlds], plan, simulated(load_strategy, plan, lambda step: None))
    found = {
        name: sum(world.trials[name][0].found for world in result.worlds)
        for name in worlds.strategies
    }
    assert found["domain-score"] > 5 * found["breadth-first"]
    assert found["domain-score"] > found["weighted-pagerank"]
    assert found["learned"] >= found["domain-score"]


def test_nothing_measured_gives_no_rows():
    assert image_rows({}) == []


@pytest.mark.study
@pytest.mark.slow
@pytest.mark.server
def test_figures_of_real_manuals_are_found_in_two_languages(tmp_path):
    """15 of 20 queries have a figure that was listed beforehand among the first five."""
    roots = {language: _HELP / language for language in ("en", "de")}
    if not all((root / "index.html").is_file() for root in roots.values()):
        pytest.skip("not installed: gimp-help-en, gimp-help-de (apt-get install)")
    sites = [FolderWorld(FolderSite(f"{name}.example", root)) for name, root in roots.items()]
    world = Portal("gimp", sites, ["Manual", "Handbuch"])
    pages = [
        f"http://{name}.example/{page.name}"
        for name, root in roots.items()
        for page in sorted(root.glob("*.html"))
        if page.name != "index.html"
    ]
    index_pages(world, pages, tmp_path)
    paths: dict[int, set[str]] = {}
    for number, url in image_addresses(tmp_path):
        paths.setdefault(number, set()).add(url.partition("/images/")[2])
    right = []
    with ImageSearch(tmp_path) as search:
        for query, figures in FIGURES.items():
            hits = search.search(query, 5, remember=False).hits
            if any(paths.get(hit.image, set()) & set(figures) for hit in hits):
                right.append(query)
    assert len(FIGURES) == 20
    assert len(right) >= 15, set(FIGURES) - set(right)
