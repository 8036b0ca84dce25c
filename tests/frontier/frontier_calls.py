"""Links to put into a frontier, and what tests ask of one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from redis import Redis

from semcrawl.frontier import FrontierOptions, ShardedFrontier
from semcrawl.frontier.contract import Entry, Frontier, Lease
from semcrawl.frontier.sharded.shards import number_of

#: the fixture ``open_frontier``: opens the frontier of a worker, ``w1`` unless told otherwise
OpenFrontier = Callable[..., Awaitable[Frontier]]
T = TypeVar("T")
Q = ["html"]
#: no delays
OPTIONS = FrontierOptions(delay=0, concurrency=9, patience=0.5)


def link(
    name: str, *, host: str = "a.example", group: str = "g", key: float = 0.0, **more: Any
) -> Entry:
    return Entry(f"http://{host}/{name}", host, more.pop("queue", "html"), group, key, **more)


def names(leases: Sequence[Lease]) -> list[str]:
    return [lease.entry.url.rpartition("/")[2] for lease in leases]


async def eventually(look: Callable[[], Awaitable[T]]) -> T:
    """The first true result of ``look``; time runs on the server."""
    async with asyncio.timeout(60):
        while not (found := await look()):  # noqa: ASYNC110 - it is the server that one waits for
            await asyncio.sleep(0.005)
    return found


async def until_no_lease(frontier: Frontier) -> None:
    async def none() -> bool:
        return (await frontier.counts(Q, [])).leased == 0

    await eventually(none)


async def outcomes_of_others(frontier: Frontier, limit: int = 1000) -> list[bytes]:
    """Outcomes that other workers published since the last reading."""
    events = await frontier.shared.exchange(limit=limit)
    return [event.outcome for event in events if not event.own and event.outcome is not None]


async def drain(frontier: Frontier, queues: Sequence[str] = Q) -> list[str]:
    """Take and finish one link at a time until nothing can be taken."""
    order: list[str] = []
    while leases := await frontier.take(1, queues):
        order += names(leases)
        await frontier.end(leases)
    assert await frontier.inspector.audit() == []
    return order


def sharded(servers: list[str], name: str, worker: str = "w", **more: Any) -> ShardedFrontier:
    """A frontier in shards without delays."""
    options = replace(OPTIONS, **more)
    return ShardedFrontier(servers, prefix=name, worker_id=worker, options=options)


def host_in(shard: int) -> str:
    """A host of one of three shards."""
    return next(h for n in range(99) if number_of(h := f"h{n}.example", 3) == shard)


def scripts_run(servers: list[str]) -> int:
    """How many scripts the servers have run."""
    found = 0
    for url in servers:
        with Redis.from_url(url) as admin:
            found += admin.info("commandstats")["cmdstat_evalsha"]["calls"]
    return found
