"""Reads a whole frontier in shards, and fills an empty one."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence
from typing import Any

from semcrawl.frontier.contract import (
    FrontierState,
    GroupState,
    RowKind,
    ShardDigests,
)
from semcrawl.frontier.sharded.order import summed
from semcrawl.frontier.sharded.shards import Shard, ShardedPart


class ShardedInspector(ShardedPart):
    """Reads all shards (:class:`~semcrawl.frontier.contract.Inspector`)."""

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Return totals, the ``top`` fullest hosts, the ``top`` best groups, and all leases."""
        home = self._shards.home
        states = [
            await shard.inspector.state(top, seed_keys if shard is home else ())
            for shard in self._shards
        ]
        groups: dict[tuple[str, str], GroupState] = {}
        for group in (group for state in states for group in state.groups):
            name = (group.queue, group.group)
            old = groups.get(name, GroupState(group.group, group.queue, group.value, 0, 0))
            groups[name] = GroupState(
                group=group.group,
                queue=group.queue,
                value=group.value,
                waiting=old.waiting + group.waiting,
                hosts=old.hosts + group.hosts,
            )
        queues = [queue async for queue in self.rows("queue")]
        hosts = [host for state in states for host in state.hosts]
        return FrontierState(
            counts=summed([state.counts for state in states]),
            done=sum(state.done for state in states),
            failed=sum(state.failed for state in states),
            expired=sum(state.expired for state in states),
            created=min(state.created for state in states),
            now=max(state.now for state in states),
            hosts=[
                host
                for queue in queues
                for host in heapq.nlargest(
                    top, (h for h in hosts if h.queue == queue), key=lambda h: (h.waiting, h.host)
                )
            ],
            groups=[
                group
                for queue in queues
                for group in heapq.nlargest(
                    top, (g for g in groups.values() if g.queue == queue), key=lambda g: g.value
                )
            ],
            leases=[lease for state in states for lease in state.leases],
            withheld=sum(state.withheld for state in states),
            left_out=sum(state.left_out for state in states),
        )

    async def rows(self, kind: RowKind) -> AsyncIterator[Any]:
        """All rows of a kind: those of all shards, one after the other, or one for all shards."""
        match kind:
            case "queue":
                for queue in sorted({queue async for _, queue in self._all(kind)}):
                    yield queue
            case "value":  # all shards have them
                async for row in self._shards.home.inspector.rows(kind):
                    yield row
            case "total":
                totals: dict[str, float] = {}
                async for _, (name, value) in self._all(kind):
                    old = totals.get(name, 0.0)
                    totals[name] = max(old, value) if name == "turn" else old + value
                for total in totals.items():
                    yield total
            case "family":  # all shards have them, but met different numbers of links
                families: dict[str, dict[str, str]] = {}
                async for _, (name, fields) in self._all(kind):
                    known = families.setdefault(name, fields)
                    met = max(int(known.get("met", 0)), int(fields.get("met", 0)))
                    more = {"met": str(met)} if met else {}
                    families[name] = dict(sorted({**known, **more}.items()))
                for family in families.items():
                    yield family
            case "seen":
                async for shard, digests in self._all(kind):
                    yield ShardDigests(digests, f"{shard.number}/{shard.shards}")
            case _:
                async for _, row in self._all(kind):
                    yield row

    async def _all(self, kind: RowKind) -> AsyncIterator[tuple[Shard, Any]]:
        for shard in self._shards:
            async for row in shard.inspector.rows(kind):
                yield shard, row

    async def load(self, kind: RowKind, rows: Sequence[Any]) -> None:
        """Fill an empty frontier: each shard with the rows of its hosts, or with those of all."""
        shards, home = self._shards, self._shards.home
        match kind:
            case "waiting" | "failed":
                parts = shards.parted(rows, lambda link: shards.of(link.entry.host))
            case "yield":
                parts = shards.parted(rows, lambda row: shards.of(row[0]))
            case "total":
                turn = [row for row in rows if row[0] == "turn"]
                parts = [(shard, list(rows) if shard is home else turn) for shard in shards]
            case "seen":
                parts = [(shard, [d for d in rows if _has(shard, d)]) for shard in shards]
            case _:
                parts = [(shard, list(rows)) for shard in shards]
        for shard, part in parts:
            if part:
                await shard.inspector.load(kind, part)
        if kind == "total" and "seen" in (totals := dict(rows)):
            # further digests in the shards are copies
            await home.keep("copied", "0")
            found = await shards.each(lambda shard: shard.counted(()))
            copied = sum(counts.seen for counts, _ in found) - int(totals["seen"])
            await home.keep("copied", str(max(0, copied)))

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return one line per difference."""
        found = await self._shards.each(lambda shard: shard.inspector.audit())
        return [f"shard {n}: {line}" for n, lines in enumerate(found) for line in lines]


def _has(shard: Shard, digests: Sequence[bytes]) -> bool:
    """Whether a shard gets digests: those of its own, and those that do not tell theirs."""
    if not isinstance(digests, ShardDigests):
        return True
    number, _, of = digests.shard.partition("/")
    known = of == str(shard.shards) and number.isdigit() and int(number) < shard.shards
    return not known or int(number) == shard.number
