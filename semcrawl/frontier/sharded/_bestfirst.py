"""Drawing the best links from several shards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from semcrawl.frontier.contract import Lease, SkippedHosts
from semcrawl.frontier.sharded.shard import Shard, Standing
from semcrawl.frontier.sharded.shards import Shards, together


@dataclass(slots=True)
class _Head:
    """Where the best link of a shard stands, as this worker saw it."""

    standing: Standing | None
    #: when (``time.monotonic``)
    seen: float


class Drawing:
    """Takes the best links of all shards, in the order of one.

    It merges the shards' own orders: it takes from the shard whose best link stands first, up to
    where the next shard's best one stands. What it saw of a shard holds for ``glance`` seconds, as
    long as this worker changes nothing there. So a link may come too early by what other workers,
    and the ends of delays, changed in that time.
    """

    def __init__(self, shards: Shards, glance: float) -> None:
        self._shards = shards
        self._glance = glance
        #: by queues, then by shard
        self._heads: dict[tuple[str, ...], dict[int, _Head]] = {}

    def forget(self, shard: Shard) -> None:
        """Look at a shard again: its links may have another order now."""
        for heads in self._heads.values():
            heads.pop(shard.number, None)

    async def take(self, limit: int, queues: Sequence[str], skip: SkippedHosts) -> list[Lease]:
        """Lease up to ``limit`` links, the best ones first."""
        taken = await self._take(limit, queues, skip)
        if len(taken) < limit and skip.domains:
            shards = self._shards
            if not any(await shards.each(lambda shard: shard.others_wait(skip.domains))):
                rest = SkippedHosts(skip.untried)
                taken += await self._take(limit - len(taken), queues, rest)
        return taken

    async def _take(self, limit: int, queues: Sequence[str], skip: SkippedHosts) -> list[Lease]:
        heads = self._heads.setdefault(tuple(queues), {})
        began = time.monotonic()
        await self._look(heads, queues, began - self._glance)
        taken: list[Lease] = []
        while len(taken) < limit:
            number, bound = _first_two(heads)
            if number is None:
                if not await self._look(heads, queues, began):
                    break  # all were looked at in this very call
                continue
            shard = self._shards[number]
            leases, head = await shard.draw(limit - len(taken), queues, bound, skip)
            heads[number] = _Head(head, time.monotonic())
            taken += leases
            if len(taken) < limit and head is not None and (bound is None or head <= bound):
                break  # links are withheld in great numbers: the next take goes on
        if skip:
            heads.clear()  # they are those of the hosts that were not skipped
        return taken

    async def _look(self, heads: dict[int, _Head], queues: Sequence[str], since: float) -> bool:
        """Look at the shards that were not looked at since; whether there were any."""
        old = [
            shard
            for number, shard in enumerate(self._shards)
            if number not in heads or heads[number].seen < since
        ]
        found = await together([shard.peek(queues) for shard in old]) if old else []
        now = time.monotonic()
        for shard, standing in zip(old, found, strict=True):
            heads[shard.number] = _Head(standing, now)
        return bool(old)


def _first_two(heads: dict[int, _Head]) -> tuple[int | None, Standing | None]:
    """Return the shard whose best link stands first, and where that of the next one stands."""
    standing = sorted(
        (head.standing, number) for number, head in heads.items() if head.standing is not None
    )
    if not standing:
        return None, None
    return standing[0][1], standing[1][0] if len(standing) > 1 else None
