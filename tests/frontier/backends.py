"""The backends that the conformance suite, the model test and the kill tests run on.

Another backend is one more name in ``BACKENDS`` and one more case in ``backend_at``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from semcrawl.frontier import FrontierOptions, RedisFrontier
from semcrawl.frontier.contract import Frontier
from semcrawl.frontier.sharded.frontier import ShardedFrontier
from semcrawl.frontier.sqlite.frontier import SqliteFrontier

#: backends whose tests repeat what those of the others show in little time
REPEATING = ("served", "shards", "shards-in-order")
#: backends that need an installed server
INSTALLED = ("cluster", "valkey")
#: backends that some files of tests suffice for, as the rest shows nothing new and is a study:
#: Valkey runs Redis' scripts, and shards in order differ from shards in what is taken next
PARTLY = {
    "valkey": ("model", "order", "pace", "shared_state"),
    "shards-in-order": ("model", "order", "fairness", "giving_back", "leases", "left_out"),
}
#: names of the backends, each made by the fixture ``backend``
BACKENDS = ("redis", "served", "sqlite", "shards", "shards-in-order", "cluster", "valkey")


class Backend(Protocol):
    """Makes frontiers of one store: of fresh crawls, and of further workers on the same crawl.

    Time is the store's own: tests wait for it with ``eventually``.
    """

    def frontier(
        self,
        crawl: str,
        worker: str,
        options: FrontierOptions | None = None,
        *,
        guest: bool = False,
        considerate: bool = False,
    ) -> Frontier:
        """A worker's frontier, not opened yet; a crawl that is new begins when it is opened."""
        ...


@dataclass(frozen=True)
class RedisBackend:
    """A Redis server at a URL or a socket."""

    address: str

    def frontier(
        self,
        crawl: str,
        worker: str,
        options: FrontierOptions | None = None,
        *,
        guest: bool = False,
        considerate: bool = False,
    ) -> RedisFrontier:
        return RedisFrontier(
            self.address,
            prefix=crawl,
            worker_id=worker,
            options=options,
            guest=guest,
            considerate=considerate,
        )


@dataclass(frozen=True)
class ShardedBackend:
    """Several Redis servers, one for each shard; ``in_order`` as one shard would give the links."""

    servers: tuple[str, ...]
    in_order: bool = False

    def frontier(
        self,
        crawl: str,
        worker: str,
        options: FrontierOptions | None = None,
        *,
        guest: bool = False,
        considerate: bool = False,
    ) -> ShardedFrontier:
        if self.in_order:
            options = replace(options or FrontierOptions(), ahead=0)
        return ShardedFrontier(
            self.servers,
            prefix=crawl,
            worker_id=worker,
            options=options,
            guest=guest,
            considerate=considerate,
        )


@dataclass(frozen=True)
class SqliteBackend:
    """A folder with a SQLite file for each crawl."""

    folder: Path

    def frontier(
        self,
        crawl: str,
        worker: str,
        options: FrontierOptions | None = None,
        *,
        guest: bool = False,
        considerate: bool = False,
    ) -> SqliteFrontier:
        return SqliteFrontier(
            self.folder / crawl / "frontier.db",
            name=crawl,
            worker_id=worker,
            options=options,
            guest=guest,
            considerate=considerate,
        )


def backend_at(address: str) -> Backend:
    """The backend that an address leads to, for other processes of a test.

    The address of files is ``sqlite:`` and their folder; several addresses with commas are those of
    shards.
    """
    if address.startswith("redis+cluster:"):
        return ShardedBackend((address,) * 3)
    if "," in address:
        return ShardedBackend(tuple(address.split(",")))
    if address.startswith("sqlite:"):
        return SqliteBackend(Path(address.removeprefix("sqlite:")))
    return RedisBackend(address)
