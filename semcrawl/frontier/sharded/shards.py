"""The shards of a crawl, and the choice of the shard in charge."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any, TypeVar
from zlib import crc32

from semcrawl.frontier.contract import Lease
from semcrawl.frontier.sharded.shard import Shard

T = TypeVar("T")
R = TypeVar("R")


def number_of(name: str, shards: int) -> int:
    """Return the number of the shard in charge of a host or another name."""
    return crc32(name.encode("utf-8", "surrogatepass")) % shards


class Shards(Sequence[Shard]):
    """All shards of a crawl, in order.

    ``written`` is called with a shard after changes to its links; ``freed`` after changes that may
    only make waiting links ready.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        written: Callable[[Shard], None],
        freed: Callable[[Shard], None],
    ) -> None:
        self._shards = shards
        self.written = written
        self.freed = freed

    def __len__(self) -> int:
        """Return the number of shards."""
        return len(self._shards)

    def __iter__(self) -> Iterator[Shard]:
        """Iterate over the shards."""
        return iter(self._shards)

    def __getitem__(self, index: Any) -> Any:
        """Return a shard by its number."""
        return self._shards[index]

    @property
    def home(self) -> Shard:
        """The shard of everything that belongs to no host: seeds, events, learned state."""
        return self._shards[0]

    def of(self, name: str) -> Shard:
        """Return the shard in charge of a host or another name."""
        return self._shards[number_of(name, len(self._shards))]

    async def change(self, name: str, call: Callable[[Shard], Awaitable[R]]) -> R:
        """Call the shard of a host, which may make links ready."""
        shard = self.of(name)
        try:
            return await call(shard)
        finally:
            self.freed(shard)

    def of_lease(self, lease: Lease) -> Shard:
        """Return the shard that gave a lease."""
        return self._shards[int(lease.id.split(":", 2)[1])]

    def parted(
        self, items: Iterable[T], shard: Callable[[T], Shard]
    ) -> list[tuple[Shard, list[T]]]:
        """Group items by shard, in order."""
        parts: defaultdict[int, list[T]] = defaultdict(list)
        found: dict[int, Shard] = {}
        for item in items:
            one = shard(item)
            found[id(one)] = one
            parts[id(one)].append(item)
        return [(found[name], part) for name, part in parts.items()]

    def by_lease(self, leases: Iterable[Lease]) -> list[tuple[Shard, list[Lease]]]:
        """Group leases by shard."""
        return self.parted(leases, self.of_lease)

    async def each(self, call: Callable[[Shard], Coroutine[Any, Any, R]]) -> list[R]:
        """Call all shards concurrently; return their answers in order."""
        return await together([call(shard) for shard in self._shards])


class ShardedPart:
    """A part of a frontier in shards."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards


async def together(calls: Sequence[Awaitable[R]]) -> list[R]:
    """Await all calls concurrently to their end; raise the first error."""
    if len(calls) == 1:
        return [await calls[0]]
    results = await asyncio.gather(*calls, return_exceptions=True)
    found: list[R] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found
