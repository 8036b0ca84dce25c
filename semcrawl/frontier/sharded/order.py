"""The order of links over all shards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from semcrawl.frontier.contract import Announce, Counts, FrontierOptions, Lease, SkippedHosts
from semcrawl.frontier.sharded.shards import Shard, Shards, Standing, View, together

#: glances for which a worker without links trusts, at most, that a shard has none ready
_NOTHING = 2
#: glances for which a take from another shard trusts that no event is unread
_NO_NEWS = 0.07

#: queues of a take, and whether it skips hosts
_Kind = tuple[tuple[str, ...], bool]


@dataclass(slots=True)
class _Head:
    """The best link of a shard, at this worker's last glance."""

    #: its rank; ``None`` if no link is ready
    standing: Standing | None
    #: without a ready link, when one may be (``time.monotonic``); ``None`` if none waits
    ready: float | None
    #: time of the glance; minus infinity if this worker changed the shard meanwhile
    seen: float

    def is_doubtful(self, *, added: bool) -> bool:
        """Whether a link may be ready now, as hosts were freed or links ``added``."""
        return self.standing is None and (added or self.ready is not None)


@dataclass(slots=True)
class _Take:
    """The state of one take."""

    limit: int
    queues: tuple[str, ...]
    skip: SkippedHosts
    #: finished downloads that are not released yet, by shard
    over: dict[int, list[Lease]]
    #: how it publishes its links
    announce: Announce | None = None
    #: whether no shard was asked for links yet
    first: bool = True
    #: whether there are unread events
    outdated: bool = False
    taken: list[Lease] = field(default_factory=list)
    #: the unpublished ones of ``taken``
    unpublished: list[Lease] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Number of links still wanted."""
        return 0 if self.outdated else self.limit - len(self.taken)


class Drawing:
    """Takes the best links of all shards, merging their orders.

    It takes from the shard with the best link, up to the rank of the next shard's best link, and at
    most ``ahead`` links beyond that have the same value, turn and key. A glance at a shard holds
    for ``glance`` seconds; without ``ahead``, only until this worker changes the shard. So a link
    may come too early only by changes, and ends of delays, in that time.

    A take that finds nothing has asked all shards. :meth:`ready` finds out more cheaply that there
    is nothing. It trusts a shard's answer until the time the shard named, at most two glances, and
    no longer once this worker changes the shard.
    """

    def __init__(self, shards: Shards, ahead: int, glance: float) -> None:
        self._shards = shards
        #: leases of finished downloads, released with their shards' next calls; since when
        self._unreleased: list[Lease] = []
        self._unreleased_since = 0.0
        #: when a take last found links
        self._found = float("-inf")
        self._ahead, self._is_exact = ahead, not ahead
        self._glance = glance
        #: last glances, by shard
        self._heads: dict[_Kind, dict[int, _Head]] = {}
        #: how often this worker freed hosts of a shard, and added links to it
        self._freed: Counter[int] = Counter()
        self._added: Counter[int] = Counter()

    def forget(self, shard: Shard, *, freed: bool = True, added: bool = True) -> None:
        """Discard the glance at a shard that this worker changed, if it may be outdated.

        The order of links may have changed. With ``freed`` links may have become ready, with
        ``added`` new links may wait.
        """
        self._freed[shard.number] += freed
        self._added[shard.number] += freed and added
        for heads in self._heads.values():
            head = heads.get(shard.number)
            if head is not None and (self._is_exact or (freed and head.is_doubtful(added=added))):
                del heads[shard.number]

    @property
    def queues(self) -> list[tuple[str, ...]]:
        """The lists of queues that takes use; replies should contain their best links."""
        return [] if self._is_exact else list({queues for queues, _ in self._heads})

    def note_views(
        self,
        shard: Shard,
        queues: Iterable[tuple[str, ...]],
        views: Iterable[View],
        since: tuple[int, int] | None = None,
    ) -> None:
        """Note a shard's reply; ``since`` is :meth:`changes` when it was asked, if earlier."""
        now, changes = time.monotonic(), self.changes(shard)
        doubtful = since is not None and since != changes
        added = since is not None and since[1] != changes[1]
        for names, view in zip(queues, views, strict=True):
            for skipped in (False, True):
                if (heads := self._heads.get((names, skipped))) is not None:
                    head = heads[shard.number] = _head(view, now)
                    if doubtful and head.is_doubtful(added=added):
                        head.seen = float("-inf")

    def changes(self, shard: Shard) -> tuple[int, int]:
        """Return numbers that grow with each change of a shard by this worker."""
        return self._freed[shard.number], self._added[shard.number]

    def pop_unreleased(self) -> list[Lease]:
        """Return the finished downloads that still wait to be released."""
        unreleased, self._unreleased = self._unreleased, []
        return unreleased

    def keep_unreleased(self, leases: Iterable[Lease], *, anew: bool) -> None:
        """Release finished downloads with the next calls; ``anew`` if no earlier ones waited."""
        if anew:
            self._unreleased_since = time.monotonic()
        self._unreleased += leases

    async def ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a link may be ready; ``None`` if none waits."""
        kinds: list[_Kind] = [(tuple(queues), False)]
        if kinds[0] not in self._heads:  # links may be taken queue by queue
            kinds = [((queue,), False) for queue in queues]
        now = time.monotonic()
        for kind in kinds:
            await self._look(kind, lambda head: now < self._trusted_until(head))
        heads = [head for kind in kinds for head in self._heads[kind].values()]
        if any(head.standing is not None for head in heads):
            return 0.0
        soonest = min((head.ready for head in heads if head.ready is not None), default=None)
        return None if soonest is None else max(soonest - time.monotonic(), 0.0)

    def _trusted_until(self, head: _Head) -> float:
        """Return until when a worker without links trusts a glance."""
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
        announce: Announce | None = None,
    ) -> list[Lease] | None:
        """Lease up to ``limit`` links, best first; release the downloads ``over``.

        A shard that is not asked now releases its downloads with its next call, at the latest with
        the first take after a glance's time.
        With ``announce``, the links are published as events; if it is ``strict``, the result is
        ``None`` if there are unread events. If the first shard (home) gives the first links, it
        publishes them in the same step. All others are published afterwards.
        """
        late = self.pop_unreleased()
        released = {shard.number: part for shard, part in self._shards.by_lease([*late, *over])}
        take = _Take(limit, tuple(queues), skip, released, announce)
        if self._is_exact:
            await self._release(take.over)
        await self._take(take)
        if take.left and skip.domains:
            shards = self._shards
            if not any(await shards.each(lambda shard: shard.others_wait(skip.domains))):
                take.skip = SkippedHosts(skip.untried)
                await self._take(take)
        now = time.monotonic()
        if take.taken:
            self._found = now
        since = self._unreleased_since if late else now
        if now - min(self._found, since) < self._glance:
            kept = [lease for part in take.over.values() for lease in part]
            self.keep_unreleased(kept, anew=not late)
            take.over.clear()
        await self._release(take.over)
        if take.unpublished and announce:
            entries = [lease.entry for lease in take.unpublished]
            await self._shards.home.tell(entries, strict=announce == "strict")
        return None if take.outdated and not take.taken else take.taken

    async def _release(self, over: dict[int, list[Lease]]) -> None:
        """Release finished downloads, by shard, and clear ``over``."""
        parts = list(over.items())
        over.clear()
        if parts:
            await together([self._shards[number].release(part) for number, part in parts])
            for number, _ in parts:
                self.forget(self._shards[number], added=False)

    async def _take(self, take: _Take) -> None:
        kind = take.queues, bool(take.skip)
        heads = self._heads.setdefault(kind, {})
        began = time.monotonic()
        # their links may wait for the end of just these downloads
        exhausted = [n for n in take.over if n not in heads or heads[n].standing is None]
        await self._look(
            kind, lambda head: began - head.seen < self._glance, exhausted, over=take.over
        )
        for number in exhausted:
            if take.left:
                order = _order(heads)
                await self._draw(take, number, order[0][0] if order else None, 0)
        while take.left:
            if not (order := _order(heads)):
                if take.taken and not self._is_exact:
                    break
                if not await self._look(kind, lambda head: head.seen >= began):
                    break  # all were asked in this call
                continue
            bound = order[1][0] if order[1:] else None
            number = order[0][1]
            await self._draw(take, number, bound, self._ahead)
            head = heads[number].standing if number in heads else None
            if take.left and head is not None and (bound is None or head <= bound):
                break  # many links were withheld: the next take continues
        if take.skip and self._is_exact:
            heads.clear()  # they ignore the skipped hosts

    async def _draw(self, take: _Take, number: int, bound: Standing | None, ahead: int) -> None:
        """Take from one shard, and note its remaining best links."""
        shard: Shard = self._shards[number]
        at_home, home = number == 0, self._shards.home
        in_step = take.announce and take.first and at_home
        strict = take.announce == "strict"
        if strict and take.first and not at_home:
            take.outdated = await home.has_unread(_NO_NEWS * self._glance)
            if take.outdated:
                return
        take.first = False
        since, over = self.changes(shard), take.over.pop(number, ())
        lists = [take.queues, *(names for names in self.queues if names != take.queues)]
        reply = await shard.draw(
            take.left,
            lists,
            bound,
            take.skip,
            ahead,
            over,
            strict=strict if in_step else None,
        )
        if reply is None:
            take.outdated = True
            self.forget(shard)  # the downloads were released
            return
        leases, left, views = reply
        take.taken += leases
        take.unpublished += [] if in_step else leases
        self.note_views(shard, lists, views, since)
        if take.skip:
            self._heads[take.queues, True][number] = _head(left, time.monotonic())

    async def _look(
        self,
        kind: _Kind,
        holds: Callable[[_Head], bool],
        without: Sequence[int] = (),
        over: dict[int, list[Lease]] | None = None,
    ) -> bool:
        """Ask the shards whose last glance does not hold; return whether there were any.

        They release their downloads in ``over``, which are removed there.
        """
        heads = self._heads.setdefault(kind, {})
        old = [
            shard
            for number, shard in enumerate(self._shards)
            if number not in without and not (number in heads and holds(heads[number]))
        ]
        lists = self.queues or [kind[0]]
        since = [self.changes(shard) for shard in old]
        ended = [over.pop(shard.number, ()) if over else () for shard in old]
        asked = [shard.peek(lists, released) for shard, released in zip(old, ended, strict=True)]
        found = await together(asked) if asked else []
        for shard, views, changes in zip(old, found, since, strict=True):
            self.note_views(shard, lists, views, changes)
        return bool(old)


def _head(view: View, now: float) -> _Head:
    return _Head(view.standing, None if view.wait is None else now + view.wait, now)


def _order(heads: dict[int, _Head]) -> list[tuple[Standing, int]]:
    """Return the ranks of the shards' best links with their shards, the best first."""
    return sorted((head.standing, number) for number, head in heads.items() if head.standing)


def summed(counts: Sequence[Counts]) -> Counts:
    """Add up the counts of shards."""
    labels: Counter[str] = Counter()
    for one in counts:
        labels.update(one.waiting_by_label)
    return Counts(
        waiting=sum(one.waiting for one in counts),
        leased=sum(one.leased for one in counts),
        seeds=sum(one.seeds for one in counts),
        seen=sum(one.seen for one in counts),
        hosts=sum(one.hosts for one in counts),
        waiting_by_label=labels,
        dropped=sum(one.dropped for one in counts),
    )


async def counted(shards: Shards, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
    """Count the contents of all shards.

    A link that moves between shards may be in neither when each is counted. So a crawl counts as
    finished only if a second count of all shards, after the first, finds that nothing moved: then
    all were idle at the same time.
    """

    async def look() -> tuple[Counts, list[bytes]]:
        found = await shards.each(
            lambda shard: shard.counted(queues, seed_keys if shard is shards.home else ())
        )
        return summed([counts for counts, _ in found]), [activity for _, activity in found]

    counts, activity = await look()
    while counts.finished:
        again, later = await look()
        if later == activity:
            break
        counts, activity = again, later
    return counts


async def shed(shards: Shards, most: int) -> int:
    """Drop the worst links of all shards if more than ``most`` wait; return how many."""

    async def counts_of(shard: Shard) -> Counts:
        return (await shard.counted([queue async for queue in shard.inspector.rows("queue")]))[0]

    found = await shards.each(counts_of)
    surplus = sum(counts.waiting for counts in found) - most
    dropped = 0
    # a call that drops nothing returns the value of the shard's worst group
    worst = {
        shard.number: value
        for shard in shards
        if surplus > 0 and (value := (await shard.shed(0, None))[1]) is not None
    }
    while dropped < surplus and worst:
        number = min(worst, key=lambda number: worst[number])
        others = [value for other, value in worst.items() if other != number]
        shard = shards[number]
        gone, left = await shard.shed(surplus - dropped, min(others, default=None))
        shards.written(shard)
        dropped += gone
        if left is None:
            del worst[number]
        else:
            worst[number] = left
    return dropped


async def settled(shards: Shards, changed: Sequence[Shard]) -> None:
    """Wait until additions to other shards are safe, before changing the shards ``changed``.

    Additions to a single changed shard need no wait, as a shard loses writes only from the end.
    """
    waiting = [
        shard
        for shard in shards
        if not shard.journal.is_settled and any(other is not shard for other in changed)
    ]
    if waiting:
        await together([shard.settle() for shard in waiting])


def share_of(options: FrontierOptions, shards: int) -> FrontierOptions:
    """Return the options of one shard, with its share of the limits for all."""
    return replace(
        options,
        max_waiting=0,  # limited for all shards together
        exact_limit=-(-options.exact_limit // shards),
        seen_capacity=-(-options.seen_capacity // shards),
    )
