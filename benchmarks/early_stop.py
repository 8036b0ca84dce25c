"""When `--patience` ends a crawl, and what it misses.

    early_stop.py [--sites SITES.json] [--kinds KIND,…] [--patience N,…] [--seeds N]
                  [--requests N]

A row per site, a column per patience: the requests until the crawl ended (median over seeds), the
targets found (the fewest of any seed), and in brackets how many more the strategy `learned`
expected then (median). The column `never` is the crawl without patience, up to `--requests`.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from learned_crawl import Trial, crawl
from learned_order import trial_of

from semcrawl.crawl.dispatch import Outlook
from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.worldsets import load_sites
from semcrawl.relevance.learned import Learned, LearnedOptions


@dataclass
class End:
    """How a crawl ended."""

    early: bool
    requests: int
    found: int
    expected: float


def end_of(trial: Trial, patience: int, seed: int) -> End:
    """Crawl with 8 requests in flight; a patience of 0 never ends."""
    strategy = Learned(LearnedOptions(seed=seed))
    outlook = Outlook(strategy, patience)
    done = crawl(trial, [strategy], 8, lambda outcome: outlook.note(target=outcome.target))
    expected = strategy.expected_remaining()
    return End(outlook.gave_up, len(done.requests), done.found, expected)


def cell(ends: Sequence[End], patience: int) -> str:
    """A row on the crawls of one site, one for each seed."""
    requests = f"{statistics.median(end.requests for end in ends):.0f}"
    found = min(end.found for end in ends)
    if not patience:
        return f"{requests}: {found}"
    early = [end for end in ends if end.early]
    if not early:
        return "not stopped"
    some = f", stopped {len(early)} of {len(ends)}" if len(early) < len(ends) else ""
    return f"{requests}: {found} ({statistics.median(end.expected for end in ends):.1f}{some})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--sites", type=Path, help="list of recorded sites")
    parser.add_argument("--kinds", default="", help="kinds of made_sites, with commas between")
    parser.add_argument("--patience", default="25,50,100", help="requests, with commas between")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=10_000, help="at most, where it never ends")
    args = parser.parse_args()
    worlds = load_sites(args.sites) if args.sites else ()
    trials = [Trial(LinkGraph(world), args.requests) for world in worlds]
    trials += [trial_of(kind, 0, args.requests) for kind in args.kinds.split(",") if kind]
    patiences = [0, *map(int, args.patience.split(","))]
    print("| site (targets) |" + "".join(f" {n or 'never'} |" for n in patiences))
    print("|---" * (len(patiences) + 1) + "|")
    for trial in trials:
        row = f"| {trial.name} ({trial.targets}) |"
        for patience in patiences:
            ends = [end_of(trial, patience, seed) for seed in range(args.seeds)]
            row += f" {cell(ends, patience)} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
