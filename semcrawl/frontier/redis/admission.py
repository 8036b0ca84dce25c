"""Decides which crawl on a shared Redis a run takes part in, and whether it may."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ResponseError, WatchError
from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.frontier.redis.charter import (
    Charter,
    JobName,
    Membership,
    digest_of,
    name_for,
    place_of,
)
from semcrawl.frontier.redis.crawlserver import CrawlServers
from semcrawl.frontier.redis.keys import DEFAULT_NAME, Keys
from semcrawl.metadata.database import CRAWL_DB

#: settings with a higher priority were given by the user
_DEFAULT_PRIORITY = 20


def crawl_name(settings: BaseSettings) -> str:
    """Return the crawl's name from the settings."""
    return settings.get("SEMCRAWL_CRAWL_NAME") or DEFAULT_NAME


def admit_harvest(settings: BaseSettings, folder: Path, seeds: Sequence[str]) -> str:
    """Admit a harvest to the crawl of its job folder, or to the named one.

    Returns the crawl's name, and sets it and the crawl's scope in the settings. Without
    ``REDIS_URL`` no other crawl can interfere, and nothing is set. Raises ``UsageError`` for a
    harvest that is meant for another crawl, ``FrontierUnavailable`` for an absent server.
    """
    if not settings.get("REDIS_URL"):
        return crawl_name(settings)
    servers = CrawlServers.of(settings)
    own = JobName.read(folder)
    name = settings.get("SEMCRAWL_CRAWL_NAME") or (own.crawl if own else "")
    name = name or _first_name(servers, folder)
    run = _membership(settings, folder, seeds, own)
    if own is None:
        own = JobName.fresh(name)
        run = replace(run, folder=own.folder)
    scope = _admitted(servers, name, run)
    if JobName.read(folder) is None:
        own.write(folder)
    settings.set("SEMCRAWL_CRAWL_NAME", name, "cmdline")
    settings.set("SEMCRAWL_SCOPE", scope, "cmdline")
    return name


def admit_worker(settings: BaseSettings, folder: Path, seeds: Sequence[str], scope: str) -> None:
    """Admit a spider to the named crawl; raise as :func:`admit_harvest` does.

    With an empty ``scope`` it takes the crawl's.
    """
    if not settings.get("REDIS_URL"):
        return
    run = replace(_membership(settings, folder, seeds, JobName.read(folder)), worker=True)
    if scope:
        run = replace(run, scope=scope, scope_given=True)
    found = _admitted(CrawlServers.of(settings), crawl_name(settings), run)
    settings.set("SEMCRAWL_SCOPE", found, "cmdline")


def _first_name(servers: CrawlServers, folder: Path) -> str:
    """Name the crawl of a folder without a name.

    A crawl that began when all crawls had the same name keeps that name.
    """
    name = name_for(folder)
    own = any((folder / name).exists() for name in ("frontier", "frontier.former", "frontier.db"))
    shared_before = (folder / CRAWL_DB).is_file() and not own
    if not shared_before:
        return name
    with servers.home(name) as (redis, keys):
        if redis.exists(keys.meta):
            return name
    with servers.home(DEFAULT_NAME) as (redis, keys):
        if not redis.exists(keys.meta):
            return name
        charter = _read(redis, keys)
    return DEFAULT_NAME if charter is None or charter.adopted else name


def _membership(
    settings: BaseSettings, folder: Path, seeds: Sequence[str], name: JobName | None
) -> Membership:
    place = place_of(folder)
    return Membership(
        folder=name.folder if name else place,
        place=place,
        seeds=digest_of(seeds),
        first_seed=seeds[0] if seeds else "",
        scope=settings.get("SEMCRAWL_SCOPE") or "site",
        scope_given=(settings.getpriority("SEMCRAWL_SCOPE") or 0) > _DEFAULT_PRIORITY,
        joins=settings.getbool("SEMCRAWL_JOIN"),
        began_before=(folder / CRAWL_DB).is_file(),
    )


def _admitted(servers: CrawlServers, name: str, run: Membership) -> str:
    """Enter a run into a crawl's charter; return the crawl's scope."""
    with servers.home(name) as (redis, keys):
        while True:
            with suppress(WatchError), redis.pipeline() as transaction:
                return _entered(transaction, keys, name, run)
            # another run entered at the same time


def _entered(transaction: Pipeline, keys: Keys, name: str, run: Membership) -> str:
    key = keys["charter"]
    try:
        transaction.watch(key, keys.meta)  # type: ignore[no-untyped-call]
        charter = _read(transaction, keys)
        there = bool(transaction.exists(keys.meta))
        if run.joins and not there and charter is None:
            raise UsageError(f"there is no crawl {name!r} to join on this Redis")
        charter = Charter.of(run, adopted=there) if charter is None else charter.admit(run, name)
        transaction.multi()
        transaction.set(key, charter.dump())
        transaction.execute()
    except ResponseError as error:
        if "WRONGTYPE" in str(error):
            return run.scope  # the opening of the frontier reports it
        raise
    return charter.scope


def _read(redis: Redis, keys: Keys) -> Charter | None:
    """Return the charter of a crawl, if it has one."""
    text = redis.get(keys["charter"])
    return None if text is None else Charter.read(text)
