"""Targets that sitemaps alone lead to, and what sitemaps cost where they lead to none.

python benchmarks/sitemaps.py [--seeds N] [--strategies learned,…] [--sites sites.json] [--live]

First worlds whose sitemaps list 100,000 addresses, 200 of them RDF: the share of these that was had
after 500, 1,000, 1,500 and 2,000 requests. Then, with ``--sites``, the relative areas of sites with
and without their sitemaps.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from made_sites.listed import ListedSite

from semcrawl.lab.graph import LinkGraph, map_site
from semcrawl.lab.live import crawl_live
from semcrawl.lab.metrics import area_budget, auc_relative
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import omniscient
from semcrawl.lab.worldsets import load_sites
from semcrawl.relevance import load_strategy

STEPS = (500, 1000, 1500, 2000)


def listed(strategies: list[str], seeds: int, *, live: bool) -> None:
    """Crawl the worlds of many entries."""
    for seed in range(seeds):
        graph = LinkGraph(ListedSite(seed), max_links=10_000, sitemaps=True)
        for name in strategies:
            started = time.perf_counter()
            if live:
                run = crawl_live(graph, name, STEPS[-1])
            else:
                run = simulate(graph, load_strategy(name, {}), STEPS[-1])
            shares = [run.curve[min(step, len(run.curve)) - 1] / 200 for step in STEPS]
            first = next((i for i, n in enumerate(run.curve, 1) if n), None)
            print(
                f"{graph.world.name} {name:18} first after {first}",
                *(f"{step}: {share:.0%}" for step, share in zip(STEPS, shares, strict=True)),
                f"{time.perf_counter() - started:.0f} s",
                run.error,
                sep="  ",
                flush=True,
            )


def sites(file: Path, strategies: list[str]) -> None:
    """Crawl real sites with and without their sitemaps; the bound is that of the links alone."""
    for world in load_sites(file):
        plain = LinkGraph(world, max_links=10_000)
        site = map_site(plain)
        budget = area_budget(site, 2000)
        bound = omniscient(site, budget)
        with_sitemaps = LinkGraph(world, max_links=10_000, sitemaps=True)
        sitemaps = {url for each in world.starts for url in with_sitemaps.sitemaps_of(each)[0]}
        listed = sum(len(with_sitemaps.look(url).links) for url in sitemaps)
        for name in strategies:
            areas = [
                auc_relative(simulate(graph, load_strategy(name, {}), budget).curve, bound, budget)
                for graph in (plain, with_sitemaps)
            ]
            print(
                f"{world.name:16} {name:18} without {areas[0]:.3f}  with {areas[1]:.3f}",
                f"{listed} entries",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--strategies", default="learned")
    parser.add_argument("--sites", type=Path)
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    strategies = given.strategies.split(",")
    listed(strategies, given.seeds, live=given.live)
    if given.sites:
        sites(given.sites, strategies)


if __name__ == "__main__":
    main()
