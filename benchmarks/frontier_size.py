"""Adds and takes per second, and bytes per URL, as a frontier fills.

    python benchmarks/frontier_size.py [--sizes 10000 100000 1000000] [--hosts 1000] [--redis URL]

Fills one frontier page by page (30 links each) and stops at each size to take and to add some
more (medians of ten rounds). "server" is the processor time of the server, its append-only file
included: what bounds all workers together. Ratios compare with the first size. Without --redis a
server of its own is started in a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from semcrawl.frontier import EmbeddedRedis, Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.server import connect

LINKS = 30
ADDS = 9000
TAKES = 200
ROUNDS = 10
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


async def measure(address: str, sizes: list[int], hosts: int) -> Table:
    """Fill a frontier and make the table."""
    redis = connect(address, timeout=600)
    options = FrontierOptions(delay=0, concurrency=8)
    prefix = f"bench{random.randrange(1 << 40)}"
    frontier = RedisFrontier(address, prefix=prefix, worker_id="bench", options=options)
    await frontier.open()
    await frontier.set_values({"R": 3.0, "HR": 2.0})
    empty = (await redis.info("memory"))["used_memory"]
    source, length, count = pages(hosts, 1), 0, 0
    table = Table("waiting", "hosts", "groups", "adds/s", "µs server", "×", "takes/s", "µs server")
    for name in ("×", "B/waiting", "B/seen", "RSS MB"):
        table.add_column(name, justify="right")
    first: tuple[float, float] | None = None
    for size in sizes:
        while count < size - ADDS:
            entries = next(source)
            length += sum(len(e.url) for e in entries)
            count += sum(await frontier.add(entries))
        adds = []
        while count < size:
            began, before, done = time.perf_counter(), await server_time(redis), 0
            while done < ADDS // ROUNDS:
                entries = next(source)
                length += sum(len(e.url) for e in entries)
                done += sum(await frontier.add(entries))
            count += done
            spent = time.perf_counter() - began
            adds.append((spent / done, (await server_time(redis) - before) / done))
        used = (await redis.info("memory"))["used_memory"] - empty
        rss = (await redis.info("memory"))["used_memory_rss"]
        seen = await seen_bytes(redis, frontier)
        groups = await redis.zcard(frontier.keys["order:html"])
        alive = (await frontier.counts(QUEUES, [])).hosts
        takes = []
        for _ in range(ROUNDS):
            # links are put in between, so that at every size the same kinds of link are taken
            while count < size:
                entries = next(source)
                length += sum(len(e.url) for e in entries)
                count += sum(await frontier.add(entries))
            began, before, taken = time.perf_counter(), await server_time(redis), 0
            while taken < TAKES:
                leases = await frontier.take(4, QUEUES)
                await frontier.release_host(leases)
                await frontier.done(leases)
                length -= sum(len(lease.entry.url) for lease in leases)
                taken += len(leases)
            spent = time.perf_counter() - began
            takes.append((spent / taken, (await server_time(redis) - before) / taken))
            count -= taken
        add_rate, take_rate = (1 / median(w for w, _ in times) for times in (adds, takes))
        add_cost, take_cost = (median(s for _, s in times) * 1e6 for times in (adds, takes))
        first = first or (add_cost, take_cost)
        table.add_row(
            f"{size:,}", f"{alive:,}", f"{groups:,}",
            f"{add_rate:,.0f}", f"{add_cost:.1f}", f"{add_cost / first[0]:.2f}",
            f"{take_rate:,.0f}", f"{take_cost:.1f}", f"{take_cost / first[1]:.2f}",
            f"{(used - seen - length) / size:.0f}", f"{seen / size:.0f}", f"{rss / 1e6:,.0f}",
        )  # fmt: skip
    await frontier.close()
    await redis.aclose()
    return table


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--redis", help="address of a server; nothing else should use it")
    args = parser.parse_args()
    with ExitStack() as stack:
        address = args.redis
        if not address:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            address = str(stack.enter_context(EmbeddedRedis(folder)).socket)
        Console(width=140).print(asyncio.run(measure(address, args.sizes, args.hosts)))


if __name__ == "__main__":
    main()
