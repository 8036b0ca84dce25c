"""Takes over the frontier of a job folder that an earlier version kept on an embedded Redis.

A Redis binary reads a copy of the old data, and its exported lines fill a new file. The old folder
is set aside only when the file is complete, so a killed run starts over.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis

from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.localserver import RedisServer, find_server
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.frontier.transfer import export_lines, import_lines
from semcrawl.frontier.workers import worker_name
from semcrawl.machine.filelocks import try_lock

logger = logging.getLogger(__name__)

#: folder of the embedded Redis in a job folder, and the file that identifies it
FORMER_FOLDER, FORMER_LOCK = "frontier", "redis.lock"
#: its name after the takeover, and the working folder of a takeover
_ASIDE, _WORK = "frontier.former", "frontier.takeover"
#: seconds to wait for another process to release the folder
_PATIENCE = 60.0


def has_former(folder: Path) -> bool:
    """Whether a job folder holds the frontier of an embedded Redis."""
    return (folder / FORMER_FOLDER / FORMER_LOCK).is_file()


def take_over(folder: Path, file: Path, name: str) -> None:
    """Move the frontier of an embedded Redis in a job folder, if there is one, into ``file``.

    ``name`` is the crawl to take if the server has several. Blocks until it is done.

    Raises ``UsageError`` if no binary can read the old data, ``FrontierUnavailable`` if another
    process holds it or the disk cannot be written, ``FrontierCorrupt`` for another format. The old
    data then stays as it is.
    """
    if not has_former(folder):
        return
    binary = find_server()
    if binary is None and not file.exists():
        raise UsageError(
            f"the frontier in {folder / FORMER_FOLDER} is one of an embedded Redis: install "
            "redis-server or valkey-server, which reads it once, and run this again"
        )
    try:
        with _locked(folder):
            if not has_former(folder):
                return  # another process did it meanwhile
            work = folder / _WORK
            shutil.rmtree(work, ignore_errors=True)
            if binary is not None and not file.exists():
                logger.info("taking over the frontier of %s into %s", folder / FORMER_FOLDER, file)
                work.mkdir()
                # a thread of its own: the caller's may run an event loop
                with ThreadPoolExecutor(1) as thread:
                    made = thread.submit(
                        _copied, folder / FORMER_FOLDER, work, binary, name
                    ).result()
                if made is not None:
                    made.replace(file)
            (folder / FORMER_FOLDER).rename(_free_name(folder / _ASIDE))
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise FrontierUnavailable(
            f"cannot take over the frontier in {folder / FORMER_FOLDER}: {error.strerror or error}"
        ) from error


def _free_name(path: Path) -> Path:
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the old folder, which its server held too."""
    with (folder / FORMER_FOLDER / FORMER_LOCK).open("ab") as file:
        deadline = time.monotonic() + _PATIENCE
        while not try_lock(file):
            if time.monotonic() > deadline:
                raise FrontierUnavailable(f"{folder / FORMER_FOLDER} is in use by another process")
            time.sleep(0.05)
        yield


def _copied(old: Path, work: Path, binary: str, name: str) -> Path | None:
    """Make the new file in ``work``; return ``None`` if the old server has no crawl."""
    data = work / "data"
    # newer servers rewrite the files that they read, so they get a copy
    shutil.copytree(old, data, ignore=shutil.ignore_patterns("redis.*"))
    with (
        RedisServer(data, binary) as server,
        Redis(unix_socket_path=str(server.socket)) as redis,
    ):
        crawls = [
            key.decode().removeprefix("{").removesuffix("}:meta")
            for key in redis.scan_iter("{*}:meta")
        ]
        if not crawls:
            return None
        if len(crawls) > 1 and name not in crawls:
            raise UsageError(
                f"{old} holds the crawls {', '.join(sorted(crawls))}: name one by"
                " -s SEMCRAWL_CRAWL_NAME=NAME"
            )
        crawl = name if name in crawls else crawls[0]
        return asyncio.run(_filled(server.socket, crawl, _seeds(redis, crawl), work))


async def _filled(socket: Path, crawl: str, seeds: dict[str, list[str]], work: Path) -> Path:
    lines, file = work / "lines.jsonl", work / "frontier.db"
    former = RedisFrontier(socket, prefix=crawl, worker_id=worker_name(), guest=True)
    await former.open(make=False)
    try:
        with lines.open("w", encoding="utf-8") as out:
            async for line in export_lines(former):
                out.write(line)
    finally:
        await former.close()
    present = SqliteFrontier(file, name=crawl, worker_id=worker_name(), guest=True)
    await present.open()
    try:
        with lines.open(encoding="utf-8") as source:
            await import_lines(present, source)
        for key, raw in seeds.items():
            await present.seeds.push(key, raw)
    finally:
        await present.close()
    with file.open("rb+") as made:
        os.fsync(made.fileno())
    return file


def _seeds(redis: Any, crawl: str) -> dict[str, list[str]]:
    """Return the seeds by list, pending ones first."""
    found: dict[str, list[str]] = {}
    start = f"{{{crawl}}}:pending:"
    for key in redis.scan_iter("*"):
        name = key.decode("utf-8", "replace")
        kind = redis.type(key)
        if name.startswith(start) and kind == b"zset":
            taken = [member.partition(b"\0")[2].decode() for member in redis.zrange(key, 0, -1)]
            name = name.removeprefix(start)
            found[name] = taken + found.get(name, [])
        elif kind == b"list" and name.endswith("start_urls"):
            found.setdefault(name, []).extend(s.decode() for s in redis.lrange(key, 0, -1))
    return found
