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
    where the next shard's best one stands, and ``ahead`` links beyond that have the same value,
    turn and key. What it saw of a shard holds for ``glance`` seconds; without ``ahead``, only as
    long as this worker changes nothing there. So a link may come too early by what the workers, and
    the ends of delays, changed in that time.
    """

    def __init__(self, shards: Shards, ahead: int, glance: float) -> None:
        self._shards = shards
        self._ahead, self._is_exact = ahead, not ahead
        self._glance = glance
        #: by queues and whether hosts are skipped, then by shard
        self._heads: dict[tuple[tuple[str, ...], bool], dict[int, _Head]] = {}

    def forget(self, shard: Shard) -> None:
        """Look at a shard again: its links may have another order now."""
        if self._is_exact:
            for heads in self._heads.values():
                heads.pop(shard.number, None)

    @property
    def queues(self) -> list[tuple[str, ...]]:
        """Lists of queues from which links are taken: where their best ones stand is of use."""
        return [] if self._is_exact else list({queues for queues, _ in self._heads})

    def saw(
        self,
        shard: Shard,
        queues: Sequence[tuple[str, ...]],
        standings: Sequence[Standing | None],
    ) -> None:
        """Note where the best links of a shard stand, as a call has told that was made anyway."""
        now = time.monotonic()
        for names, standing in zip(queues, standings, strict=True):
            for skipped in (False, True):
                if (heads := self._heads.get((names, skipped))) is not None:
                    heads[shard.number] = _Head(standing, now)

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        skip: SkippedHosts,
        over: Sequence[Lease] = (),
    ) -> list[Lease]:
        """Lease up to ``limit`` links, the best ones first; release the downloads ``over``."""
        released = {shard.number: part for shard, part in self._shards.by_lease(over)}
        if self._is_exact:
            await self._release(released)
        taken = await self._take(limit, queues, skip, released)
        if len(taken) < limit and skip.domains:
            shards = self._shards
            if not any(await shards.each(lambda shard: shard.others_wait(skip.domains))):
                rest = SkippedHosts(skip.untried)
                taken += await self._take(limit - len(taken), queues, rest, released)
        await self._release(released)
        return taken

    async def _release(self, over: dict[int, list[Lease]]) -> None:
        """Release downloads by shard, and forget them."""
        parts = list(over.items())
        over.clear()
        if parts:
            await together([self._shards[number].release_host(part) for number, part in parts])
            for number, _ in parts:
                self.forget(self._shards[number])

    async def _take(
        self,
        limit: int,
        queues: Sequence[str],
        skip: SkippedHosts,
        over: dict[int, list[Lease]],
    ) -> list[Lease]:
        heads = self._heads.setdefault((tuple(queues), bool(skip)), {})
        began = time.monotonic()
        taken: list[Lease] = []

        async def draw(number: int, bound: Standing | None, ahead: int) -> Standing | None:
            left, ended = limit - len(taken), over.pop(number, ())
            shard: Shard = self._shards[number]
            leases, head = await shard.draw(left, queues, bound, skip, ahead, ended)
            heads[number] = _Head(head, time.monotonic())
            taken.extend(leases)
            return head

        # (what waits in these may wait for the end of these very downloads)
        exhausted = [n for n in over if n not in heads or heads[n].standing is None]
        await self._look(heads, queues, began - self._glance, exhausted)
        for number in exhausted:
            if len(taken) < limit:
                order = _order(heads)
                await draw(number, order[0][0] if order else None, 0)
        while len(taken) < limit:
            order = _order(heads)
            if not order:
                if (taken and not self._is_exact) or not await self._look(heads, queues, began):
                    break  # all were looked at in this very call, or a short time ago
                continue
            bound = order[1][0] if order[1:] else None
            head = await draw(order[0][1], bound, self._ahead)
            if len(taken) < limit and head is not None and (bound is None or head <= bound):
                break  # links are withheld in great numbers: the next take goes on
        if skip and self._is_exact:
            heads.clear()  # they are those of the hosts that were not skipped
        return taken

    async def _look(
        self,
        heads: dict[int, _Head],
        queues: Sequence[str],
        since: float,
        without: Sequence[int] = (),
    ) -> bool:
        """Look at the shards that were not looked at since; whether there were any."""
        old = [
            shard
            for number, shard in enumerate(self._shards)
            if number not in without and (number not in heads or heads[number].seen < since)
        ]
        found = await together([shard.peek(queues) for shard in old]) if old else []
        now = time.monotonic()
        for shard, standing in zip(old, found, strict=True):
            heads[shard.number] = _Head(standing, now)
        return bool(old)


def _order(heads: dict[int, _Head]) -> list[tuple[Standing, int]]:
    """Return where the best links of the shards stand, and which shard has it, the first first."""
    return sorted((head.standing, number) for number, head in heads.items() if head.standing)
