"""How well the strategy `learned` orders a crawl.

    learned_order.py [--sites SITES.json] [--kinds KIND,…] [--seeds N] [--table NAME,…]

Tables: `strategies`, `ablations`, `flight` (1, 8, 16 requests in flight), `workers` (1, 2, 4
workers with 16 in flight), `warm` (weights of all other worlds), `traps` (share of requests spent
in endless parts). Every figure is the area under targets(requests) as a share of a crawler's
that knows the site; medians over seeds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from learned_crawl import Result, Trial, crawl
from made_sites import KINDS, MixedWorld, make

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.worldsets import load_sites
from semcrawl.relevance import load_strategy
from semcrawl.relevance.learned import FEATURE_FAMILIES, Learned, LearnedOptions

RIVALS = ("breadth-first", "rules", "rules-parents", "association-rules", "url-distance", "learned")
Run = Callable[[Trial, int], Result]


def learned(workers: int = 1, in_flight: int = 8, **options: object) -> Run:
    """Crawl with `learned`, so made."""

    def run(trial: Trial, seed: int) -> Result:
        made = [Learned(LearnedOptions(seed=seed, **options)) for _ in range(workers)]
        if workers > 1:
            for each in made:
                each.keep_in_step()
        return crawl(trial, made, in_flight)

    return run


def rival(name: str) -> Run:
    """Crawl with a strategy by name."""
    return lambda trial, seed: crawl(
        trial, [load_strategy(name, {"SEMCRAWL_RANDOM_SEED": seed})], 8
    )


def table(trials: Sequence[Trial], columns: dict[str, Run], seeds: int) -> None:
    """Print a row per world and a column per way of crawling, all in this run."""
    print(f"{'':26s}" + "".join(f"{name:>14s}" for name in columns))
    sums: dict[str, list[float]] = {name: [] for name in columns}
    for trial in trials:
        row = f"{trial.name:16s}{trial.pages:5d}{trial.targets:5d}"
        for name, run in columns.items():
            areas = [run(trial, seed).area for seed in range(seeds)]
            sums[name].append(statistics.median(areas))
            row += f"{statistics.median(areas):9.3f}±{max(areas) - min(areas):.2f}"
        print(row, flush=True)
    for what, of in (("mean", statistics.mean), ("worst", min)):
        print(f"{what:26s}" + "".join(f"{of(sums[name]):14.3f}" for name in columns))


def ablations() -> dict[str, Run]:
    """The model whole, and without each of its parts."""
    parts: dict[str, Run] = {"whole": learned()}
    for switch in ("prior", "backups", "exploration"):
        parts[f"no {switch}"] = learned(**{f"use_{switch}": False})
    parts["no twins"] = learned(twin_penalty=0.0)
    parts["no restraint"] = learned(ramp=0.0)
    for family in sorted(FEATURE_FAMILIES):
        parts[f"no {family}"] = learned(families=FEATURE_FAMILIES - {family})
    return parts


def warm(trials: Sequence[Trial]) -> dict[str, Run]:
    """Cold, and started from what was learned on all other worlds in turn (never its own kind)."""
    states = {trial.name: learned_elsewhere(trial, trials) for trial in trials}

    def run(trial: Trial, seed: int) -> Result:
        strategy = Learned(LearnedOptions(seed=seed))
        if state := states[trial.name]:
            strategy.load_model(state)
        return crawl(trial, [strategy], 8)

    return {"cold": learned(), "warm": run}


def learned_elsewhere(trial: Trial, trials: Sequence[Trial]) -> bytes:
    """Crawl the worlds of other kinds, each with the weights that the one before left."""
    kind, state = trial.name.partition(".")[0], b""
    for other in trials:
        if other.name.partition(".")[0] != kind:
            strategy = Learned()
            if state:
                strategy.load_model(state)
            crawl(other, [strategy], 1)
            state = strategy.dump_state()
    return state


def traps(seeds: int) -> None:
    """Print the share of 2,000 requests that went into endless parts, other sites beside them."""
    for seed in range(seeds):
        kinds = ("traps", "needle", "wiki", "portal")
        sites = [make(kind, seed, f"{kind}.example") for kind in kinds]
        finite = [make(kind, seed, f"{kind}.example") for kind in kinds]
        for site in finite:
            site.endless = None
        world, ends = MixedWorld(f"mixed.{seed}", sites), MixedWorld("finite", finite)
        trial = Trial(LinkGraph(world), 2000, LinkGraph(ends))
        done = crawl(trial, [Learned(LearnedOptions(seed=seed))], 8)
        shares = [
            f"{part} {sum(f'//traps.example/{part}' in url for url in done.requests) / 2000:.1%}"
            for part in ("calendar", "shop", "forum")
        ]
        print(f"{world.name}: area {done.area:.3f}, found {done.found} of {trial.targets}")
        print(f"  {', '.join(shares)}")


def trial_of(kind: str, seed: int, budget: int = 0) -> Trial:
    """A made world; the bound of an endless one is taken of its finite part."""
    finite = make(kind, seed)
    finite.endless = None
    return Trial(LinkGraph(make(kind, seed)), budget, LinkGraph(finite))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--sites", type=Path)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--world-seeds", default="0,2")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", default="strategies")
    args = parser.parse_args()
    worlds = list(load_sites(args.sites)) if args.sites else []
    made = [(k, int(s)) for k in args.kinds.split(",") if k for s in args.world_seeds.split(",")]
    trials = [Trial(LinkGraph(world)) for world in worlds]
    trials += [trial_of(kind, seed) for kind, seed in made]
    tables: dict[str, Callable[[], dict[str, Run]]] = {
        "strategies": lambda: {name: rival(name) for name in RIVALS},
        "ablations": ablations,
        "flight": lambda: {f"{n} in flight": learned(in_flight=n) for n in (1, 8, 16)},
        "workers": lambda: {f"{n} workers": learned(n, in_flight=16) for n in (1, 2, 4)},
        "warm": lambda: warm(trials),
    }
    chosen = args.table.split(",")
    if not {*tables, "traps"}.issuperset(chosen):
        sys.exit(f"no such table; there are: {', '.join(tables)}, traps")
    for name in chosen:
        if name == "traps":
            traps(args.seeds)
        else:
            table(trials, tables[name](), args.seeds)


if __name__ == "__main__":
    main()
