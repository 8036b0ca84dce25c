"""Chooses the kind of connection for an address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from semcrawl.frontier.redis.cluster import ClusterServer
from semcrawl.frontier.redis.connection import Server


def server_at(server: str | Path, **options: Any) -> Server:
    """Return a server, or the cluster node that has the keys; see :class:`Server`."""
    if isinstance(server, str) and "+cluster" in server.partition("://")[0]:
        return ClusterServer(server, **options)
    return Server(server, **options)
