"""Spiders and simulator ask for the same, in the same order, for every option that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from semcrawl.evaluation._studygraphs import graph_of
from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.recording import RecordedWorld
from semcrawl.evaluation.run import Run
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


def run_both(world: RecordedWorld, options: Mapping[str, Any], name: str) -> Run:
    graph: LinkGraph = graph_of(world, options, None, follow_rdf=False)
    return hold_against_each_other(graph, name, 200)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> RecordedWorld:
    pytest.importorskip("warcio")
    path = tmp_path_factory.mktemp("site") / "x.warc"
    record(path, SITE)
    return RecordedWorld.load([path])


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
