"""Crawls about a topic: made webs whose truth is known, and any world with ``--about``."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest
from lxml import html as lxml_html

from semcrawl.commands.evaluate import Command
from semcrawl.errors import UsageError
from semcrawl.lab.graph import Aim, LinkGraph, map_site
from semcrawl.lab.report import report_page
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import Plan, omniscient, simulated, study
from semcrawl.lab.studydata import as_data, steps
from semcrawl.lab.studytables import KEYWORDS, keyword_rows
from semcrawl.lab.topicworlds import (
    TOPIC,
    TopicWeb,
    WebPlan,
    WebSize,
    keyword_webs,
    literal_crawl,
    literal_figures,
    topic_web,
)
from semcrawl.lab.worlds import FolderSite, FolderWorld, Labelled, World
from semcrawl.lab.worldsets import WorldSet, load_worlds
from semcrawl.relevance import load_strategy
from tests.inprocess import exit_status

SMALL = WebSize(topical=3, others=5, subjects=6, pages=30, seeds=3)


@pytest.fixture(scope="module")
def web() -> TopicWeb:
    plan = WebPlan(0, SMALL, [["merge sort", "sort"]])
    return TopicWeb(plan, "small", "keywords:merge sort", 120)


def test_a_made_web_is_a_world_that_knows_the_truth(web):
    assert isinstance(web, World)
    assert isinstance(web, Labelled)
    assert len(web.hosts) == 8
    assert len(web.starts) == 3
    for url in web.starts:
        assert web.fetch(url).status == 200
        assert web.plan.pages[web._numbers[url]].subject == TOPIC
        assert web.topical(url)
    elsewhere = f"http://{min(web.hosts)}/nowhere"
    assert (web.fetch(elsewhere).status, web.body(elsewhere)) == (404, b"")
    assert not web.topical(elsewhere)
    assert web.robots(min(web.hosts)) == ""


def test_a_made_web_is_the_same_for_the_same_seed_only(web):
    again = TopicWeb(WebPlan(0, SMALL, [["merge sort", "sort"]]), "small", web.about, 120)
    other = TopicWeb(WebPlan(1, SMALL, [["merge sort", "sort"]]), "small", web.about, 120)
    assert again.starts == web.starts != other.starts
    assert [again.body(u) for u in web.starts] == [web.body(u) for u in web.starts]


def test_links_of_a_made_web_lead_to_its_pages(web):
    """And each page can be reached from somewhere."""
    cited = Counter(to for page in web.plan.pages for to, _, _ in page.links)
    assert cited.keys() == set(range(len(web.plan.pages)))
    graph = LinkGraph(web)
    for number in range(0, len(web.plan.pages), 10):
        for link in graph.look(web.url(number)).links:
            assert web.fetch(link.url).status == 200


def test_words_do_not_give_the_truth_away(web):
    """Some pages about the topic never name it, and some about something else do."""
    named = Counter()
    for number, page in enumerate(web.plan.pages):
        text = lxml_html.fromstring(web.body(web.url(number))).findtext("body/p") or ""
        named[page.subject == TOPIC, "merge sort" in text] += 1
    assert min(named[True, True], named[True, False], named[False, False]) > 5
    assert named[False, True] > 0


def test_most_links_abroad_stay_with_their_subject():
    plan = WebPlan(1, SMALL)
    pages = plan.pages
    abroad = [
        pages[to].subject == page.subject
        for page in pages
        for to, _, _ in page.links
        if page.subject is not None and pages[to].site != page.site
    ]
    assert 0.3 < fmean(abroad) < 0.95


@pytest.mark.slow
def test_the_web_of_s_is_as_large_as_s_says():
    plan = topic_web().plan
    assert len(plan.pages) > 20_000
    assert len(plan.hosts) == 80
    topical = Counter(page.site < 20 for page in plan.pages if page.subject == TOPIC)
    assert topical[True] > 5 * topical[False] > 0


def results_of(worlds: WorldSet, plan: Plan) -> dict:
    return as_data(study([worlds], plan, simulated(load_strategy, plan, print)), plan, "offline")


@pytest.mark.slow
def test_a_crawl_is_measured_by_the_truth_and_steered_by_its_topic(web):
    names = ("breadth-first", "pagerank", "ipagerank", "relevance-weighting", "keyword-focused")
    data = results_of(WorldSet("small", [web], strategies=names), Plan(["random"]))
    (world,) = data["sets"][0]["worlds"]
    assert (world["about"], world["budget"]) == ("keywords:merge sort", 120)
    assert list(world["strategies"]) == [*names]
    assert world["targets"] == web.plan.count_topical()
    for one in world["strategies"].values():
        assert [step["requests"] for step in one["steps"]] == steps(120)
        last, kept = one["steps"][-1], one["kept"]
        assert last["precision"] == pytest.approx(one["found"]["mean"] / 120)
        assert last["discovery"] == pytest.approx(one["found"]["mean"] / world["targets"])
        assert kept["right"] <= one["found"]["mean"]
        assert 0.5 < kept["precision"] <= 1
        assert not one["labels"]
    page = report_page(data)
    for text in ("Precision and discovery", "What was kept", "keywords:merge sort"):
        assert text in page


@pytest.mark.slow
def test_strategies_and_pages_of_the_user_go_before_those_of_a_world(web):
    plan = Plan(["random"], pages=30, chosen=frozenset({"pages", "strategies"}))
    data = results_of(WorldSet("small", [web], strategies=("pagerank",)), plan)
    (world,) = data["sets"][0]["worlds"]
    assert (list(world["strategies"]), world["budget"]) == (["random"], 30)


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        (1, [1]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (398, [49, 98, 147, 196, 245, 294, 343, 398]),
        (4000, [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000]),
    ],
)
def test_figures_are_told_after_every_500_requests_or_an_eighth(pages, told):
    assert steps(pages) == told


@pytest.fixture
def folder(tmp_path):
    """A site with a page, a list and RDF about fish, and others about something else."""
    links = "".join(f'<li><a href="{n}.html">page {n}</a></li>' for n in range(6))
    pages = {
        "index.html": f"<html><title>Home</title><ul>{links}</ul><a href=data.ttl>data</a></html>",
        **{f"{n}.html": f"<html><title>Stones {n}</title>stones</html>" for n in range(4)},
        "4.html": '<html><title>Fish</title>cod fish <a href="5.html">fish</a></html>',
        "5.html": "<html><title>More fish</title>herring, a fish</html>",
        "data.ttl": '<urn:cod> <urn:name> "a fish" .',
        "other.ttl": '<urn:stone> <urn:name> "a stone" .',
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_targets_of_a_folder_are_the_documents_about_the_topic(folder):
    """Pages among them, whose links are followed all the same."""
    world = FolderWorld(FolderSite("fish.example", folder))
    aim = Aim.from_settings({"SEMCRAWL_ABOUT": "keywords:fish"})
    graph = LinkGraph(world, judge=aim.judge)
    is_target = Plan([]).truth_of(world, aim)
    site = map_site(graph, is_target)
    assert site.target_depth == {"4.html": 1, "5.html": 1, "data.ttl": 1}
    assert omniscient(site, 8) == [0, 1, 2, 3, 3, 3, 3, 3]
    found = simulate(graph, load_strategy("breadth-first", {}), is_target=is_target, aim=aim)
    assert found.found == 3
    assert [fetch.kept for fetch in found.fetches] == [fetch.new_target for fetch in found.fetches]


@pytest.mark.parametrize(
    ("targets", "found"),
    [
        ("", {"data.ttl"}),
        ("embedded", {"page.html"}),
        ("rdf,html", {"data.ttl", "page.html"}),
    ],
)
def test_kinds_of_targets_hold_with_a_topic_too(tmp_path, targets, found):
    """A topic of statements has RDF as its targets where none are named."""
    data = '<div vocab="http://schema.org/" typeof="Dataset"><p property="name">x</div>'
    (tmp_path / "index.html").write_text("<a href=page.html>a</a> <a href=data.ttl>b</a>")
    (tmp_path / "page.html").write_text(f"<html><title>x</title>{data}</html>")
    (tmp_path / "data.ttl").write_text("<urn:a> a <http://schema.org/Dataset> .")
    world = FolderWorld(FolderSite("a.example", tmp_path))
    aim = Aim.from_settings(
        {"SEMCRAWL_ABOUT": "vocabulary:schema:Dataset", "SEMCRAWL_TARGETS": targets}
    )
    graph = LinkGraph(world, judge=aim.judge)
    is_target = Plan([]).truth_of(world, aim)
    assert set(map_site(graph, is_target).target_depth) == found
    run = simulate(graph, load_strategy("breadth-first", {}), is_target=is_target, aim=aim)
    assert {fetch.url.rpartition("/")[2] for fetch in run.fetches if fetch.kept} == found


def test_evaluate_takes_a_topic(folder, tmp_path):
    out = tmp_path / "out"
    status = exit_status(
        Command(), folder, "--about", "keywords:fish", "--strategies",
        "breadth-first,ipagerank,omniscient", "--out", out,
    )  # fmt: skip
    assert status == 0
    world = json.loads((out / "results.json").read_text())["sets"][0]["worlds"][0]
    assert world["targets"] == 3
    assert (
        world["strategies"]["ipagerank"]["auc"]["mean"]
        >= (world["strategies"]["breadth-first"]["auc"]["mean"])
    )


@pytest.mark.parametrize("about", ["no-such:thing", "keywords:", "new"])
def test_a_topic_that_cannot_be_used_is_told_in_a_line(folder, tmp_path, capsys, about):
    assert exit_status(Command(), folder, "--about", about, "--out", tmp_path / "out")
    said = capsys.readouterr().err
    assert "about" in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_worlds_are_made_by_name():
    worlds = load_worlds("keywords")
    assert [world.name for world in worlds.worlds] == [
        "time, bubble, sort", "sort, quick", "quick, heap, space", "shell, sort, time",
        "heap, space, sort", "data, sort, time, shell",
    ]  # fmt: skip
    assert worlds.strategies == ("breadth-first", "keyword-focused", "learned")
    with pytest.raises(UsageError, match="topic, keywords"):
        load_worlds("topics")


@pytest.mark.slow
def test_the_keyword_check_gains_precision_and_costs_recall():
    """K's shape, by K's algorithm to the letter and with K's queries."""
    means = {}
    figures = literal_figures(keyword_webs())
    assert set(figures) == set(KEYWORDS)
    for name in ("traditional", "focused", "any"):
        for figure in ("precision", "recall"):
            means[name, figure] = fmean(one[name][figure] for one in figures.values())
    for name in ("focused", "any"):
        assert means[name, "precision"] > means["traditional", "precision"] + 0.05
        assert means[name, "recall"] <= means["traditional", "recall"]


def test_the_literal_crawler_takes_its_list_first_in_first_out(monkeypatch):
    """It crawls level by level, and returns the pages with all keywords."""
    web = TopicWeb(WebPlan(0, SMALL, [["merge", "sort"]]), "small", "keywords:merge sort", 40)
    requests, body = [], web.body
    monkeypatch.setattr(web, "body", lambda url: (requests.append(url), body(url))[1])
    returned = literal_crawl(web, ["sort", "merge"])
    crawled = list(dict.fromkeys(requests))
    assert len(crawled) == web.requests
    assert crawled[: len(web.starts)] == list(web.starts)
    assert returned["focused"]["precision"] >= returned["traditional"]["precision"]
    assert returned["focused"]["recall"] <= returned["any"]["recall"]
    assert returned["any"]["recall"] <= returned["traditional"]["recall"]


def test_k_s_figures_stand_row_by_row_beside_ours():
    literal = {"precision": 0.6, "recall": 0.5}
    runs = [
        {
            "literal": {
                q: dict.fromkeys(("traditional", "focused", "any"), literal) for q in KEYWORDS
            }
        }
    ]
    head, rows = keyword_rows({"repetitions": runs, "strategies": {}, "worlds": []})
    assert head[:4] == ["query", "K: traditional", "literal: traditional", "K: focused"]
    assert rows[0] == ["time, bubble, sort", "70 / 82", "60 / 50", "80 / 81", "60 / 50", "60 / 50"]
    assert rows[-1][:4] == ["mean", "75.8 / 84.5", "60 / 50", "85.3 / 82.2"]
    assert keyword_rows({"strategies": {}, "worlds": []}) == ([], [])


@pytest.mark.study
@pytest.mark.slow
def test_ipagerank_is_above_pagerank_above_breadth_first_at_every_step():
    """S's result, in precision and so in discovery."""
    web = topic_web()
    settings = {"SEMCRAWL_ABOUT": web.about}
    aim = Aim.from_settings(settings)
    graph = LinkGraph(web, judge=aim.judge)
    runs = {
        name: simulate(
            graph, load_strategy(name, settings), web.requests, aim=aim,
            is_target=Plan([]).truth_of(web),
        )
        for name in ("breadth-first", "pagerank", "ipagerank")
    }  # fmt: skip
    for step in range(500, 4001, 500):
        breadth, rank, topical = (run.curve[step - 1] for run in runs.values())
        assert breadth < rank < topical, step


def test_size_can_be_chosen():
    assert len(WebPlan(0, replace(SMALL, others=1)).hosts) == 4
