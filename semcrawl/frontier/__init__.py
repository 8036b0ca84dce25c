"""The frontier, where links wait: in a SQLite file, on a Redis server, or in shards on several."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Import what is named: a backend is loaded by those who use it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
