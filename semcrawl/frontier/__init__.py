"""The frontier, where links wait: in a SQLite file, on a Redis server, or in shards on several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcrawl.faces import face

if TYPE_CHECKING:
    from semcrawl.frontier.contract import Counts, Entry, Frontier, FrontierOptions, Lease
    from semcrawl.frontier.redis.frontier import RedisFrontier
    from semcrawl.frontier.sharded.frontier import ShardedFrontier
    from semcrawl.frontier.sqlite.frontier import SqliteFrontier
    from semcrawl.frontier.workers import worker_name

__all__ = [
    "Counts",
    "Entry",
    "Frontier",
    "FrontierOptions",
    "Lease",
    "RedisFrontier",
    "ShardedFrontier",
    "SqliteFrontier",
    "worker_name",
]

_MODULES = {
    **dict.fromkeys(("Counts", "Entry", "Frontier", "FrontierOptions", "Lease"), "contract"),
    "RedisFrontier": "redis.frontier",
    "ShardedFrontier": "sharded.frontier",
    "SqliteFrontier": "sqlite.frontier",
    "worker_name": "workers",
}


#: a backend is loaded by those who use it
__getattr__ = face(__name__, _MODULES)
