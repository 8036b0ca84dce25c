"""Checks that the shards belong together: all of one crawl, as many as it began with."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import uuid4

from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError
from semcrawl.frontier.redis.keys import Keys
from semcrawl.frontier.sharded.shard import Shard
from semcrawl.frontier.sharded.shards import Shards

logger = logging.getLogger(__name__)


async def found(shards: Shards, name: str, *, make: bool) -> None:
    """Check that the shards are those of one crawl; set the crawl's id in each.

    A crawl is *whole* once all its shards were opened. After that none may be missing. Raises
    ``UsageError`` for a crawl that began with another number of shards, ``FrontierCorrupt`` if a
    shard is missing or another crawl's, and ``FrontierUnavailable`` if a server is away or, without
    ``make``, there is no such crawl.
    """
    await shards.each(lambda shard: shard.check())
    number = len(shards)
    fields = await shards.each(
        lambda shard: shard.kept("format", "crawl", "shard", "shards", "whole")
    )
    for shard, (version, _, own, kept, _) in zip(shards, fields, strict=True):
        if version is not None and kept != str(number):
            raise UsageError(
                f"the crawl {name!r} on the Redis at {shard.address} began with"
                f" {_shards(kept)}, not {number}: name as many (SEMCRAWL_FRONTIER_SHARDS), or"
                " export and import it"
            )
        if version is not None and own != str(shard.number):
            raise FrontierCorrupt(f"the frontier's key {shard.keys.meta!r} is that of shard {own}")
    # in a cluster these keys are on other nodes
    alone = not shards.home.in_cluster
    if alone and await shards.home.holds(Keys(name).meta):
        raise UsageError(
            f"the crawl {name!r} on the Redis at {shards.home.address} began with one shard, not"
            f" {number}: give its server alone as REDIS_URL, or export and import it"
        )
    if alone:
        await _check_places(shards, name)
    crawl = _common([(s, crawl) for s, (_, crawl, *_) in zip(shards, fields, strict=True)], name)
    missing = [s for s, (version, *_) in zip(shards, fields, strict=True) if version is None]
    if missing and any(whole for *_, whole in fields):
        raise _lost(missing[0], name, number)
    if missing and not make:
        raise FrontierUnavailable(
            f"there is no crawl {name!r} on the Redis at {missing[0].address}"
        )
    crawl = crawl or uuid4().hex
    for shard in shards:
        shard.crawl = crawl


async def _check_places(shards: Shards, name: str) -> None:
    """Raise ``FrontierCorrupt`` if a server has a shard that REDIS_URL places elsewhere."""
    for shard in shards:
        elsewhere = [s.keys.meta for s in shards if s.address != shard.address]
        if elsewhere and await shard.holds(*elsewhere):
            raise FrontierCorrupt(
                f"the Redis at {shard.address} has another shard of the crawl {name!r} than its"
                " place in REDIS_URL says: the servers were named in another order"
            )


def _common(crawls: Sequence[tuple[Shard, str | None]], name: str) -> str:
    """Return the id of the shards' crawl; empty if none has one yet."""
    common = ""
    for shard, crawl in crawls:
        if crawl is not None and crawl != (common or crawl):
            raise FrontierCorrupt(
                f"the Redis at {shard.address} has a shard of another crawl that was called"
                f" {name!r}, too"
            )
        common = crawl or common
    return common


def _lost(shard: Shard, name: str, number: int) -> FrontierCorrupt:
    return FrontierCorrupt(
        f"shard {shard.number} of the {number} of the crawl {name!r} is not on the Redis at"
        f" {shard.address}: it was emptied, or REDIS_URL named the servers in another order"
    )


def _shards(kept: str | None) -> str:
    return "one shard" if kept in (None, "1") else f"{kept} shards"


async def warn(shards: Shards) -> None:
    """Warn once of each server setting with which links may be lost."""
    servers: dict[str, list[str]] = {}
    found = await shards.each(lambda shard: shard.cautions())
    for shard, cautions in zip(shards, found, strict=True):
        for caution in cautions:
            servers.setdefault(caution, []).append(shard.address)
    for caution, addresses in servers.items():
        where = ", ".join(dict.fromkeys(addresses))
        logger.warning("the frontier's Redis at %s: %s", where, caution)
