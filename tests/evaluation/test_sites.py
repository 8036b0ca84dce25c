"""Agreement with the outside scorer, on the same crawls of real sites."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from semcrawl.lab.graph import LinkGraph, map_site
from semcrawl.lab.metrics import area_budget, auc, auc_relative
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import omniscient
from semcrawl.lab.worldsets import load_sites
from semcrawl.relevance import load_strategy

SHARED = Path(__file__).parents[3] / "shared"
SITES = SHARED / "sites" / "sites.json"

pytestmark = [
    pytest.mark.sites,
    pytest.mark.skipif(not SITES.is_file(), reason="../shared/sites is not there"),
]


def load_module(name):
    spec = importlib.util.spec_from_file_location(name, SHARED / "bench" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_area_and_found_are_those_of_the_outside_scorer(number, tmp_path):
    replay, score = load_module("replay"), load_module("score")
    world = load_sites(SITES)[number]
    site = replay.load(str(SITES))[number]
    server = replay.Replay([site], None, 0)
    start, adjacent, _, rdf = score.graph(site, server)
    graph = LinkGraph(world, max_links=10_000)
    mine = map_site(graph)
    assert (len(mine.pages), len(mine.target_depth)) == (len(adjacent), len(rdf))
    budget = area_budget(mine, 2000)
    bound, theirs = omniscient(mine, budget), score.greedy(start, adjacent, budget)
    # ties in the outside greedy crawler are broken by chance
    assert auc(bound, budget) == pytest.approx(sum(theirs), rel=0.002)

    for name in ("breadth-first", "rules-parents"):
        run = simulate(graph, load_strategy(name, {}), 2000)
        log = tmp_path / f"{name}.jsonl"
        with log.open("w") as file:
            for fetch in run.fetches:
                host, _, path = fetch.url.partition("://")[2].partition("/")
                path = "/" + path.partition("?")[0]
                status, _, _, kind, served = server.answer(host, path)
                assert status == fetch.status
                line = {"host": host, "path": path, "status": status, "kind": kind}
                line |= {"file": served, "m": "GET", "cut": False}
                file.write(json.dumps(line) + "\n")
        curve, requests, found, _ = score.read(str(log), site.hosts(), site, budget)
        assert (requests, found) == (run.requests, run.found)
        assert sum(curve) == auc(run.curve, budget)
        assert auc_relative(run.curve, bound, budget) == pytest.approx(
            sum(curve) / sum(theirs), rel=0.002
        )
