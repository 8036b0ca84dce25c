"""Where links wait: the frontier on Redis, served or embedded."""

from semcrawl.frontier.contract import Counts, Entry, Frontier, Lease
from semcrawl.frontier.local.server import EmbeddedRedis
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.workers import worker_name

__all__ = [
    "Counts",
    "EmbeddedRedis",
    "Entry",
    "Frontier",
    "FrontierOptions",
    "Lease",
    "RedisFrontier",
    "worker_name",
]
