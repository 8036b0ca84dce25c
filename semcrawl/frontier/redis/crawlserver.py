"""Asks the servers of ``REDIS_URL`` before a crawl is opened."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from redis import Redis
from redis.crc import key_slot
from redis.exceptions import BusyLoadingError, RedisError, ResponseError
from scrapy.settings import BaseSettings

from semcrawl.config.redisserver import make_client
from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.redis._slotmap import ASK_SLOTS, SlotMap
from semcrawl.frontier.redis.clients import plain_reason
from semcrawl.frontier.redis.keys import Keys
from semcrawl.frontier.redis.redisurl import Addresses
from semcrawl.web.hosts import public_address

#: seconds to wait for a server's answer
_TIMEOUT = 5
#: most shards of a crawl
_MOST_SHARDS = 1024


class CrawlServers:
    """The servers of a frontier, and its number of shards.

    Each method raises ``FrontierUnavailable`` if a server that it needs is away.
    """

    def __init__(self, addresses: Addresses, wanted: int = 0) -> None:
        self.addresses = addresses
        #: number of shards in the settings; 0 = not set
        self.wanted = wanted

    @classmethod
    def of(cls, settings: BaseSettings) -> CrawlServers:
        """Read the settings; raise ``UsageError`` for a wrong one."""
        text = settings.get("SEMCRAWL_FRONTIER_SHARDS") or 0
        try:
            wanted = int(text)
        except (TypeError, ValueError):
            wanted = -1
        if not 0 <= wanted <= _MOST_SHARDS:
            raise UsageError(
                f"SEMCRAWL_FRONTIER_SHARDS must be a number from 0 to {_MOST_SHARDS}, not {text!r}"
            )
        return cls(Addresses.read(str(settings.get("REDIS_URL"))), wanted)

    def check(self) -> None:
        """Check that all servers answer, or one of the named nodes of a cluster."""
        if self.addresses.cluster:
            self._slots()
            return
        for url in self.addresses.urls:
            with self._reached(url):
                pass

    def shards(self, name: str) -> int:
        """Return the number of shards that a crawl has or will have.

        Raises ``UsageError`` if it began with another number than the settings ask for.
        """
        kept = self._kept(name)
        several = len(self.addresses.urls) > 1 and not self.addresses.cluster
        if kept and ((self.wanted and kept != self.wanted) or (several and kept == 1)):
            asked = self.wanted or len(self.addresses.urls)
            raise UsageError(
                f"the crawl {name!r} began with {'one shard' if kept == 1 else f'{kept} shards'},"
                f" not {asked}: its frontier can be exported, and imported into a new crawl"
            )
        if kept or self.wanted:
            return kept or self.wanted
        if self.addresses.cluster:
            return max(1, self._slots().primaries)
        return len(self.addresses.urls)

    @contextmanager
    def home(self, name: str) -> Iterator[tuple[Redis, Keys]]:
        """Connect to the server of a crawl's first shard; yield it and that shard's keys.

        The first shard has everything that belongs to the whole crawl.
        """
        keys = Keys(name if self.shards(name) == 1 else f"{name}.0")
        with self._reached(self._server_of(keys)) as redis:
            yield redis, keys

    def _kept(self, name: str) -> int:
        """Return the number of shards that a crawl began with; 0 if it did not begin."""
        for keys in (Keys(name), Keys(f"{name}.0")):
            with self._reached(self._server_of(keys)) as redis:
                try:
                    version, shards = redis.hmget(keys.meta, ["format", "shards"])
                except ResponseError as error:
                    if "WRONGTYPE" in str(error):
                        return 1  # the opening of the frontier reports it
                    raise
            if version is not None and (shards is None) == (keys.prefix == name):
                return int(shards or 1)
        return 0

    def _server_of(self, keys: Keys) -> str:
        if not self.addresses.cluster:
            return self.addresses.urls[0]
        slot = key_slot(keys.meta.encode("utf-8", "surrogatepass"))
        found = self._slots().primary(slot)
        if found is None:
            raise FrontierUnavailable(
                f"the cluster at REDIS_URL {public_address(self.addresses.whole)} is not whole: no"
                f" node serves slot {slot}, that of the crawl {keys.prefix!r}"
            )
        return found

    def _slots(self) -> SlotMap:
        """Return the view of the first node that answers."""
        for url in self.addresses.urls[:-1]:
            try:
                return self._slots_at(url)
            except FrontierUnavailable:
                continue
        return self._slots_at(self.addresses.urls[-1])

    def _slots_at(self, url: str) -> SlotMap:
        with self._reached(url) as redis:
            try:
                reply: list[Any] = redis.execute_command(*ASK_SLOTS)  # type: ignore[no-untyped-call]
                return SlotMap.read(reply, url)
            except ResponseError as error:
                if "cluster support disabled" in str(error):
                    raise UsageError(
                        f"REDIS_URL: the Redis at {public_address(url)} is no node of a cluster;"
                        " leave out +cluster"
                    ) from None
                raise

    @contextmanager
    def _reached(self, url: str) -> Iterator[Redis]:
        shown = public_address(url)
        try:
            with make_client(
                url, socket_connect_timeout=_TIMEOUT, socket_timeout=_TIMEOUT
            ) as redis:
                _wait_until_loaded(redis)
                yield redis
        except ValueError as error:
            raise UsageError(f"REDIS_URL {shown}: {error}") from None
        except (RedisError, OSError) as error:
            urls = self.addresses.urls
            which = f" ({urls.index(url) + 1} of {len(urls)})" if url in urls and urls[1:] else ""
            raise FrontierUnavailable(
                f"no Redis at REDIS_URL {shown}{which}: {plain_reason(error)}"
            ) from None


def _wait_until_loaded(redis: Redis) -> None:
    """Wait some seconds for a server that has restarted and is loading its data."""
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            redis.ping()
            return
        except BusyLoadingError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.05)
