"""Whole crawls with `learned` by one worker and by several: what sharing costs the order.

    learned_workers.py --sites SITES.json [--workers 1,2,4] [--shards 1] [--repeat N]
                       [--latency SECONDS] [--only NAME,…]

Real crawls: so many processes `semcrawl crawl html` on one Redis, or with ``--shards 1,3`` also on
several, a shard on each, 16 requests in flight in all, against a server on loopback that answers
after the latency. A row per site: the area under targets(requests) as a share of that of a crawler
that knows the site, by the server's log; median of the repetitions ± half their spread.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from learned_crawl import Trial
from rich.console import Console
from rich.table import Table

from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.graph import LinkGraph, is_rdf
from semcrawl.lab.live import LIVE_SETTINGS, run_of, spider_command, spider_environment
from semcrawl.lab.metrics import auc_relative
from semcrawl.lab.serve import WorldServer
from semcrawl.lab.worldsets import load_sites

IN_FLIGHT = 16
#: seconds until a crawl counts as hanging
PATIENCE = 600


def crawl(trial: Trial, workers: int, shards: int, seed: int, latency: float) -> float:
    """Crawl a site to its end; return the area."""
    world = trial.graph.world
    with (
        tempfile.TemporaryDirectory() as name,
        WorldServer(world, latency) as server,
        ExitStack() as stack,
    ):
        folders = [Path(name) / f"redis-{number}" for number in range(shards)]
        servers = [stack.enter_context(RedisServer(folder)) for folder in folders]
        settings = LIVE_SETTINGS | {
            "CONCURRENT_REQUESTS": IN_FLIGHT // workers,
            "SEMCRAWL_CONCURRENCY_PER_HOST": IN_FLIGHT,
            "SEMCRAWL_RANDOM_SEED": seed,
            "SEMCRAWL_CRAWL_NAME": "workers",
            "REDIS_URL": ",".join(f"unix://{redis.socket}" for redis in servers),
        }
        processes = []
        for number in range(workers):
            job = Path(name) / str(number)
            job.mkdir()
            line = spider_command(world, settings | {"SEMCRAWL_JOBDIR": job})
            environment = spider_environment(server.address)
            processes.append(
                subprocess.Popen(line, cwd=job, env=environment, stdout=subprocess.DEVNULL)
            )
        try:
            for process in processes:
                if process.wait(PATIENCE):
                    raise SystemExit(f"a worker on {trial.name} ended with {process.returncode}")
        finally:
            for process in processes:
                process.kill()
        asked = [one for one in server.log if not one.robots]
        run = run_of(trial.graph, "learned", seed, asked, [], is_rdf)
        return auc_relative(run.curve, trial.bound, trial.budget)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--sites", type=Path, required=True)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--shards", default="1")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    counts = [
        (int(workers), int(shards))
        for workers in args.workers.split(",")
        for shards in args.shards.split(",")
    ]
    only = set(filter(None, args.only.split(",")))
    worlds = [world for world in load_sites(args.sites) if not only or world.name in only]
    trials = [Trial(LinkGraph(world)) for world in worlds]
    names = [
        f"{workers} worker{'s'[: workers - 1]}" + (f", {shards} shards" if shards > 1 else "")
        for workers, shards in counts
    ]
    table = Table("site", *names)
    medians: list[list[float]] = []
    for trial in trials:
        # the counts take turns, so that all have the machine's good and bad hours
        rounds = [
            [crawl(trial, *count, seed, args.latency) for count in counts]
            for seed in range(args.repeat)
        ]
        columns = list(zip(*rounds, strict=True))
        medians.append([statistics.median(column) for column in columns])
        cells = [f"{statistics.median(c):.3f} ± {(max(c) - min(c)) / 2:.3f}" for c in columns]
        table.add_row(trial.name, *cells)
        print(trial.name, *cells, file=sys.stderr, flush=True)
    table.add_row("mean", *(f"{statistics.mean(c):.3f}" for c in zip(*medians, strict=True)))
    Console().print(table)


if __name__ == "__main__":
    main()
