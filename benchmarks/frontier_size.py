"""Adds and takes per second, and bytes per URL, of small and large frontiers.

    python benchmarks/frontier_size.py [--sizes 10000 100000 1000000] [--server redis-server]

Fills a frontier of each size, on a server of its own, page by page (30 links each); then adds and
takes some more, the sizes in turn, round by round (medians of all rounds): so what else the machine
does meets all of them. "server" is the processor time of the server, its append-only file
included: what bounds all workers together. Ratios compare with the first size.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import repeat
from pathlib import Path
from statistics import median

from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from semcrawl.frontier import EmbeddedRedis, Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.server import connect

LINKS = 30
QUEUES = ["html"]


def pages(hosts: int, seed: int) -> Iterator[list[Entry]]:
    """Pages of links as the rule-based strategy groups them: R and HR global, H by path shape."""
    rng = random.Random(seed)
    number = seed * 1_000_000_000
    while True:
        host = f"www.host{rng.randrange(hosts):06}.example"
        section = rng.randrange(5)
        parent = f"http://{host}/section{rng.randrange(5)}/index-{rng.randrange(100_000):05}.html"
        entries = []
        for position in range(LINKS):
            number += 1
            section = rng.randrange(5)
            url = f"http://{host}/section{section}/some-page-or-other-{number:012}.html"
            draw = rng.random()
            label = "R" if draw < 0.03 else "HR" if draw < 0.2 else "H"
            group = label if label != "H" else f"H {host} /section{section}/*"
            payload = {"d": 3, "p": parent, "r": "pa1"[: position % 4]}
            entries.append(Entry(url, host, "html", group, 0.0, payload, label))
        yield entries


async def server_time(redis: Redis) -> float:
    """Seconds of processor time that the server's only working thread has taken so far."""
    stats = await redis.info("cpu")
    return float(stats["used_cpu_user_main_thread"]) + float(stats["used_cpu_sys_main_thread"])


async def seen_bytes(redis: Redis, frontier: RedisFrontier) -> float:
    """Bytes of the seen set by a sample of its buckets."""
    buckets = int(await redis.hget(frontier.keys.meta, "buckets") or 1)
    sample = random.Random(0).sample(range(buckets), min(buckets, 500))
    sizes = [await redis.memory_usage(frontier.keys[f"seen:{n}"]) or 0 for n in sample]
    return sum(sizes) / len(sizes) * buckets


class Filled:
    """A frontier of some size on a server of its own."""

    def __init__(self, address: str, size: int, hosts: int) -> None:
        self.address, self.size = address, size
        self.waiting, self.length = 0, 0
        self.adds: list[tuple[float, float]] = []
        self.takes: list[tuple[float, float]] = []
        self._source = pages(hosts, 1)
        self.redis = connect(address, timeout=600)
        self.frontier = self._fresh()
        self.empty = 0

    def _fresh(self) -> RedisFrontier:
        options = FrontierOptions(delay=0, concurrency=8)
        return RedisFrontier(self.address, prefix="bench", worker_id="bench", options=options)

    async def fill(self) -> None:
        """Put links in until there are enough."""
        self.empty = (await self.redis.info("memory"))["used_memory"]
        self.frontier = self._fresh()
        await self.frontier.open()
        await self.frontier.set_values({"R": 3.0, "HR": 2.0})
        while self.waiting < self.size:
            # several at a time: the server works while the next ones are packed
            await asyncio.gather(*(self.add(8) for _ in range(3)))

    async def add(self, pages: int = 1) -> int:
        """Put the links of a page, or several, in; return how many were new."""
        entries = [entry for _ in range(pages) for entry in next(self._source)]
        new = sum(await self.frontier.add(entries))
        self.length += sum(len(e.url) for e in entries)
        self.waiting += new
        return new

    async def take(self) -> int:
        """Take some links, release their hosts and acknowledge them; return how many."""
        leases = await self.frontier.take(4, QUEUES)
        await self.frontier.release_host(leases)
        await self.frontier.done(leases)
        self.length -= sum(len(lease.entry.url) for lease in leases)
        self.waiting -= len(leases)
        return len(leases)

    async def measure(self, step: Callable[[], Awaitable[int]], number: int) -> tuple[float, float]:
        """Seconds by the clock, and of the server's processor, per link of so many."""
        began, before, done = time.perf_counter(), await server_time(self.redis), 0
        while done < number:
            done += await step()
        after = await server_time(self.redis)
        return (time.perf_counter() - began) / done, (after - before) / done

    async def round(self) -> None:
        """Measure once; a frontier that has grown too much is made anew before."""
        if self.waiting > 1.3 * self.size:
            await self.frontier.close()
            await self.redis.flushdb()
            self.waiting = self.length = 0
            await self.fill()
        for adds, takes, kept in ((300, 60, False), (1500, 300, True)):
            times = await self.measure(self.add, adds), await self.measure(self.take, takes)
            if kept:
                self.adds.append(times[0])
                self.takes.append(times[1])

    async def memory(self) -> tuple[float, float, float]:
        """Bytes per waiting URL beyond its length, per seen URL, and in all by the system."""
        memory = await self.redis.info("memory")
        seen = await seen_bytes(self.redis, self.frontier)
        digests = int(await self.redis.hget(self.frontier.keys.meta, "seen") or 1)
        beyond = memory["used_memory"] - self.empty - seen - self.length
        return beyond / self.waiting, seen / digests, memory["used_memory_rss"]


async def measure(addresses: Sequence[str], sizes: Sequence[int], hosts: int, rounds: int) -> Table:
    """Fill frontiers and make the table."""
    filled = [Filled(address, *rest) for address, *rest in zip(addresses, sizes, repeat(hosts))]
    for one in filled:
        await one.fill()
    for _ in range(rounds):
        for one in filled:
            await one.round()
    table = Table("waiting", "hosts", "groups")
    for name in ("adds/s", "×", "µs server", "×", "takes/s", "×", "µs server", "×"):
        table.add_column(name, justify="right")
    for name in ("B/waiting", "B/seen", "RSS MB"):
        table.add_column(name, justify="right")
    first: list[float] = []
    for one in filled:
        groups = await one.redis.zcard(one.frontier.keys["order:html"])
        counts = await one.frontier.counts(QUEUES, [])
        costs = [median(t) for times in (one.adds, one.takes) for t in zip(*times, strict=True)]
        first = first or costs
        cells = []
        for position, (cost, start) in enumerate(zip(costs, first, strict=True)):
            cells.append(f"{cost * 1e6:.1f}" if position % 2 else f"{1 / cost:,.0f}")
            cells.append(f"{cost / start if position % 2 else start / cost:.2f}")
        waiting, seen, rss = await one.memory()
        table.add_row(
            f"{one.size:,}", f"{counts.hosts:,}", f"{groups:,}", *cells,
            f"{waiting:.0f}", f"{seen:.0f}", f"{rss / 1e6:,.0f}",
        )  # fmt: skip
        await one.frontier.close()
        await one.redis.aclose()
    return table


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--server", help="a redis-server to run with its own defaults instead")
    args = parser.parse_args()
    with ExitStack() as stack:
        addresses = []
        for _ in args.sizes:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            if args.server:
                addresses.append(stack.enter_context(default_server(args.server, Path(folder))))
            else:
                addresses.append(str(stack.enter_context(EmbeddedRedis(folder)).socket))
        table = asyncio.run(measure(addresses, args.sizes, args.hosts, args.rounds))
        Console(width=150).print(table)


@contextmanager
def default_server(program: str, folder: Path) -> Iterator[str]:
    """Run a Redis server with default settings (but for the append-only file) in a folder."""
    address = folder / "redis.sock"
    command = [program, "--port", "0", "--unixsocket", str(address), "--dir", str(folder)]
    command += ["--appendonly", "yes", "--save", "", "--logfile", str(folder / "redis.log")]
    process = subprocess.Popen(command)
    try:
        while not address.exists():
            time.sleep(0.02)
        yield str(address)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
