"""SPARQL endpoints in a world that was recorded: offline as live, and as the crawl read them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pyoxigraph as ox
import pytest
from harvest.runs import Run, harvest, semcrawl

from semcrawl.config.options import EndpointOptions, LeadOptions, SitemapRules
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.graph import LinkGraph, map_site
from semcrawl.lab.live import crawl_live
from semcrawl.lab.recorded import RecordedWorld
from semcrawl.lab.simulator import Run as Simulated
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import Plan, simulated, study
from semcrawl.lab.worldsets import WorldSet
from semcrawl.pipelines.warcrecords import find_recording
from semcrawl.relevance import load_strategy
from semcrawl.web.vocabulary import FoundBy
from tests.evaluation.test_recording import record
from tests.sources.test_endpoints import BIG, SMALL, Fault, endpoint, triples

pytestmark = pytest.mark.slow

pytest.importorskip("warcio")


def a_store() -> ox.Store:
    store = ox.Store()
    for graph, count in ((BIG, 300), (SMALL, 5)):
        body = triples(graph.rpartition("/")[2], count)
        store.load(body, ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(graph))
    store.load(triples("default", 30), ox.RdfFormat.N_TRIPLES)
    return store


def recorded(folder: Path, fault: Fault, *options: str) -> Run:
    """Harvest an endpoint and keep its answers; the process that gave them is gone then."""
    with endpoint(a_store(), fault) as url:
        run = harvest(
            *("--endpoint", url, "--fast", "--record", "-q", "-s", "SEMCRAWL_ENDPOINT_PAGE=200"),
            *options,
            folder=folder,
        )
    assert run.status == 0, run.err
    return run


def graph_of(run: Run) -> LinkGraph:
    world = RecordedWorld.load(find_recording(run.folder))
    assert [start.partition("+")[0] for start in world.starts] == ["sparql"]
    return LinkGraph(world, 1000, endpoints=EndpointOptions(page=200))


def kept(run: Run) -> set[str]:
    return {row["url"] for row in run.records if row["outcome"] == "fetched-rdf"}


def found(run: Simulated) -> set[str]:
    return {fetch.url for fetch in run.fetches if fetch.kept}


def at_most(rows: int) -> Fault:
    """Return what cuts answers off, as servers do that have a limit."""

    def fault(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
        if not query.startswith("CONSTRUCT"):
            return None
        results = store.query(query)
        assert isinstance(results, ox.QueryTriples)
        lines = ox.serialize(results, format=ox.RdfFormat.N_TRIPLES).splitlines(keepends=True)
        return 200, "application/n-triples", b"".join(lines[:rows])

    return fault


def cannot_count(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
    return (500, "text/plain", b"") if "COUNT" in query else None


def is_sound(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
    return None


@pytest.mark.parametrize("fault", [is_sound, at_most(120), cannot_count])
@pytest.mark.parametrize("name", ["breadth-first", "learned"])
def test_live_and_offline_read_an_endpoint_as_the_crawl_did(
    tmp_path: Path, fault: Fault, name: str
) -> None:
    harvested = recorded(tmp_path / "job", fault)
    graph = graph_of(harvested)
    offline = simulate(graph, load_strategy(name, {"SEMCRAWL_RANDOM_SEED": 0}), 1000)
    live = crawl_live(graph, name, 1000)
    assert offline.error == ""
    assert found(offline) == kept(harvested)
    assert live.order == offline.order
    assert live.curve == offline.curve
    assert [one.found_by for one in live.fetches] == [one.found_by for one in offline.fetches]
    assert len(map_site(graph).target_depth) == offline.found > 5


def test_a_query_that_was_not_answered_in_time_is_asked_for_in_parts_again(tmp_path: Path) -> None:
    """Nothing is recorded of such a query but its outcome."""
    closing = threading.Event()

    def sleeps(query: str, store: ox.Store) -> tuple[int, str, bytes] | None:
        if query.startswith("CONSTRUCT") and len(list(store.query(query))) > 150:
            closing.wait(30)
        return None

    harvested = recorded(tmp_path / "job", sleeps, "bound:config.options:EndpointOptions.timeout=1")
    closing.set()
    assert "timeout" in {row["outcome"] for row in harvested.records}
    graph = graph_of(harvested)
    offline = simulate(graph, load_strategy("breadth-first", {}), 1000)
    assert found(offline) == kept(harvested)
    assert crawl_live(graph, "breadth-first", 1000).order == offline.order


def test_the_demo_s_endpoint_is_begun_where_a_document_names_it(tmp_path: Path) -> None:
    asks = ("-s", "SEMCRAWL_ENDPOINTS=found")
    with serve(DemoWeb(crawl_delay=0)) as server:
        run = harvest(
            *(DemoWeb.start, "--fast", "--record", *asks),
            folder=tmp_path / "job",
            proxy=server.proxy_url,
            guesses=True,
        )
    run.is_calm()
    announced = DemoWeb().manifest().announced[FoundBy.ENDPOINT]
    assert announced <= kept(run)
    world = RecordedWorld.load(find_recording(run.folder))
    assert world.starts == (DemoWeb.start,)
    for follow_rdf in (True, False):
        graph = LinkGraph(
            *(world, 10_000),
            sitemaps=SitemapRules(),
            leads=LeadOptions(),
            follow_rdf=follow_rdf,
            endpoints=EndpointOptions("found"),
        )
        offline = simulate(graph, load_strategy("breadth-first", {}), 5000)
        live = crawl_live(graph, "breadth-first", 5000)
        for crawl in (offline, live):
            ways = {one.url for one in crawl.fetches if one.found_by is FoundBy.ENDPOINT}
            assert announced == ways & found(crawl)
        places = [
            [at for at, one in enumerate(crawl.fetches) if one.found_by is FoundBy.ENDPOINT]
            for crawl in (offline, live)
        ]
        assert places[0] == places[1]
        assert offline.found == live.found == len(map_site(graph).target_depth)
    named = LinkGraph(world, 10_000, sitemaps=SitemapRules(), leads=LeadOptions(), follow_rdf=True)
    unasked = simulate(named, load_strategy("breadth-first", {}), 5000)
    assert not {one.url for one in unasked.fetches} & announced


def test_evaluate_reads_the_endpoint_of_a_recorded_job(tmp_path: Path) -> None:
    harvested = recorded(tmp_path / "job", is_sound)
    arguments = ("evaluate", str(harvested.folder), "--strategies", "breadth-first")
    for mode in ((), ("--live",)):
        out = tmp_path / f"out{len(mode)}"
        run = semcrawl(
            *(*arguments, *mode, "-s", "SEMCRAWL_ENDPOINT_PAGE=200", "--out", str(out)), folder=out
        )
        assert run.status == 0, run.err
        (world,) = json.loads((out / "results.json").read_text())["sets"][0]["worlds"]
        figures = world["strategies"]["breadth-first"]
        assert figures["found"]["mean"] == len(kept(harvested)) == world["targets"]
        assert figures["found_by"] == {"endpoint": len(kept(harvested))}
    out = tmp_path / "none"
    never = semcrawl(*arguments, *("-s", "SEMCRAWL_ENDPOINTS=never", "--out", str(out)), folder=out)
    assert never.status == 1
    assert "SEMCRAWL_ENDPOINTS is never" in never.err


def test_evaluate_follows_the_links_of_rdf_where_it_is_asked_to(tmp_path: Path) -> None:
    more = "<urn:s> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <http://a.example/more> ."
    turtle = {"Content-Type": "text/turtle"}
    responses = [
        ("http://a.example/", 200, turtle, more.encode()),
        ("http://a.example/more", 200, turtle, b"<urn:a> <urn:b> <urn:c> ."),
    ]
    record(tmp_path / "x.warc", responses)
    for follow_rdf, count in ((True, 2), (False, 1)):
        world = RecordedWorld.load([tmp_path / "x.warc"])
        plan = Plan(["breadth-first"], follow_rdf=follow_rdf)
        (result,) = study([WorldSet("set", [world])], plan, simulated(load_strategy, plan, print))
        assert result.worlds[0].trials["breadth-first"][0].found == count
