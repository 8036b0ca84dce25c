"""The real spiders and the simulator ask for the same URLs in the same order."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from semcrawl.errors import SemcrawlError
from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.live import crawl_live, live
from semcrawl.lab.recorded import RecordedWorld
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import Plan, simulated, study
from semcrawl.lab.thesis import thesis_worlds
from semcrawl.lab.worlds import BuiltWorld, FolderSite, FolderWorld, SiteBuilder
from semcrawl.lab.worldsets import WorldSet
from semcrawl.relevance import load_strategy, strategies
from semcrawl.relevance.contract import Citing
from tests.evaluation.test_recording import record
from tests.evaluation.worlds import members, twins

THESIS = {
    "SEMCRAWL_PROMOTE_WAITING": False,
    "SEMCRAWL_KEEP_UNLIKELY": False,
    "SEMCRAWL_AMBIGUOUS_TYPES": [],
}


def hold_against_each_other(graph, name, pages, settings=None):
    settings = settings or {}
    live = crawl_live(graph, name, pages, settings=settings)
    offline = simulate(
        graph,
        load_strategy(name, {**settings, "SEMCRAWL_RANDOM_SEED": 0}),
        pages,
        **({"ambiguous_types": ()} if settings else {}),
    )
    assert offline.error == ""
    assert live.order == offline.order
    assert live.curve == offline.curve
    for one, two in zip(live.fetches, offline.fetches, strict=True):
        for name in ("asked", "label", "rules", "parent", "depth", "kind", "filtered"):
            assert getattr(one, name) == getattr(two, name)
    return offline


@pytest.mark.slow
def test_live_and_offline_agree_on_a_small_site():
    hold_against_each_other(LinkGraph(members()), "rules-parents", 100)


@pytest.mark.slow
def test_live_and_offline_agree_on_the_link_that_led_to_a_page():
    """A linked address waits for its own turn, even if another one redirects to it meanwhile."""
    site = SiteBuilder("both.example")
    home, page, other = site.page("/"), site.page("/new"), site.page("/other")
    site.link(home, site.moved("/old", "/new"))
    site.link(home, page)
    site.link(home, other)
    site.link(page, site.moved("/back", "/other"))
    site.link(page, site.moved("/on", "/last"))
    site.page("/last")
    hold_against_each_other(LinkGraph(site.build("both")), "breadth-first", 100)


@pytest.mark.slow
def test_live_and_offline_agree_on_what_was_not_taken_for_its_type():
    site = SiteBuilder("vague.example")
    home = site.page("/")
    site.link(home, site.rdf("/thing", "application/xml"))
    site.link(home, site.rdf("/data.rdf", "application/xml"))
    site.link(home, site.other("/film", "video/mp4"))
    hold_against_each_other(LinkGraph(site.build("vague")), "breadth-first", 100, THESIS)


@pytest.mark.slow
def test_live_and_offline_agree_on_a_site_that_refuses_much():
    """A host that rests, as one does that refuses to be asked, would end the crawl."""
    site = SiteBuilder("busy.example")
    home = site.page("/")
    for number in range(9):
        site.link(home, site.error(f"/{number}", 429))
    site.link(home, site.rdf("/data.rdf"))
    hold_against_each_other(LinkGraph(site.build("busy")), "breadth-first", 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("about", "found"), [("vocabulary:foaf:", 6), ("keywords:fish", 5)], ids=["rdf", "pages"]
)
def test_live_and_offline_agree_on_a_crawl_about_a_topic(tmp_path, about, found):
    """In what is asked for, what counts as found and what is kept."""
    turtle = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . <#x> {} '{}' ."
    links = []
    for n in range(6):
        (tmp_path / f"who{n}.ttl").write_text(turtle.format("foaf:name", f"stone {n}"))
        (tmp_path / f"what{n}.ttl").write_text(turtle.format("<urn:name>", f"stone {n}"))
        topic = "fish" if n < 5 else "stone"
        (tmp_path / f"page{n}.html").write_text(f"<title>{topic}</title><p>{topic} {n}")
        links += [f"what{n}.ttl", f"page{n}.html", f"who{n}.ttl"]
    (tmp_path / "index.html").write_text("".join(f"<a href={name}>{name}</a>" for name in links))
    plan = Plan(["learned"], pages=100, settings={"SEMCRAWL_ABOUT": about})
    plan = replace(plan, chosen=frozenset({"SEMCRAWL_ABOUT"}))
    worlds = [WorldSet("x", [FolderWorld(FolderSite("a.example", tmp_path))])]
    runs = []

    def noting(crawl):
        def noted(*args):
            runs.append(crawl(*args))
            return runs[-1]

        return noted

    study(worlds, plan, noting(simulated(load_strategy, plan, lambda progress: None)))
    study(worlds, plan, noting(live(plan, lambda progress: None)))
    offline, served = runs
    assert (offline.error, served.error) == ("", "")
    assert served.order == offline.order
    assert served.curve == offline.curve
    assert [fetch.kept for fetch in served.fetches] == [fetch.kept for fetch in offline.fetches]
    assert offline.found == sum(fetch.kept for fetch in offline.fetches) == found


@pytest.mark.slow
def test_live_and_offline_agree_on_what_is_asked_for_json_ld(tmp_path):
    """Contexts are no pages."""
    pytest.importorskip("warcio")
    document = b'{"@context": "http://a.example/context", "@id": "urn:x", "name": "x"}'
    ld = {"Content-Type": "application/ld+json"}
    record(
        tmp_path / "x.warc",
        [
            ("http://a.example/", 200, {"Content-Type": "text/html"}, b'<a href="x.jsonld">x</a>'),
            ("http://a.example/x.jsonld", 200, ld, document),
            ("http://a.example/context", 200, ld, b'{"@context": {"name": "urn:name"}}'),
        ],
    )
    graph = LinkGraph(RecordedWorld.load([tmp_path / "x.warc"]))
    hold_against_each_other(graph, "breadth-first", 100)


@pytest.mark.slow
def test_live_and_offline_agree_on_a_site_over_tls(tmp_path):
    """As most sites are that were recorded."""
    pytest.importorskip("warcio")
    page = b'<a href="/data">data</a> <a href="http://plain.example/x.nt">more</a>'
    triple = b"<urn:a> <urn:b> <urn:%s> ."
    html, nt = {"Content-Type": "text/html"}, {"Content-Type": "application/n-triples"}
    record(
        tmp_path / "x.warc",
        [
            ("http://tls.example/", 301, {"Location": "https://tls.example/"}, b""),
            ("https://tls.example/", 200, html, page),
            ("https://tls.example/data", 303, {"Location": "/data.nt"}, b""),
            ("https://tls.example/data.nt", 200, nt, triple % b"c"),
            ("http://plain.example/x.nt", 200, nt, triple % b"d"),
        ],
    )
    graph = LinkGraph(RecordedWorld.load([tmp_path / "x.warc"]))
    hold_against_each_other(graph, "breadth-first", 100)
    assert crawl_live(graph, "rules").found == 2


@pytest.mark.slow
def test_live_and_offline_agree_where_pages_are_copies_of_others():
    hold_against_each_other(LinkGraph(twins()), "learned", 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", strategies())
def test_live_and_offline_agree_for_every_strategy(name):
    hold_against_each_other(LinkGraph(members(30, with_rdf=20)), name, 200)


def woven(pages: int = 60, seed: int = 3) -> BuiltWorld:
    """A site whose pages link to one another at random, mostly to known pages."""
    chance = random.Random(seed)
    site = SiteBuilder("woven.example")
    made = [site.page("/" if not n else f"/{n}/", f"Page {n}") for n in range(pages)]
    for number, page in enumerate(made):
        others = {int(len(made) * chance.random() ** 3) for _ in range(8)} | {number + 1}
        for other in sorted(others - {number, pages}):
            words = "herring catch" if other % 5 == 0 else f"to {other}"
            site.link(page, made[other], words)
        if number % 6 == 5:
            site.link(page, site.rdf(f"/{number}/data.ttl"), "data")
    return BuiltWorld("woven", "woven.example", site.documents)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n in strategies() if isinstance(load_strategy(n, {}), Citing)]
)
def test_links_to_known_pages_are_votes_in_a_live_crawl_as_they_are_offline(name):
    """Strategies that count votes fetch in one order live and offline."""
    about = {"SEMCRAWL_ABOUT": "keywords:herring"}
    graph = LinkGraph(woven())
    live = crawl_live(graph, name, 60, settings=about)
    offline = simulate(graph, load_strategy(name, {**about, "SEMCRAWL_RANDOM_SEED": 0}), 60)
    assert live.order == offline.order


#: strategies that are tried in each domain of the thesis
TRIED = ["breadth-first", "rules-parents", "association-rules", "learned"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "name"),
    [
        # each once; the other pairs before a release
        pytest.param(domain, name, marks=() if number == domain else pytest.mark.study)
        for domain in range(4)
        for number, name in enumerate(TRIED)
    ],
)
def test_live_and_offline_agree_on_the_thesis(domain, name):
    graph = LinkGraph(thesis_worlds()[domain], max_links=500)
    hold_against_each_other(graph, name, 150, THESIS)


@pytest.mark.slow
def test_a_live_crawl_that_fails_says_why():
    with pytest.raises(SemcrawlError, match="nonsense"):
        crawl_live(LinkGraph(members()), "nonsense", 5)
