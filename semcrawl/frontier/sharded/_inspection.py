"""Reads a whole frontier in shards, and fills an empty one."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Mapping, Sequence

from semcrawl.frontier.contract import (
    FrontierState,
    GroupState,
    HostYield,
    LeaseState,
    ShardDigests,
    WaitingLink,
)
from semcrawl.frontier.sharded.order import summed
from semcrawl.frontier.sharded.shards import ShardedPart


class ShardedInspector(ShardedPart):
    """Reads all shards (:class:`~semcrawl.frontier.contract.Inspector`)."""

    async def queues(self) -> list[str]:
        """Names of all queues that ever held links."""
        found = await self._shards.each(lambda shard: shard.inspector.queues())
        return sorted({queue for queues in found for queue in queues})

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
        queues = await self.queues()
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

    async def done(self) -> int:
        """Links finished so far."""
        return sum(await self._shards.each(lambda shard: shard.inspector.done()))

    async def waiting(self) -> AsyncIterator[WaitingLink]:
        """All waiting links, shard by shard."""
        for shard in self._shards:
            async for link in shard.inspector.waiting():
                yield link

    async def leases(self) -> AsyncIterator[LeaseState]:
        """All leases, and links given back with a delay, whose worker is empty."""
        for shard in self._shards:
            async for lease in shard.inspector.leases():
                yield lease

    async def failed(self) -> AsyncIterator[WaitingLink]:
        """The failed links kept for a requeue."""
        for shard in self._shards:
            async for link in shard.inspector.failed():
                yield link

    async def withheld(self) -> AsyncIterator[WaitingLink]:
        """The withheld links."""
        for shard in self._shards:
            async for link in shard.inspector.withheld():
                yield link

    async def families(self) -> list[tuple[str, dict[str, str]]]:
        """The families of links with their fields, which all shards have, sorted by name.

        The number of links met differs between shards; the largest counts.
        """
        found: dict[str, dict[str, str]] = {}
        for families in await self._shards.each(lambda shard: shard.inspector.families()):
            for name, fields in families:
                old = found.setdefault(name, fields)
                met = max(int(old.get("met", 0)), int(fields.get("met", 0)))
                found[name] = dict(sorted({**old, **({"met": str(met)} if met else {})}.items()))
        return sorted(found.items())

    async def seen(self) -> AsyncIterator[list[bytes]]:
        """Digests of all URLs ever added, in sorted portions."""
        for shard in self._shards:
            async for digests in shard.inspector.seen():
                yield ShardDigests(digests, f"{shard.number}/{shard.shards}")

    async def values(self) -> dict[str, float]:
        """Values of all groups, which all shards have."""
        return await self._shards.home.inspector.values()

    async def paces(self) -> dict[str, tuple[float, int]]:
        """Crawl delay (seconds) and concurrency of hosts that have their own."""
        found = await self._shards.each(lambda shard: shard.inspector.paces())
        return {host: pace for paces in found for host, pace in paces.items()}

    async def yields(self) -> dict[str, HostYield]:
        """The counts of each host, where fairness keeps them."""
        found = await self._shards.each(lambda shard: shard.inspector.yields())
        return dict(sorted((host, one) for yields in found for host, one in yields.items()))

    async def totals(self) -> dict[str, float]:
        """Totals since the crawl began, and the virtual time of hosts' turns."""
        totals: dict[str, float] = {}
        for found in await self._shards.each(lambda shard: shard.inspector.totals()):
            for name, value in found.items():
                old = totals.get(name, 0.0)
                totals[name] = max(old, value) if name == "turn" else old + value
        return totals

    async def states(self) -> dict[str, bytes]:
        """The crawl's blobs by name, learned states of strategies among them."""
        found: dict[str, bytes] = {}
        for states in await self._shards.each(lambda shard: shard.inspector.states()):
            found |= states
        return found

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return one line per difference."""
        found = await self._shards.each(lambda shard: shard.inspector.audit())
        return [f"shard {n}: {line}" for n, lines in enumerate(found) for line in lines]


class ShardedImporter(ShardedPart):
    """Fills an empty frontier in shards (:class:`~semcrawl.frontier.contract.Importer`)."""

    async def links(self, links: Sequence[WaitingLink], *, failed: bool = False) -> None:
        """Add links at their former places, or as failed links."""
        shards = self._shards
        for shard, part in shards.parted(links, lambda link: shards.of(link.entry.host)):
            await shard.importer.links(part, failed=failed)

    async def totals(self, totals: Mapping[str, float]) -> None:
        """Set the totals of the former frontier."""
        home, *others = self._shards
        await home.importer.totals(totals)
        turn = {name: value for name, value in totals.items() if name == "turn"}
        for shard in others:
            await shard.importer.totals(turn)

    async def host_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set a host's counts and its turn."""
        await self._shards.of(host).importer.host_yield(host, numbers, turn)

    async def family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set the state of a family of links."""
        await self._shards.each(lambda shard: shard.importer.family(name, fields))

    async def seen(self, digests: Sequence[bytes]) -> None:
        """Add digests of URLs to the seen set of their shard, or of all if it is unknown."""
        shards = self._shards
        if isinstance(digests, ShardDigests):
            number, _, of = digests.shard.partition("/")
            if of == str(len(shards)) and number.isdigit() and int(number) < len(shards):
                await shards[int(number)].importer.seen(digests)
                return
        await self._shards.each(lambda shard: shard.importer.seen(digests))

    async def all_seen(self, number: int) -> None:
        """Set the total number of seen URLs; further digests in the shards are copies."""
        home = self._shards.home
        await home.keep("copied", "0")
        found = await self._shards.each(lambda shard: shard.counted(()))
        copied = sum(counts.seen for counts, _ in found) - number
        await home.keep("copied", str(max(0, copied)))
