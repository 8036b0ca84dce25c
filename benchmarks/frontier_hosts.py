"""Cost of a take at few and many hosts, groups and workers.

    python benchmarks/frontier_hosts.py [--hosts 10 1000 100000] [--redis URL]

For each number of hosts the same number of links waits, spread over groups in four ways:

* one: a single group on all hosts
* depth: ten groups on all hosts
* shapes: twenty groups of each host's own, all of one value
* polite: as "depth", with a crawl delay, so that each take makes a host wait
* single: all links on one host, in as many groups as there would be hosts

The cost is the processor time of the server, its append-only file included; ratios compare with
the first number of hosts.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from frontier_size import QUEUES, server_time
from rich.console import Console
from rich.table import Table

from semcrawl.frontier import Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.redis.connection import connect
from semcrawl.frontier.redis.localserver import RedisServer

LINKS = 200_000
ROUNDS = 20
TAKES = 100

GROUPS: dict[str, Callable[[int, int], str]] = {
    "one": lambda link, host: "all",
    "depth": lambda link, host: f"depth {link % 10}",
    "shapes": lambda link, host: f"shape {link % 20} of {host}",
    "polite": lambda link, host: f"depth {link % 10}",
    "single": lambda link, host: f"group {host}",
}


async def measure(address: str, kind: str, hosts: int) -> float:
    """Microseconds of the server per link taken, released and done: median over rounds."""
    redis = connect(address, timeout=600)
    delay = 3600.0 if kind == "polite" else 0.0
    options = FrontierOptions(delay=delay, concurrency=1000)
    prefix = f"bench{random.randrange(1 << 40)}"
    frontier = RedisFrontier(address, prefix=prefix, worker_id="bench", options=options)
    costs = []
    async with frontier:
        await frontier.set_values({f"depth {n}": -float(n) for n in range(10)})
        batch = []
        for n in range(LINKS):
            spread = n * 7919 % hosts
            host = "h.example" if kind == "single" else f"h{spread}.example"
            url = f"http://{host}/some/page/or/other/{n}"
            batch.append(Entry(url, host, "html", GROUPS[kind](n // hosts, spread)))
            if len(batch) == 1000:
                await frontier.add(batch)
                batch = []
        for _ in range(ROUNDS):
            before, taken = await server_time(redis), 0
            while taken < TAKES:
                leases = await frontier.take(4, QUEUES)
                await frontier.release(leases)
                await frontier.end(leases)
                if not leases:
                    break
                taken += len(leases)
            if taken:
                costs.append((await server_time(redis) - before) / taken * 1e6)
    await redis.flushdb()
    await redis.aclose()
    return median(costs)


async def measure_all(address: str, numbers: list[int]) -> Table:
    """Measure each way at each number of hosts."""
    table = Table("groups", *(f"{n:,} hosts" for n in numbers), title="µs per link taken (ratio)")
    for kind in GROUPS:
        costs = [await measure(address, kind, n) for n in numbers]
        cells = [f"{cost:.0f} ({cost / costs[0]:.2f})" for cost in costs]
        table.add_row(kind, *cells)
    return table


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--hosts", type=int, nargs="+", default=[10, 1_000, 100_000])
    parser.add_argument("--redis", help="address of a server whose database may be emptied")
    args = parser.parse_args()
    with ExitStack() as stack:
        address = args.redis
        if not address:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            address = str(stack.enter_context(RedisServer(Path(folder))).socket)
        Console(width=120).print(asyncio.run(measure_all(address, args.hosts)))


if __name__ == "__main__":
    main()
