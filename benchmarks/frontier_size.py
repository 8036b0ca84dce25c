"""Adds and takes per second, and bytes per URL, of small and large frontiers.

    python benchmarks/frontier_size.py [--sizes 10000 100000 1000000] [--server redis-server]

Fills a frontier of each size, on a server of its own, page by page (30 links each); then adds and
takes some more, round by round, the sizes in turn, each round beginning with another one: so what
else the machine does meets all of them. Figures are medians of all rounds. A ratio (×) is the
median of the rounds' own ratios to the first size: when the machine's speed changes, as that of a
shared one does within seconds, it changes both sides. "server" is the processor time of the
server, its append-only file included: what bounds all workers together; "worker" that of this
process. Rewriting of the append-only file, which a server that was filled quickly does at the end,
is waited for.
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
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from statistics import median

from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from semcrawl.frontier import Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.redis.connection import connect
from semcrawl.frontier.redis.localserver import RedisServer

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


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds per link."""

    clock: float
    server: float
    worker: float


class Filled:
    """A frontier of some size on a server of its own."""

    def __init__(self, address: str, size: int, hosts: int) -> None:
        self.address, self.size = address, size
        self.waiting, self.length = 0, 0
        self.adds: list[Cost] = []
        self.takes: list[Cost] = []
        self._source = pages(hosts, 1)
        self.redis = connect(address, timeout=600)
        self.frontier = self._fresh()
        self.empty = 0

    def _fresh(self) -> RedisFrontier:
        options = FrontierOptions(delay=0, concurrency=8)
        return RedisFrontier(self.address, prefix="bench", worker_id="bench", options=options)

    async def fill(self) -> None:
        """Put links in until there are enough."""
        # what the server needs for scripts and buffers, however few links there are
        await self._open()
        await self.add()
        await self.take()
        await self._clear()
        self.empty = await self.used()
        await self._open()
        while self.waiting < self.size:
            # several at a time: the server works while the next ones are packed
            await asyncio.gather(*(self.add(8) for _ in range(3)))

    async def _open(self) -> None:
        self.frontier = self._fresh()
        await self.frontier.open()
        await self.frontier.set_values({"R": 3.0, "HR": 2.0})

    async def _clear(self) -> None:
        await self.frontier.close()
        await self.redis.flushdb()
        self.waiting = self.length = 0

    async def used(self) -> int:
        """Bytes of memory that the server uses, the buffers of connections left out."""
        memory = await self.redis.info("memory")
        return int(memory["used_memory"]) - int(memory["mem_clients_normal"])

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
        await self.frontier.release(leases)
        await self.frontier.end(leases)
        self.length -= sum(len(lease.entry.url) for lease in leases)
        self.waiting -= len(leases)
        return len(leases)

    async def measure(self, step: Callable[[], Awaitable[int]], number: int) -> Cost:
        """Do so many links; return what one took."""
        before, done = await server_time(self.redis), 0
        began, worked = time.perf_counter(), time.process_time()
        while done < number:
            done += await step()
        clock, worker = time.perf_counter() - began, time.process_time() - worked
        server = await server_time(self.redis) - before
        return Cost(clock / done, server / done, worker / done)

    async def prepare(self) -> None:
        """Make a frontier that has grown too much anew; wait until its server is at rest."""
        if self.waiting > 1.3 * self.size:
            await self._clear()
            await self.fill()
        while True:
            if not (await self.redis.info("persistence"))["aof_rewrite_in_progress"]:
                break
            await asyncio.sleep(0.1)

    async def round(self) -> None:
        """Measure once; not from the beginning, when another size has the processor's caches."""
        for adds, takes, kept in ((300, 60, False), (600, 120, True)):
            costs = await self.measure(self.add, adds), await self.measure(self.take, takes)
            if kept:
                self.adds.append(costs[0])
                self.takes.append(costs[1])

    async def memory(self) -> tuple[float, float, float]:
        """Bytes per waiting URL beyond its length, per seen URL, and in all by the system."""
        memory = await self.redis.info("memory")
        seen = await seen_bytes(self.redis, self.frontier)
        digests = int(await self.redis.hget(self.frontier.keys.meta, "seen") or 1)
        beyond = await self.used() - self.empty - seen - self.length
        return beyond / self.waiting, seen / digests, memory["used_memory_rss"]


def cost_cells(costs: Sequence[Cost], first: Sequence[Cost]) -> list[str]:
    """Medians, and medians of the ratios to the first size in the same round."""
    rounds = list(zip(costs, first, strict=True))
    return [
        f"{1 / median(c.clock for c in costs):,.0f}",
        f"{median(f.clock / c.clock for c, f in rounds):.2f}",
        f"{median(c.server for c in costs) * 1e6:.1f}",
        f"{median(c.server / f.server for c, f in rounds):.2f}",
        f"{median(c.worker for c in costs) * 1e6:.1f}",
        f"{median(c.worker / f.worker for c, f in rounds):.2f}",
    ]


async def measure(addresses: Sequence[str], sizes: Sequence[int], hosts: int, rounds: int) -> Table:
    """Fill frontiers and make the table."""
    filled = [Filled(address, *rest) for address, *rest in zip(addresses, sizes, repeat(hosts))]
    for one in filled:
        await one.fill()
    for number in range(rounds):
        for one in filled:
            await one.prepare()
        start = number % len(filled)
        for one in filled[start:] + filled[:start]:
            await one.round()
    table = Table("waiting", "hosts", "groups")
    for name in ("adds/s", "×", "µs server", "×", "µs worker", "×"):
        table.add_column(name, justify="right")
    for name in ("takes/s", "×", "µs server", "×", "µs worker", "×"):
        table.add_column(name, justify="right")
    for name in ("B/waiting", "B/seen", "RSS MB"):
        table.add_column(name, justify="right")
    for one in filled:
        groups = await one.redis.zcard(one.frontier.keys["order:html"])
        counts = await one.frontier.counts(QUEUES, [])
        cells = cost_cells(one.adds, filled[0].adds) + cost_cells(one.takes, filled[0].takes)
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
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--server", help="a redis-server to run with its own defaults instead")
    args = parser.parse_args()
    with ExitStack() as stack:
        addresses = []
        for _ in args.sizes:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            if args.server:
                addresses.append(stack.enter_context(default_server(args.server, Path(folder))))
            else:
                addresses.append(str(stack.enter_context(RedisServer(Path(folder))).socket))
        table = asyncio.run(measure(addresses, args.sizes, args.hosts, args.rounds))
        Console(width=190).print(table)


@contextmanager
def default_server(program: str, folder: Path, port: int = 0) -> Iterator[str]:
    """Run a Redis server with default settings (but for the append-only file) in a folder.

    It listens at a socket there, whose path is given, and at a port of loopback if there is one.
    """
    address = folder / "redis.sock"
    command = [program, "--bind", "127.0.0.1", "--port", str(port)]
    command += ["--unixsocket", str(address), "--dir", str(folder)]
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
