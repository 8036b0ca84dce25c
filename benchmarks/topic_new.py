"""Distinct statements per request on recorded sites, with the topic `new` and without.

    topic_new.py SITES.json… [--requests N,…] [--seeds N] [--starts N] [--only SITE,…]

A row per site: the distinct statements that `learned` had read after so many requests, per request,
with `--about new` / without it; and the geometric mean of their ratio over seeds and starts. Starts
are that of the site and N of its pages, chosen by chance, that lead to most of its RDF.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

from semcrawl.config.targets import Targets
from semcrawl.lab.graph import Aim, LinkGraph, Node, map_site
from semcrawl.lab.simulator import Run, simulate
from semcrawl.lab.worlds import World
from semcrawl.lab.worldsets import load_sites
from semcrawl.relevance import load_strategy
from semcrawl.topics.contract import TopicOptions
from semcrawl.topics.novelty import New
from semcrawl.web.vocabulary import Kind

MAX_LINKS = 10_000
#: a start has to lead to this share of the site's RDF
_MOST = 0.6


class Elsewhere:
    """A world that is begun with at another page."""

    def __init__(self, world: World, start: str) -> None:
        self._world = world
        self.starts = (start,)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)


class NewGraph(LinkGraph):
    """A site's graph in one crawl for what is new: each document is judged when it is asked for."""

    def __init__(self, plain: LinkGraph, world: World | Elsewhere) -> None:
        super().__init__(world, MAX_LINKS)
        self._plain = plain
        self._seen: dict[tuple[str, bool], Node] = {}
        self._topic = New.from_argument("", TopicOptions())

    def look(self, url: str, rdf_first: bool = False) -> Node:
        """Answer and links of a URL, judged when it is first asked for."""
        seen = self._seen.get((url, rdf_first))
        if seen is None:
            seen = self._plain.look(url, rdf_first)
            if seen.answer.kind in (Kind.RDF, Kind.HTML):
                judged = self._topic.judge_hashes(url, seen.statements)
                if judged.deciding:
                    judged.keep()
                seen = replace(seen, judged=judged)
            self._seen[url, rdf_first] = seen
        return seen


def statements(graph: LinkGraph, steps: Sequence[int], seed: int, *, new: bool) -> list[int]:
    """Return the distinct statements after each number of requests."""
    settings: dict[str, object] = {"SEMCRAWL_RANDOM_SEED": seed}
    aim = None
    if new:
        settings["SEMCRAWL_ABOUT"] = "new"
        aim = Aim(New.from_argument("", TopicOptions()), 0.5, Targets())
    had: list[int] = []

    def note(run: Run) -> None:
        had.append(run.statements)

    simulate(graph, load_strategy("learned", settings), steps[-1], seed, aim=aim, progress=note)
    return [had[min(step, len(had)) - 1] for step in steps]


def starts_of(graph: LinkGraph, number: int) -> list[str]:
    """Return so many pages of a site that lead to most of its RDF."""
    everything = len(map_site(graph).target_depth)
    pages = sorted(url for url, node in graph._nodes.items() if node.answer.kind is Kind.HTML)
    random.Random(5).shuffle(pages)
    found: list[str] = []
    for page in pages:
        if len(found) == number:
            break
        if len(map_site(begun_at(graph, page)).target_depth) >= _MOST * everything:
            found.append(page)
    return found


def begun_at(graph: LinkGraph, start: str) -> LinkGraph:
    """Return the graph of the same site with another start; pages that were read are shared."""
    moved = LinkGraph(Elsewhere(graph.world, start), MAX_LINKS)
    moved._nodes = graph._nodes
    return moved


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("sites", type=Path, nargs="+", help="lists of recorded sites")
    parser.add_argument("--requests", default="50,100,200,400")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--starts", type=int, default=0, help="further starts")
    parser.add_argument("--only", default="", help="sites, with commas between")
    args = parser.parse_args()
    steps = sorted(map(int, args.requests.split(",")))
    only = set(filter(None, args.only.split(",")))
    print("| site |" + "".join(f" {step} | |" for step in steps))
    print("|---" * (2 * len(steps) + 1) + "|")
    for world in (each for file in args.sites for each in load_sites(file)):
        if only and world.name not in only:
            continue
        site = LinkGraph(world, MAX_LINKS)
        graphs = [site, *(begun_at(site, start) for start in starts_of(site, args.starts))]
        pairs = [
            (
                statements(NewGraph(graph, graph.world), steps, seed, new=True),
                statements(graph, steps, seed, new=False),
            )
            for graph in graphs
            for seed in range(args.seeds)
        ]
        row = f"| {world.name} |"
        for n, step in enumerate(steps):
            one, other = (fmean(pair[which][n] for pair in pairs) / step for which in (0, 1))
            ratio = exp(fmean(log((told[n] + 1) / (untold[n] + 1)) for told, untold in pairs))
            row += f" {one:.1f} / {other:.1f} | {ratio:.2f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
