"""Which crawl on a shared Redis a run works on, and whether it may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError, ResponseError, WatchError
from scrapy.settings import BaseSettings

from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.redis.charter import (
    Charter,
    JobName,
    Membership,
    digest_of,
    name_for,
    place_of,
)
from semcrawl.frontier.redis.connection import plain_reason
from semcrawl.frontier.redis.keys import DEFAULT_NAME, Keys
from semcrawl.metadata.database import CRAWL_DB
from semcrawl.web.hosts import public_address

#: seconds that the server gets to answer
_TIMEOUT = 5
#: what ``-s`` and the like say has this priority at least
_SAID = 20


@contextmanager
def reached(url: str) -> Iterator[Redis]:
    """Connect to the server of ``REDIS_URL``.

    Raises ``UsageError`` for a wrong address, ``FrontierUnavailable`` when it is away.
    """
    try:
        with Redis.from_url(url, socket_connect_timeout=_TIMEOUT, socket_timeout=_TIMEOUT) as redis:
            redis.ping()
            yield redis
    except ValueError as error:
        raise UsageError(f"REDIS_URL {public_address(url)}: {error}") from None
    except (RedisError, OSError) as error:
        raise FrontierUnavailable(
            f"no Redis at REDIS_URL {public_address(url)}: {plain_reason(error)}"
        ) from None


def crawl_name(settings: BaseSettings) -> str:
    """Return the name of the crawl that the settings give."""
    return settings.get("SEMCRAWL_CRAWL_NAME") or DEFAULT_NAME


def admit_harvest(settings: BaseSettings, folder: Path, seeds: Sequence[str]) -> str:
    """Take a harvest into the crawl of its job folder, or into the one that is named.

    Without ``REDIS_URL`` no other crawl can interfere. Returns the crawl's name, which is set from
    now on, and the scope as well. Raises ``UsageError`` for a harvest that has another crawl in
    mind, ``FrontierUnavailable`` for a server that is away.
    """
    url = settings.get("REDIS_URL")
    if not url:
        return crawl_name(settings)
    with reached(str(url)) as redis:
        own = JobName.read(folder)
        name = settings.get("SEMCRAWL_CRAWL_NAME") or (own.crawl if own else "")
        name = name or _first_name(redis, folder)
        run = _membership(settings, folder, seeds, own)
        if own is None:
            own = JobName.fresh(name)
            run = replace(run, folder=own.folder)
        scope = _admitted(redis, name, run)
    if JobName.read(folder) is None:
        own.write(folder)
    settings.set("SEMCRAWL_CRAWL_NAME", name, "cmdline")
    settings.set("SEMCRAWL_SCOPE", scope, "cmdline")
    return name


def admit_worker(settings: BaseSettings, folder: Path, seeds: Sequence[str], scope: str) -> None:
    """Take a spider into the crawl that is named; raise as :func:`admit_harvest` does.

    Without a scope of its own (empty) it takes the crawl's.
    """
    url = settings.get("REDIS_URL")
    if not url:
        return
    with reached(str(url)) as redis:
        run = replace(_membership(settings, folder, seeds, JobName.read(folder)), worker=True)
        if scope:
            run = replace(run, scope=scope, scope_said=True)
        found = _admitted(redis, crawl_name(settings), run)
    settings.set("SEMCRAWL_SCOPE", found, "cmdline")


def _first_name(redis: Redis, folder: Path) -> str:
    """Name the crawl of a folder that says no name.

    One that was begun when all crawls had the same name goes on with it.
    """
    name = name_for(folder)
    own = any((folder / name).exists() for name in ("frontier", "frontier.former", "frontier.db"))
    shared_before = (folder / CRAWL_DB).is_file() and not own
    if not shared_before or redis.exists(Keys(name).meta):
        return name
    old = Keys(DEFAULT_NAME)
    if not redis.exists(old.meta):
        return name
    charter = _read(redis, old)
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
        scope_said=(settings.getpriority("SEMCRAWL_SCOPE") or 0) > _SAID,
        joins=settings.getbool("SEMCRAWL_JOIN"),
        began_before=(folder / CRAWL_DB).is_file(),
    )


def _admitted(redis: Redis, name: str, run: Membership) -> str:
    """Enter a run into a crawl's charter, and return the crawl's scope."""
    keys = Keys(name)
    key = keys["charter"]
    while True:
        with redis.pipeline() as transaction:
            try:
                transaction.watch(key, keys.meta)  # type: ignore[no-untyped-call]
                charter = _read(transaction, keys)
                there = bool(transaction.exists(keys.meta))
                if run.joins and not there and charter is None:
                    raise UsageError(f"there is no crawl {name!r} to join on this Redis")
                if charter is None:
                    charter = Charter.of(run, adopted=there)
                else:
                    charter = charter.admit(run, name)
                transaction.multi()
                transaction.set(key, charter.dump())
                transaction.execute()
            except WatchError:
                continue  # somebody else came in at the same time
            except ResponseError as error:
                if "WRONGTYPE" in str(error):
                    return run.scope  # the opening of the frontier reports it
                raise
            return charter.scope


def _read(redis: Redis, keys: Keys) -> Charter | None:
    """Return the charter of a crawl, if it has one."""
    text = redis.get(keys["charter"])
    return None if text is None else Charter.read(text)
