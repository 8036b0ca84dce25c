"""The frontier, where links wait: in a SQLite file, on a Redis server, or in shards on several."""

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
