"""Requests per second of the offline simulator, by strategy, side by side.

python benchmarks/simulator.py

The first column is a strategy that does nothing, so that the others show what they cost.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import THESIS_SETTINGS
from semcrawl.lab.thesis import thesis_worlds
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Ranked, load_strategy, strategies
from semcrawl.relevance.strategy import Strategy


class Nothing(Strategy):
    """One group, first in, first out."""

    name = "nothing"

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Put all links into one group."""
        return [Ranked(link, Label.H, "all") for link in links]


def main() -> None:
    graphs = [LinkGraph(world, max_links=500) for world in thesis_worlds()]
    for graph in graphs:  # pages are parsed before the clock runs
        simulate(graph, Nothing(), 10_000)
    base = 0.0
    for name in ("nothing", *strategies()):
        requests = seconds = 0.0
        for graph in graphs:
            strategy = Nothing() if name == "nothing" else load_strategy(name, THESIS_SETTINGS)
            started = time.perf_counter()
            requests += simulate(graph, strategy, 2000).requests
            seconds += time.perf_counter() - started
        rate = requests / seconds
        base = base or rate
        print(f"{name:18} {rate:9,.0f} requests/s   {rate / base:5.2f} of doing nothing")


if __name__ == "__main__":
    main()
