"""How well `learned` finds the RDF about a topic on recorded sites.

    topic_sites.py SITES.json… [--topics FILE.toml] [--kinds vocabulary,shape] [--seeds N]

A row per site and topic: the documents of RDF that fit, of all that can be reached, and the
relative area of a crawl with the topic and of one that does not know it. Targets of both are the
documents that fit. The bound is a crawler that knows them. Means over seeds; of a site with several
topics the mean of these counts.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from semcrawl.lab.graph import Aim, IsTarget, LinkGraph, Node, is_rdf, map_site
from semcrawl.lab.metrics import area_budget, auc_relative
from semcrawl.lab.simulator import Run, simulate
from semcrawl.lab.study import omniscient
from semcrawl.lab.worlds import World
from semcrawl.lab.worldsets import load_sites
from semcrawl.relevance import load_strategy

TOPICS = Path(__file__).with_name("site_topics.toml")
#: links of a page, as in a crawl
MAX_LINKS = 10_000


def about(kind: str, text: str, folder: Path) -> str:
    """Return the topic; SHACL is put in a file."""
    if kind == "shape" and "ASK" not in text:
        file = folder / f"{abs(hash(text))}.ttl"
        file.write_text(text, "utf-8")
        text = str(file)
    return f"{kind}:{text}"


def curve(run: Run, graph: LinkGraph, fits: IsTarget) -> list[int]:
    """Return how many documents that fit a crawl had after each of its requests."""
    had: set[str] = set()
    found = []
    for fetch in run.fetches:
        node = graph.look(fetch.url)
        if fetch.kind is not None and fits(node):
            had.add(node.answer.document or fetch.url)
        found.append(len(had))
    return found


def measure(world: World, topic: str, pages: int, seeds: int) -> tuple[int, int, float, float]:
    """Return documents that fit, RDF in all, and the area with the topic and without it."""
    told: Mapping[str, object] = {"SEMCRAWL_ABOUT": topic}
    aim = Aim.from_settings(told)
    assert aim is not None
    judged, plain = LinkGraph(world, MAX_LINKS, aim.judge), LinkGraph(world, MAX_LINKS)

    def fits(node: Node) -> bool:
        return is_rdf(node) and aim.reached(node)

    site = map_site(judged, fits)
    everything = len(map_site(plain).target_depth)
    budget = area_budget(site, pages)
    bound = omniscient(site, budget)
    areas: tuple[list[float], list[float]] = [], []
    for seed in range(seeds):
        for graph, goal, settings, into in (
            (judged, aim, told, areas[0]),
            (plain, None, {}, areas[1]),
        ):
            strategy = load_strategy("learned", {**settings, "SEMCRAWL_RANDOM_SEED": seed})
            run = simulate(graph, strategy, pages, seed, aim=goal)
            if run.error:
                raise SystemExit(f"{world.name}: {run.error}")
            into.append(auc_relative(curve(run, judged, fits), bound, budget))
    return len(site.target_depth), everything, fmean(areas[0]), fmean(areas[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("sites", type=Path, nargs="+", help="lists of recorded sites")
    parser.add_argument("--topics", type=Path, default=TOPICS)
    parser.add_argument("--kinds", default="vocabulary,shape")
    parser.add_argument("--only", default="", help="sites, with commas between")
    parser.add_argument("--pages", type=int, default=2000, help="requests at most")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    topics = tomllib.loads(args.topics.read_text("utf-8"))
    only = set(filter(None, args.only.split(",")))
    print("| site | topic | fit | of | with the topic | without |")
    print("|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for kind in args.kinds.split(","):
            sums: list[tuple[float, float]] = []
            for world in (each for file in args.sites for each in load_sites(file)):
                if world.name not in (only or topics):
                    continue
                given, areas = topics[world.name][kind], []
                for text in [given] if isinstance(given, str) else given:
                    topic = about(kind, text, Path(folder))
                    fit, every, *both = measure(world, topic, args.pages, args.seeds)
                    areas.append(both)
                    with_topic, without = both
                    print(
                        f"| {world.name} | {kind} | {fit} | {every} "
                        f"| {with_topic:.3f} | {without:.3f} |",
                        flush=True,
                    )
                told, untold = (fmean(column) for column in zip(*areas, strict=True))
                sums.append((told, untold))
            told, untold = (fmean(column) for column in zip(*sums, strict=True))
            print(f"| mean | {kind} | | | **{told:.3f}** | {untold:.3f} |", flush=True)


if __name__ == "__main__":
    main()
