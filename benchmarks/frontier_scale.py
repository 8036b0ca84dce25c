"""What links and takes cost a frontier of several shards, by shards, workers, hosts and size.

    python benchmarks/frontier_scale.py [--shards 1 4 16] [--workers 1 4] [--hosts 1000]
        [--waiting 10000 1000000] [--ahead 16] [--servers N] [--server redis-server] [--rounds 5]

Simulates fetchers: worker processes take links, "fetch" them at once, and put the links of their
pages in, through the frontier that a crawl with these settings would have, those of several pages
in one call as a crawl does. No HTTP, no reading: nothing but the frontier is measured. Each number
of shards has Redis servers of its own (one for each shard, or ``--servers``). A page has 30 links,
``--away`` of them on any other host, so that an add goes to several shards.

Costs are processor times, which other load on the machine changes less than the clock: "server" is
that of all servers together, append-only files included; "worker" that of all workers. Numbers of
shards take turns, round by round; "× first" is the median of the rounds' own ratios of the servers'
time per page to that of the first number. "calls" are those of scripts, which no other load
changes. "pages/s" is by the clock, with servers and workers on the cores of this machine. "busiest"
is the share of the shard that works most: with n shards in balance it is 1/n, and n/(n · busiest)
of n servers' power is used when each has a core of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from frontier_size import QUEUES, default_server, pages, server_time
from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table
from scrapy.settings import Settings

from semcrawl.crawl.attempt import LeaseBook
from semcrawl.crawl.intake import BatchedAdds
from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.backends import job_backend
from semcrawl.frontier.contract import Entry, Frontier, Lease

#: links that a worker takes at a time
TAKEN = 8
#: leases that a worker may have (``SEMCRAWL_MAX_LEASES``)
MAX_LEASES = 256
#: links of a worker whose pages' links are not put in yet, at most: more than a crawl has, as pages
#: take no time here, and few links to another shard wait for others
IN_FLIGHT = 64
#: links put in, and taken, by all workers in a round
ADDED, FETCHED = 6_000, 1_200


@dataclass(frozen=True, slots=True)
class Setup:
    """One combination."""

    shards: int
    workers: int
    hosts: int
    waiting: int
    #: share of a page's links that lead to other hosts
    away: float
    #: ``FrontierOptions.ahead``
    ahead: int


class Pages:
    """Pages as ``frontier_size`` makes them, whose links lead to other hosts now and then."""

    def __init__(self, setup: Setup, seed: int) -> None:
        self._setup = setup
        self._rng = random.Random(seed)
        self._pages = pages(setup.hosts, seed)

    def next(self, host: str | None = None) -> list[Entry]:
        """Return the links of a page on a host, or on any."""
        rng, hosts = self._rng, self._setup.hosts
        entries = next(self._pages)
        for n, entry in enumerate(entries):
            away = rng.random() < self._setup.away
            to = f"www.host{rng.randrange(hosts):06}.example" if away else host
            if to:
                url, group = (
                    text.replace(entry.host, to) for text in (entry.url, entry.group or "")
                )
                entries[n] = replace(entry, url=url, host=to, group=group)
        return entries


class Worker:
    """A simulated fetcher: it does with the frontier what a crawl's worker does."""

    def __init__(self, frontier: Frontier, setup: Setup, number: int) -> None:
        self._frontier = frontier
        self._leases = LeaseBook(MAX_LEASES)
        self._adds = BatchedAdds(frontier, self._leases.pop_released, lambda: True)
        self._pages = Pages(setup, number + 1)

    async def fill(self, links: int) -> int:
        """Put links in, several pages at a time."""
        new = 0
        while new < links:
            batches = [[e for _ in range(8) for e in self._pages.next()] for _ in range(3)]
            for told in await asyncio.gather(*(self._frontier.add(batch) for batch in batches)):
                new += sum(told)
        return new

    async def add(self, links: int) -> int:
        """Put links in, page by page."""
        done = 0
        while done < links:
            done += len(await self._frontier.add(self._pages.next()))
        return done

    async def fetch(self, links: int) -> int:
        """Take links, and finish them."""
        done = 0
        while done < links:
            leases = await self._take()
            for lease in leases:
                self._leases.end(lease)
            done += len(leases)
        await self._leases.flush(self._frontier, final=True)
        return done

    async def crawl(self, links: int) -> int:
        """Take links, put those of their pages in, and finish them."""
        done, reading = 0, set[asyncio.Task[None]]()
        while done < links:
            leases = await self._take()
            done += len(leases)
            reading |= {asyncio.create_task(self._read(lease)) for lease in leases}
            while len(reading) > IN_FLIGHT - TAKEN:
                _, reading = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.gather(*reading)
        await self._leases.flush(self._frontier, final=True)
        return done

    async def _read(self, lease: Lease) -> None:
        """Put the links of a page in."""
        host = lease.entry.host
        await self._adds.add(self._pages.next(host), host)
        self._leases.end(lease)

    async def _take(self) -> list[Lease]:
        """Acknowledge what is due, then take links, whose downloads are over at once."""
        frontier, book = self._frontier, self._leases
        leases = await frontier.take(TAKEN, QUEUES, over=await book.flush(frontier))
        for lease in leases:
            book.hand_out(lease)
            book.note_downloaded(lease)
        if not leases:
            await asyncio.sleep(await frontier.next_ready(QUEUES) or 0.01)
        return leases


def work(url: str, setup: Setup, number: int, connection: Connection) -> None:
    """Be a worker process: do what is asked for, and report links and processor time."""
    asyncio.run(_work(url, setup, number, connection))


async def _work(url: str, setup: Setup, number: int, connection: Connection) -> None:
    settings = Settings()
    settings.setmodule("semcrawl.settings")
    settings.set("REDIS_URL", url)
    settings.set("SEMCRAWL_CRAWL_NAME", "bench")
    settings.set("SEMCRAWL_FRONTIER_SHARDS", setup.shards)
    options = FrontierOptions(delay=0, concurrency=8, ahead=setup.ahead, patience=600, timeout=120)
    frontier = job_backend(settings, Path(), options)
    async with frontier:
        await frontier.set_values({"R": 3.0, "HR": 2.0})
        worker = Worker(frontier, setup, number)
        connection.send(None)
        while (order := connection.recv()) is not None:
            step, links = order
            before = time.process_time()
            done = await getattr(worker, step)(links)
            connection.send((done, time.process_time() - before))


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds per link of a step: by the clock, of all servers, of all workers."""

    clock: float
    server: float
    worker: float
    #: share of the server that worked most
    busiest: float
    #: calls of scripts
    calls: float


#: those of the rounds, by step
Costs = dict[str, list[Cost]]


class Running:
    """Servers and workers of one combination."""

    def __init__(self, setup: Setup, addresses: Sequence[str]) -> None:
        self._redis = [Redis.from_url(f"redis://{address}") for address in addresses]
        url = f"redis://{','.join(addresses)}/0"
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for number in range(setup.workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(url, setup, number, theirs), daemon=True)
            process.start()
            self._processes.append(process)
            self._pipes.append(ours)
        for pipe in self._pipes:
            pipe.recv()

    async def step(self, name: str, links: int) -> Cost:
        """Have all workers do their share of a step at the same time."""
        before = [await server_time(redis) for redis in self._redis]
        called = await self._calls()
        began = time.perf_counter()
        for pipe in self._pipes:
            pipe.send((name, links // len(self._pipes)))
        answers = [await asyncio.to_thread(pipe.recv) for pipe in self._pipes]
        clock = time.perf_counter() - began
        times = [await server_time(redis) - b for redis, b in zip(self._redis, before, strict=True)]
        done, worker = sum(done for done, _ in answers), sum(cpu for _, cpu in answers)
        busiest, calls = max(times) / (sum(times) or 1), await self._calls() - called
        return Cost(clock / done, sum(times) / done, worker / done, busiest, calls / done)

    async def _calls(self) -> int:
        """How many scripts all servers have run."""
        found = [await redis.info("commandstats") for redis in self._redis]
        return sum(stats.get("cmdstat_evalsha", {"calls": 0})["calls"] for stats in found)

    async def at_rest(self) -> None:
        """Wait until no server rewrites its append-only file."""
        for redis in self._redis:
            while True:
                if not (await redis.info("persistence"))["aof_rewrite_in_progress"]:
                    break
                await asyncio.sleep(0.2)

    async def memory(self) -> int:
        """Bytes of memory that all servers hold, by the system."""
        return sum([int((await redis.info("memory"))["used_memory_rss"]) for redis in self._redis])

    async def close(self) -> None:
        """End the workers."""
        for pipe in self._pipes:
            pipe.send(None)
        for process in self._processes:
            process.join()
        for redis in self._redis:
            await redis.aclose()


def ports(number: int) -> list[int]:
    """Return free ports: all are open at once, so that they differ."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def servers(program: str, number: int) -> Iterator[list[str]]:
    """Run so many servers; give their addresses."""
    with ExitStack() as stack:
        for port in (free := ports(number)):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            stack.enter_context(default_server(program, folder, port))
        yield [f"127.0.0.1:{port}" for port in free]


async def measure(
    setups: Sequence[Setup], addresses: Sequence[Sequence[str]], rounds: int
) -> list[list[str]]:
    """Fill the frontiers, and measure them in turn; return the cells of their rows."""
    running = [Running(*each) for each in zip(setups, addresses, strict=True)]
    costs = [{step: list[Cost]() for step in ("add", "fetch", "crawl")} for _ in setups]
    memory = []
    try:
        for one, setup in zip(running, setups, strict=True):
            await one.step("fill", setup.waiting)
            await one.at_rest()
        for number in range(rounds + 1):
            turns = list(zip(running, costs, strict=True))[:: 1 if number % 2 else -1]
            for step, links in (("add", ADDED), ("fetch", FETCHED), ("crawl", 2 * FETCHED)):
                for one, found in turns:
                    cost = await one.step(step, links)
                    if number:  # (the first round fills the workers' caches)
                        found[step].append(cost)
        memory = [await one.memory() for one in running]
    finally:
        for one in running:
            await one.close()
    return [_row(*each, costs[0]) for each in zip(setups, costs, memory, strict=True)]


def _row(setup: Setup, costs: Costs, memory: int, first: Costs) -> list[str]:
    add, fetch, crawl = costs.values()
    ratios = [c.server / f.server for c, f in zip(crawl, first["crawl"], strict=True)]
    return [
        *(f"{n:,}" for n in (setup.waiting, setup.hosts, setup.shards, setup.workers)),
        *(f"{median(getattr(c, side) for c in add) * 1e6:.1f}" for side in ("server", "worker")),
        *(f"{median(getattr(c, side) for c in fetch) * 1e6:.0f}" for side in ("server", "worker")),
        *(f"{median(getattr(c, side) for c in crawl) * 1e3:.2f}" for side in ("server", "worker")),
        f"{median(ratios):.2f}",
        f"{median(c.calls for c in fetch):.2f}",
        f"{median(c.calls for c in crawl):.2f}",
        f"{1 / median(c.clock for c in crawl):,.0f}",
        f"{median(c.busiest for c in crawl):.2f}",
        f"{memory / 1e6:,.0f}",
    ]


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--hosts", type=int, nargs="+", default=[1_000])
    parser.add_argument("--waiting", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--away", type=float, default=0.1, help="share of links to other hosts")
    parser.add_argument("--ahead", type=int, default=16, help="links a take may give too early")
    parser.add_argument("--servers", type=int, default=0, help="Redis servers (one for each shard)")
    parser.add_argument("--server", default="redis-server", help="program of the servers")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    table = Table("waiting", "hosts", "shards", "workers")
    for name in (
        *("µs/link added: server", "worker", "µs/link taken and done: server", "worker"),
        *("ms/page: server", "worker", "× first", "calls/link taken", "calls/page"),
        *("pages/s", "busiest", "RSS MB"),
    ):
        table.add_column(name, justify="right")
    console = Console(width=200)
    for waiting, hosts, workers in product(args.waiting, args.hosts, args.workers):
        with ExitStack() as stack:
            setups, addresses = [], []
            for shards in args.shards:
                setups.append(Setup(shards, workers, hosts, waiting, args.away, args.ahead))
                number = min(args.servers or shards, shards)
                addresses.append(stack.enter_context(servers(args.server, number)))
            for row in asyncio.run(measure(setups, addresses, args.rounds)):
                table.add_row(*row)
                console.print(" | ".join(row), style="dim")  # each when it is there
    console.print(table)


if __name__ == "__main__":
    main()
