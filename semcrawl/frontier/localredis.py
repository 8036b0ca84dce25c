"""Keeps a crawl's frontier on a temporary Redis while several workers of a machine need it.

The frontier moves from its file in the job folder to a Redis in the folder ``frontier``, and back
when the workers have ended. If the machine goes down in between, the next run takes it over from
there, like the frontier of a former version.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.config.redisserver import START_URLS_KEY
from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.backends import frontier_file
from semcrawl.frontier.contract import QUEUES, ManagedFrontier
from semcrawl.frontier.formerredis import FORMER_FOLDER, FORMER_LOCK, take_over
from semcrawl.frontier.redis.admission import crawl_name
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.localserver import RedisServer, find_server
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.frontier.transfer import export_lines, import_lines
from semcrawl.frontier.workers import worker_name
from semcrawl.machine.filelocks import try_lock

__all__ = ["has_local_redis", "on_local_redis"]

#: seeds moved at a time
_SEEDS = 1000


def has_local_redis() -> bool:
    """Whether a Redis server is installed on this machine."""
    return find_server() is not None


@contextmanager
def on_local_redis(settings: BaseSettings, folder: Path) -> Iterator[str]:
    """Keep a job's frontier on a Redis during the block; yield its ``REDIS_URL``.

    Raises ``UsageError`` if no server is installed, ``FrontierUnavailable`` if it does not start or
    another process has the folder.
    """
    if not has_local_redis():
        raise UsageError("no redis-server or valkey-server is installed")
    place, file, name = folder / FORMER_FOLDER, frontier_file(folder), crawl_name(settings)
    take_over(folder, file, name)  # from a run that was killed
    place.mkdir(exist_ok=True)
    with (place / FORMER_LOCK).open("ab") as lock:
        if not try_lock(lock):
            raise FrontierUnavailable(f"{place} is in use by another process")
        with RedisServer(place) as server:
            if file.exists():
                asyncio.run(_move(file, server.socket, name))
                for part in folder.glob(f"{file.name}*"):
                    part.unlink()
            yield f"unix://{server.socket}"
    before = set(folder.glob("frontier.former*"))
    take_over(folder, file, name)
    for aside in set(folder.glob("frontier.former*")) - before:
        shutil.rmtree(aside)  # the file has all of it


async def _move(file: Path, socket: Path, name: str) -> None:
    """Copy a frontier with its lists of seeds from its file to a Redis."""
    source = SqliteFrontier(file, name=name, worker_id=worker_name(), guest=True)
    target = RedisFrontier(socket, prefix=name, worker_id=worker_name(), guest=True)
    await source.open(make=False)
    try:
        await target.open()
        try:
            await _copy(source, target)
        finally:
            await target.close()
    finally:
        await source.close()


async def _copy(source: ManagedFrontier, target: ManagedFrontier) -> None:
    await import_lines(target, [line async for line in export_lines(source)])
    for key in [START_URLS_KEY % {"name": queue} for queue in QUEUES]:
        while seeds := await source.seeds.take(key, _SEEDS):
            await target.seeds.push(key, seeds)
