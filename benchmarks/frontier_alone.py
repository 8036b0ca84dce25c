"""What a page costs the servers of one shard and of several, each with a processor of its own.

    python benchmarks/frontier_alone.py [--shards 1 3] [--workers 4] [--hosts 200] [--waiting 10000]
        [--pages 1200] [--rounds 5] [--ahead 16] [--server redis-server]

Where processes share processors, others run there between two calls to a server, and push what it
needs out of the caches. So each call costs more than on a processor of the server's own, and more
shards mean more calls: ``frontier_scale.py`` measures that, too. Here the simulated fetchers of
that benchmark crawl in one process, and all calls to each server are noted in the order in which
it ran them. Then each server's calls are played to a fresh one, one after the other, with nothing
beside it but its client. Its answers must be those that it gave before. Numbers of shards take
turns; "× first" is the median of the rounds' own ratios. "calls" are those of scripts.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import msgpack
from frontier_scale import Setup, Worker, servers
from frontier_size import server_time
from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from semcrawl.frontier import FrontierOptions, RedisFrontier, ShardedFrontier
from semcrawl.frontier.redis.connection import Scripts, Server

#: pages that workers crawl before those that count, each
_BEFORE = 100


@dataclass
class Call:
    """One call of a script."""

    script: str
    keys: tuple[str, ...]
    args: bytes
    #: the worker whose answer is kept for a repetition, if it is
    keeper: bytes
    answer: Any


@dataclass
class Noted:
    """The calls to a server."""

    calls: list[Call] = field(default_factory=list)
    #: how many of them came before those that count
    before: int = 0
    #: one at a time: so they are noted in the order in which the server runs them
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def listen(self, server: Server, worker: str) -> None:
        """Note what is called by a worker from now on."""
        run = server.run

        async def noted(script: str, args: Sequence[Any], *keys: str, once: bool = False) -> Any:
            packed = msgpack.packb(args, use_bin_type=False, unicode_errors="surrogatepass")
            keeper = worker.encode() if once else b""
            async with self.turn:
                answer = await run(script, args, *keys, once=once)
                all_keys = (server._meta_key, *keys)
                self.calls.append(Call(script, all_keys, packed, keeper, answer))
            return answer

        server.run = noted  # type: ignore[method-assign]

    async def play(self, program: str) -> float:
        """Return the processor time that a fresh server takes for the calls that count."""
        scripts, before = Scripts(), 0.0
        with servers(program, 1) as (address,):
            async with Redis.from_url(f"redis://{address}") as redis:
                for number, call in enumerate(self.calls):
                    if number == self.before:
                        before = await server_time(redis)
                    kept = (call.keeper, number.to_bytes(8, "big")) if call.keeper else ()
                    answer = await scripts.run(redis, call.script, call.keys, call.args, b"", *kept)
                    # (what "open" tells has the time in it)
                    if answer != call.answer and call.script != "open":
                        raise SystemExit(f"call {number}, {call.script}: another answer")
                return await server_time(redis) - before


async def note(setup: Setup, pages: int, program: str) -> list[Noted]:
    """Crawl, and return the calls to each server."""
    async with AsyncExitStack() as stack:
        addresses = stack.enter_context(servers(program, setup.shards))
        urls = [f"redis://{address}" for address in addresses]
        noted = [Noted() for _ in urls]
        options = FrontierOptions(delay=0, concurrency=8, ahead=setup.ahead)
        workers = []
        for number in range(setup.workers):
            name = f"w{number}"
            frontier: RedisFrontier | ShardedFrontier
            if setup.shards == 1:
                frontier = RedisFrontier(urls[0], prefix="bench", worker_id=name, options=options)
                parts: list[RedisFrontier] = [frontier]
            else:
                frontier = ShardedFrontier(urls, prefix="bench", worker_id=name, options=options)
                parts = list(frontier._shards)
            for one, part in zip(noted, parts, strict=True):
                one.listen(part._server, name)
            await stack.enter_async_context(frontier)
            await frontier.set_values({"R": 3.0, "HR": 2.0})
            workers.append(Worker(frontier, setup, number))
        await workers[0].fill(setup.waiting)
        await asyncio.gather(*(worker.crawl(_BEFORE) for worker in workers))
        for one in noted:
            one.before = len(one.calls)
        await asyncio.gather(*(worker.crawl(pages // setup.workers) for worker in workers))
        # (giving the leases back at the end is none of it)
        return [Noted(list(one.calls), one.before) for one in noted]


async def measure(setups: Sequence[Setup], pages: int, rounds: int, program: str) -> Table:
    """Note the calls of each number of shards, and play them in turn."""
    noted = [await note(setup, pages, program) for setup in setups]
    costs: list[list[float]] = [[] for _ in setups]
    for number in range(rounds):
        turns = list(zip(noted, costs, strict=True))[:: 1 if number % 2 else -1]
        for crawl, found in turns:
            found.append(sum([await one.play(program) for one in crawl]) / pages)
    table = Table("shards", "workers", "ms of all servers per page", "× first", "calls/page")
    for setup, crawl, found in zip(setups, noted, costs, strict=True):
        calls = sum(len(one.calls) - one.before for one in crawl) / pages
        ratio = median(cost / first for cost, first in zip(found, costs[0], strict=True))
        cells = (f"{median(found) * 1e3:.3f}", f"{ratio:.2f}", f"{calls:.2f}")
        table.add_row(str(setup.shards), str(setup.workers), *cells)
    return table


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--waiting", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=1_200)
    parser.add_argument("--away", type=float, default=0.1, help="share of links to other hosts")
    parser.add_argument("--ahead", type=int, default=16, help="links a take may give too early")
    parser.add_argument("--server", default="redis-server", help="program of the servers")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    setups = [
        Setup(shards, args.workers, args.hosts, args.waiting, args.away, args.ahead)
        for shards in args.shards
    ]
    Console().print(asyncio.run(measure(setups, args.pages, args.rounds, args.server)))


if __name__ == "__main__":
    main()
