"""Blobs, expiring answers, claims and lists of seeds on Redis."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from semcrawl.frontier.contract.pace import micros
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.keys import Keys


class RedisBlobs:
    """Blobs that last (:class:`~semcrawl.frontier.contract.Blobs`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._key = keys["state"]

    async def put(self, name: str, content: bytes) -> None:
        """Store a blob."""
        await self._server.ask("hset", self._key, name, content)

    async def get(self, name: str) -> bytes | None:
        """Return a blob, or ``None``."""
        found: bytes | None = await self._server.ask("hget", self._key, name)
        return found

    def describe(self, name: str) -> str:
        """Return where a blob is stored."""
        return f"the frontier's key {self._key!r}, field {name!r}"


class RedisCache:
    """Answers that expire, and claims (:class:`~semcrawl.frontier.contract.SharedCache`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys
        #: id under which this worker claims
        self._holder = uuid4().bytes

    async def put(self, name: str, content: bytes, seconds: float) -> None:
        """Store an answer for some time."""
        await self._server.ask("set", self._keys[name], content, px=_millis(seconds))

    async def get(self, name: str) -> bytes | None:
        """Return an answer that has not expired, or ``None``."""
        found: bytes | None = await self._server.ask("get", self._keys[name])
        return found

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it."""
        return bool(await self._server.run("claim", [name, self._holder, _millis(seconds)]))

    async def release(self, name: str) -> None:
        """Release this worker's claim."""
        await self._server.run("unclaim", [name, self._holder])

    def describe(self, name: str) -> str:
        """Return where an answer is stored."""
        return f"the frontier's key {self._keys[name]!r}"


class RedisSeeds:
    """Lists of seeds, each under its own key (:class:`~semcrawl.frontier.contract.SeedLists`)."""

    def __init__(self, server: Server, worker_id: str, lease_time: float) -> None:
        self._server = server
        self._worker_id = worker_id
        self._lease_time = micros(lease_time)

    async def push(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds to the Redis list ``key``."""
        if seeds:
            await self._server.ask("rpush", self._server.placed(key), *map(_bytes, seeds))

    async def take(self, key: str, limit: int) -> list[str]:
        """Take seeds from the head of the list ``key``; also from a set, or a sorted set's top."""
        args = [limit, self._lease_time, self._worker_id]
        place = self._server.placed(key)
        reply = await self._server.run("take_seeds", args, place, once=True)
        return [seed.decode("utf-8", "surrogateescape") for seed in reply]

    async def done(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are in the frontier now."""
        if seeds:
            args = [list(map(_bytes, seeds)), self._worker_id]
            await self._server.run("done_seeds", args, self._server.placed(key))


def _bytes(seed: str) -> bytes:
    return seed.encode("utf-8", "surrogateescape")


def _millis(seconds: float) -> int:
    return max(round(seconds * 1000), 1)
