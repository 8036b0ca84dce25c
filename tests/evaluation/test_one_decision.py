"""Spiders and simulator ask for the same, in the same order, for every option that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from semcrawl.lab.graph import LinkGraph, graph_of
from semcrawl.lab.recorded import RecordedWorld
from semcrawl.lab.simulator import Run
from tests.evaluation.test_live import hold_against_each_other
from tests.evaluation.test_recording import record

HTML, TURTLE = {"Content-Type": "text/html"}, {"Content-Type": "text/turtle"}
A = "http://a.example"
NAMES = ("ann", "bob", "cy", "dan", "eve")


def page(*links: str) -> bytes:
    return " ".join(f"<a href='{link}'>{link}</a>" for link in links).encode()


def moved(name: str, target: str, status: int = 301) -> tuple[str, int, dict[str, str], bytes]:
    return f"{A}{name}", status, {"Location": target}, b""


def rdf(name: str) -> tuple[str, int, dict[str, str], bytes]:
    return f"{A}{name}", 200, TURTLE, f"<urn:{name}> a <urn:x> .".encode()


#: folders that their servers redirect to, some of which have a page without a slash only; redirects
#: in a row, in a circle, out of the site and to known addresses; pages of three depths
SITE = [
    (f"{A}/", 200, HTML, page(*(f"people/{name}" for name in NAMES), "row/1", "round/1", "away",
                              "private/", "deep/1", "gone/", "back")),
    *(moved(f"/people/{name}", f"{A}/people/{name}/") for name in NAMES[:3]),
    *((f"{A}/people/{name}/", 200, HTML, page("data.ttl")) for name in NAMES[:3]),
    *(rdf(f"/people/{name}/data.ttl") for name in NAMES),
    (f"{A}/people/dan", 200, HTML, page("dan/data.ttl")),
    moved("/people/eve", f"{A}/people/dan/"),
    *(moved(f"/row/{n}", f"{A}/row/{n + 1}", 302) for n in range(1, 5)),
    (f"{A}/row/5", 200, HTML, page("end.ttl")),
    rdf("/row/end.ttl"),
    moved("/round/1", f"{A}/round/2"),
    moved("/round/2", f"{A}/round/1"),
    moved("/away", "http://b.example/"),
    moved("/back", f"{A}/"),
    (f"{A}/private/", 200, HTML, page("x.ttl", "y.ttl")),
    *(rdf(f"/private/{name}.ttl") for name in "xy"),
    (f"{A}/deep/1", 200, HTML, page("2")),
    (f"{A}/deep/2", 200, HTML, page("3.ttl")),
    rdf("/deep/3.ttl"),
]  # fmt: skip

#: options, and an address that they decide on: whether it is asked for
OPTIONS: list[tuple[Mapping[str, Any], str, bool]] = [
    ({}, "/row/end.ttl", True),
    ({"SEMCRAWL_FORESEE_SLASHES": False}, "/people/cy", True),
    ({"SEMCRAWL_FORESEE_SLASHES": True}, "/people/cy", False),
    ({"REDIRECT_MAX_TIMES": 3}, "/row/end.ttl", False),
    ({"REDIRECT_ENABLED": False}, "/row/2", False),
    ({"SEMCRAWL_EXCLUDE": ["/private/*"]}, "/private/x.ttl", False),
    ({"SEMCRAWL_INCLUDE": ["/people/*"]}, "/deep/1", False),
    ({"SEMCRAWL_EXCLUDE": ["/row/3"]}, "/row/3", False),
    ({"DEPTH_LIMIT": 1}, "/people/ann/data.ttl", False),
    ({"DEPTH_LIMIT": 2}, "/deep/3.ttl", False),
]


HYDRA = "@prefix h: <http://www.w3.org/ns/hydra/core#> ."


def pages_of(number: int) -> bytes:
    more = f"<> h:next <all?page={number + 1}> ; h:member <{number}.ttl> ."
    return f"{HYDRA} <> a h:PartialCollectionView . {more}".encode()


#: a site with ways to data besides links, and with failures
WAYS = [
    (f"{A}/", 200, HTML, page("map", "busy", "first.ttl", "missing.ttl", "doc", "film", "all",
                              "x")),
    (f"{A}/busy", 503, HTML, b"later"),
    (f"{A}/missing.ttl", 404, HTML | {"Vary": "Accept"}, b"not here"),
    (f"{A}/doc", 200, HTML | {"Vary": "Accept"}, page("other")),
    (f"{A}/other", 200, HTML | {"Vary": "Accept"}, page("new.ttl")),
    (f"{A}/film", 200, {"Content-Type": "video/mp4",
                        "Link": "<film.ttl>; rel=describedby; type=text/turtle"}, b"film"),
    *(rdf(f"/{name}.ttl") for name in ("first", "new", "film", *range(1, 5))),
    (f"{A}/all", 200, TURTLE, pages_of(1)),
    *((f"{A}/all?page={n}", 200, TURTLE, pages_of(n)) for n in range(2, 5)),
    moved("/x", f"{A}/y"),
    (f"{A}/y", 406, HTML, b"nothing acceptable"),
    (f"{A}/map", 200, HTML, page("busy")),
    moved("/sitemap.xml", f"{A}/other-sitemap.xml"),
    (f"{A}/other-sitemap.xml", 200, {"Content-Type": "application/xml"},
     b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
     b"<url><loc>http://a.example/listed</loc></url></urlset>"),
    (f"{A}/listed", 200, HTML, page("listed.ttl")),
    rdf("/listed.ttl"),
]  # fmt: skip

LEADS = {"SEMCRAWL_SIGNPOSTING": True, "SEMCRAWL_SITEMAPS": "auto"}
WAY_OPTIONS: list[tuple[Mapping[str, Any], str, int]] = [
    ({}, "/busy", 3),
    ({"RETRY_TIMES": 1}, "/busy", 2),
    ({"RETRY_ENABLED": False}, "/busy", 1),
    ({"RETRY_HTTP_CODES": "500"}, "/busy", 1),
    ({}, "/missing.ttl", 3),
    ({"SEMCRAWL_NEGOTIATION": "never"}, "/missing.ttl", 1),
    ({}, "/film.ttl", 1),
    ({"SEMCRAWL_SIGNPOSTING": False}, "/film.ttl", 0),
    ({}, "/all?page=4", 1),
    ({"SEMCRAWL_MAX_CATALOGUE_PAGES": 2}, "/all?page=4", 0),
    ({"SEMCRAWL_CATALOGUES": False}, "/.well-known/void", 1),
    ({"SEMCRAWL_WELL_KNOWN": []}, "/.well-known/void", 0),
    ({}, "/listed.ttl", 1),
    ({"SEMCRAWL_SITEMAPS": "never"}, "/listed.ttl", 0),
]


def sitemap(*names: str, index: bool = False) -> bytes:
    root, each = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    listed = "".join(f"<{each}><loc>{A}{name}</loc></{each}>" for name in names)
    return f"<{root} xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{listed}</{root}>".encode()


XML, PLAIN = {"Content-Type": "application/xml"}, {"Content-Type": "text/plain"}
#: a site whose sitemaps, of which one redirects, list hundreds of addresses of three shapes
LISTS = [
    (f"{A}/robots.txt", 200, PLAIN, f"Sitemap: {A}/one\nSitemap: {A}/two\n".encode()),
    (f"{A}/", 200, HTML, page(*(f"page/{n}" for n in range(15)))),
    *((f"{A}/page/{n}", 200, HTML, page(f"../set/{n}.ttl" if n % 3 else "nothing"))
      for n in range(15)),
    moved("/one", f"{A}/one/list"),
    (f"{A}/one/list", 200, XML, sitemap(*(f"/set/{n}.ttl" for n in range(70)),
                                        *(f"/news/{n}" for n in range(60)))),
    (f"{A}/two", 200, XML, sitemap("/three", "/four", index=True)),
    (f"{A}/three", 200, XML, sitemap(*(f"/about/{n}" for n in range(30)))),
    (f"{A}/four", 404, HTML, b"gone"),
    *(rdf(f"/set/{n}.ttl") for n in range(0, 70, 2)),
    *((f"{A}/news/{n}", 200, HTML, page()) for n in range(20)),
    *((f"{A}/about/{n}", 200, HTML, page()) for n in range(20)),
]  # fmt: skip

LIST_OPTIONS: list[tuple[Mapping[str, Any], str, int]] = [
    ({}, "/set/68.ttl", 1),
    ({"SEMCRAWL_SITEMAPS": "only"}, "/page/7", 0),
]


def run_both(
    world: RecordedWorld, options: Mapping[str, Any], name: str, *, follow_rdf: bool = False
) -> Run:
    graph: LinkGraph = graph_of(world, options, None, follow_rdf=follow_rdf)
    return hold_against_each_other(graph, name, 200)


def recorded(factory: pytest.TempPathFactory, site: list[Any]) -> RecordedWorld:
    pytest.importorskip("warcio")
    path = factory.mktemp("site") / "x.warc"
    record(path, site)
    return RecordedWorld.load([path])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> RecordedWorld:
    return recorded(tmp_path_factory, SITE)


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> RecordedWorld:
    return recorded(tmp_path_factory, LISTS)


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> RecordedWorld:
    return recorded(tmp_path_factory, WAYS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "address", "times"), LIST_OPTIONS, ids=lambda each: str(each)[:40]
)
def test_they_do_so_on_sitemaps(
    lists: RecordedWorld, options: Mapping[str, Any], address: str, times: int
) -> None:
    run = run_both(lists, {**LEADS, **options}, "breadth-first")
    assert run.order.count(A + address) == times


@pytest.mark.slow
def test_they_do_so_on_sitemaps_with_a_strategy_that_learns(lists: RecordedWorld) -> None:
    run_both(lists, LEADS, "learned")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "address", "times"), WAY_OPTIONS, ids=lambda each: str(each)[:40]
)
def test_they_do_so_on_ways_besides_links(
    ways: RecordedWorld, options: Mapping[str, Any], address: str, times: int
) -> None:
    run = run_both(ways, {**LEADS, **options}, "breadth-first", follow_rdf=True)
    assert run.order.count(A + address) == times


@pytest.mark.slow
@pytest.mark.parametrize(("options", "address", "asked"), OPTIONS, ids=lambda each: str(each)[:40])
def test_a_crawl_and_its_simulation_ask_for_the_same(
    world: RecordedWorld, options: Mapping[str, Any], address: str, asked: bool
) -> None:
    run = run_both(world, options, "breadth-first")
    assert (A + address in run.order) == asked


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["learned", "rules-parents", "pagerank"])
def test_they_do_so_with_every_kind_of_strategy(world: RecordedWorld, strategy: str) -> None:
    run_both(world, {}, strategy)
