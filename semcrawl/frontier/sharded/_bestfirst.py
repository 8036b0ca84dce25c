"""Drawing the best links from several shards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from semcrawl.frontier.contract import Lease, SkippedHosts
from semcrawl.frontier.sharded.shard import Shard, Standing, View
from semcrawl.frontier.sharded.shards import Shards, together

#: glances for which workers without links believe, at most, that a shard has nothing to take
_NOTHING = 5
#: that there are no events to read since they were read, where links come from another shard
_NO_NEWS = 0.2

#: queues, and whether hosts are skipped
_Kind = tuple[tuple[str, ...], bool]


@dataclass(slots=True)
class _Head:
    """Where the best link of a shard stands, as this worker saw it."""

    #: ``None`` where none is ready
    standing: Standing | None
    #: then when one may be (``time.monotonic``); ``None`` if none waits
    ready: float | None
    #: when it was seen; earlier than ever if this worker changed the shard meanwhile
    seen: float

    def is_doubtful(self, *, came: bool) -> bool:
        """Whether a link may be ready where none was, as hosts were freed, or links ``came``."""
        return self.standing is None and (came or self.ready is not None)


@dataclass(slots=True)
class _Take:
    """What one take is asked for, and what it has."""

    limit: int
    queues: tuple[str, ...]
    skip: SkippedHosts
    #: downloads that are over, by shard, not released yet
    over: dict[int, list[Lease]]
    #: whether its links are published, and whether only if there are no events to read first
    publishes: bool = False
    strict: bool = False
    #: no shard was asked for links yet
    first: bool = True
    #: there are events to read first
    outdated: bool = False
    taken: list[Lease] = field(default_factory=list)
    #: those of ``taken`` that are not published yet
    unpublished: list[Lease] = field(default_factory=list)

    @property
    def left(self) -> int:
        """How many links it still wants."""
        return 0 if self.outdated else self.limit - len(self.taken)


class Drawing:
    """Takes the best links of all shards, in the order of one.

    It merges the shards' own orders: it takes from the shard whose best link stands first, up to
    where the next shard's best one stands, and ``ahead`` links beyond that have the same value,
    turn and key. What it saw of a shard holds for ``glance`` seconds; without ``ahead``, only as
    long as this worker changes nothing there. So a link may come too early by what the workers, and
    the ends of delays, changed in that time.

    A take that finds nothing has looked at all shards. :meth:`ready` finds out more cheaply that
    there is nothing. It believes what a shard answered until the time that the shard named, for
    five glances at most, and no longer once this worker changes something there.
    """

    def __init__(self, shards: Shards, ahead: int, glance: float) -> None:
        self._shards = shards
        #: leases whose downloads are over, and whose hosts are released with links that are put in,
        #: or with the next take
        self.unreleased: list[Lease] = []
        self._ahead, self._is_exact = ahead, not ahead
        self._glance = glance
        #: by shard
        self._heads: dict[_Kind, dict[int, _Head]] = {}
        #: how often this worker has freed hosts of a shard, and put links in
        self._freed: Counter[int] = Counter()
        self._came: Counter[int] = Counter()

    def forget(self, shard: Shard, *, freed: bool = True, came: bool = True) -> None:
        """Look at a shard again: what this worker saw there may hold no longer.

        Links may have another order; with ``freed`` they may be ready now, and with ``came`` wait
        where none did.
        """
        self._freed[shard.number] += freed
        self._came[shard.number] += freed and came
        for heads in self._heads.values():
            head = heads.get(shard.number)
            if head is not None and (self._is_exact or (freed and head.is_doubtful(came=came))):
                del heads[shard.number]

    @property
    def queues(self) -> list[tuple[str, ...]]:
        """Lists of queues from which links are taken: where their best ones stand is of use."""
        return [] if self._is_exact else list({queues for queues, _ in self._heads})

    def saw(
        self,
        shard: Shard,
        queues: Iterable[tuple[str, ...]],
        views: Iterable[View],
        since: tuple[int, int] | None = None,
    ) -> None:
        """Note what a shard told; ``since``: :meth:`changes` when it was asked, if before."""
        now, changes = time.monotonic(), self.changes(shard)
        doubtful = since is not None and since != changes
        came = since is not None and since[1] != changes[1]
        for names, view in zip(queues, views, strict=True):
            for skipped in (False, True):
                if (heads := self._heads.get((names, skipped))) is not None:
                    head = heads[shard.number] = _head(view, now)
                    if doubtful and head.is_doubtful(came=came):
                        head.seen = float("-inf")

    def changes(self, shard: Shard) -> tuple[int, int]:
        """Return other numbers after each change of a shard by this worker."""
        return self._freed[shard.number], self._came[shard.number]

    async def ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a link may be ready; ``None`` if none waits."""
        kinds: list[_Kind] = [(tuple(queues), False)]
        if kinds[0] not in self._heads:  # (links may be taken queue by queue)
            kinds = [((queue,), False) for queue in queues]
        now = time.monotonic()
        for kind in kinds:
            await self._look(kind, lambda head: now < self._until(head))
        heads = [head for kind in kinds for head in self._heads[kind].values()]
        if any(head.standing is not None for head in heads):
            return 0.0
        soonest = min((head.ready for head in heads if head.ready is not None), default=None)
        return None if soonest is None else max(soonest - time.monotonic(), 0.0)

    def _until(self, head: _Head) -> float:
        """Return until when a worker without links believes what it saw of a shard."""
        if head.standing is not None:
            return head.seen + self._glance
        nothing = head.seen + _NOTHING * self._glance
        return nothing if head.ready is None else min(head.ready, nothing)

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        skip: SkippedHosts,
        over: Sequence[Lease] = (),
        *,
        publishes: bool = False,
        strict: bool = False,
    ) -> list[Lease] | None:
        """Lease up to ``limit`` links, the best ones first; release the downloads ``over``.

        A shard that is not asked for links, as others gave enough, releases its downloads with the
        next call, at the latest with the next take.
        If it ``publishes``, the links are published as events; ``None`` with ``strict`` if there
        are events to read first. Those of the first shard are published in the step that takes them
        where they are the first; others are after it.
        """
        late, self.unreleased = self.unreleased, []
        released = {shard.number: part for shard, part in self._shards.by_lease([*late, *over])}
        take = _Take(limit, tuple(queues), skip, released, publishes, strict)
        if self._is_exact:
            await self._release(take.over)
        await self._take(take)
        if take.left and skip.domains:
            shards = self._shards
            if not any(await shards.each(lambda shard: shard.others_wait(skip.domains))):
                take.skip = SkippedHosts(skip.untried)
                await self._take(take)
        if take.taken and not late:
            self.unreleased = [lease for part in take.over.values() for lease in part]
            take.over.clear()
        await self._release(take.over)
        if take.unpublished and publishes:
            entries = [lease.entry for lease in take.unpublished]
            await self._shards.home.tell(entries, strict=strict)
        return None if take.outdated and not take.taken else take.taken

    async def _release(self, over: dict[int, list[Lease]]) -> None:
        """Release downloads by shard, and forget them."""
        parts = list(over.items())
        over.clear()
        if parts:
            await together([self._shards[number].release_host(part) for number, part in parts])
            for number, _ in parts:
                self.forget(self._shards[number], came=False)

    async def _take(self, take: _Take) -> None:
        kind = take.queues, bool(take.skip)
        heads = self._heads.setdefault(kind, {})
        began = time.monotonic()
        # (what waits in these may wait for the end of these very downloads)
        exhausted = [n for n in take.over if n not in heads or heads[n].standing is None]
        await self._look(kind, lambda head: began - head.seen < self._glance, exhausted)
        for number in exhausted:
            if take.left:
                order = _order(heads)
                await self._draw(take, number, order[0][0] if order else None, 0)
        while take.left:
            if not (order := _order(heads)):
                if take.taken and not self._is_exact:
                    break
                if not await self._look(kind, lambda head: head.seen >= began):
                    break  # all were looked at in this very call
                continue
            bound = order[1][0] if order[1:] else None
            number = order[0][1]
            await self._draw(take, number, bound, self._ahead)
            head = heads[number].standing if number in heads else None
            if take.left and head is not None and (bound is None or head <= bound):
                break  # links are withheld in great numbers: the next take goes on
        if take.skip and self._is_exact:
            heads.clear()  # they are those of the hosts that were not skipped

    async def _draw(self, take: _Take, number: int, bound: Standing | None, ahead: int) -> None:
        """Take from one shard, and note what it has left."""
        shard: Shard = self._shards[number]
        at_home, home = number == 0, self._shards.home
        in_step = take.publishes and take.first and at_home
        if take.strict and take.first and not at_home:
            take.outdated = await home.has_news(_NO_NEWS * self._glance)
            if take.outdated:
                return
        take.first = False
        since, over = self.changes(shard), take.over.pop(number, ())
        lists = [take.queues, *(names for names in self.queues if names != take.queues)]
        reply = await shard.draw(
            *(take.left, lists, bound, take.skip, ahead, over),
            strict=take.strict if in_step else None,
        )
        if reply is None:
            take.outdated = True
            self.forget(shard)  # (the downloads were released)
            return
        leases, left, views = reply
        take.taken += leases
        take.unpublished += [] if in_step else leases
        self.saw(shard, lists, views, since)
        if take.skip:
            self._heads[take.queues, True][number] = _head(left, time.monotonic())

    async def _look(
        self, kind: _Kind, holds: Callable[[_Head], bool], without: Sequence[int] = ()
    ) -> bool:
        """Look at the shards of which what was seen does not hold; whether there were any."""
        heads = self._heads.setdefault(kind, {})
        old = [
            shard
            for number, shard in enumerate(self._shards)
            if number not in without and not (number in heads and holds(heads[number]))
        ]
        lists = self.queues or [kind[0]]
        since = [self.changes(shard) for shard in old]
        found = await together([shard.peek(lists) for shard in old]) if old else []
        for shard, views, changes in zip(old, found, since, strict=True):
            self.saw(shard, lists, views, changes)
        return bool(old)


def _head(view: View, now: float) -> _Head:
    return _Head(view.standing, None if view.wait is None else now + view.wait, now)


def _order(heads: dict[int, _Head]) -> list[tuple[Standing, int]]:
    """Return where the best links of the shards stand, and which shard has it, the first first."""
    return sorted((head.standing, number) for number, head in heads.items() if head.standing)
