"""Distinct statements per request on recorded sites, with the topic `new` and without.

    topic_new.py SITES.json… [--requests N,…] [--seeds N] [--only SITE,…]

A row per site: the distinct statements that `learned` had read after so many requests, per request,
with `--about new` / without it. Means over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from semcrawl.config.targets import Targets
from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.judgement import Aim, judge_by
from semcrawl.evaluation.simulate import Run, simulate
from semcrawl.evaluation.sitelist import load_sites
from semcrawl.evaluation.world import World
from semcrawl.relevance import load_strategy
from semcrawl.topics import about

MAX_LINKS = 10_000


def statements(world: World, steps: Sequence[int], seed: int, *, new: bool) -> list[int]:
    """Return the distinct statements after each number of requests."""
    settings: dict[str, object] = {"SEMCRAWL_RANDOM_SEED": seed}
    graph, aim = LinkGraph(world, MAX_LINKS), None
    if new:
        settings["SEMCRAWL_ABOUT"] = "new"
        topic = about("new", settings)
        assert topic is not None
        # what is new hangs on the order: each document is judged when it is asked for
        aim = Aim(judge_by(topic), 0.5, Targets())
        graph = LinkGraph(world, MAX_LINKS, aim.judge)
    had: list[int] = []

    def note(run: Run) -> None:
        had.append(run.statements)

    simulate(graph, load_strategy("learned", settings), steps[-1], seed, aim=aim, progress=note)
    return [had[min(step, len(had)) - 1] for step in steps]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("sites", type=Path, nargs="+", help="lists of recorded sites")
    parser.add_argument("--requests", default="50,100,200,400")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="sites, with commas between")
    args = parser.parse_args()
    steps = sorted(map(int, args.requests.split(",")))
    only = set(filter(None, args.only.split(",")))
    print("| site |" + "".join(f" {step} |" for step in steps))
    print("|---" * (len(steps) + 1) + "|")
    for world in (each for file in args.sites for each in load_sites(file)):
        if only and world.name not in only:
            continue
        told, untold = (
            [statements(world, steps, seed, new=new) for seed in range(args.seeds)]
            for new in (True, False)
        )
        row = f"| {world.name} |"
        for n, step in enumerate(steps):
            one, other = (fmean(run[n] for run in runs) / step for runs in (told, untold))
            row += f" {one:.1f} / {other:.1f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
