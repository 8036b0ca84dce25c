"""Counts and limits the contents of all shards together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from semcrawl.frontier.contract import Counts
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.sharded.shard import Shard
from semcrawl.frontier.sharded.shards import Shards, together


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
    queues = await shards.each(lambda shard: shard.inspector.queues())
    found = await shards.each(lambda shard: shard.counted(queues[shard.number]))
    surplus = sum(counts.waiting for counts, _ in found) - most
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
