"""Links that are left out or withheld, in shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from semcrawl.frontier.contract import QUEUES, LeftOutLinks, Withheld
from semcrawl.frontier.contract.leftout import most_first
from semcrawl.frontier.sharded.shards import ShardedPart, Shards
from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict


class ShardedLeftOut:
    """Counts the links left out, each in the shard that would have it.

    It meets the contract :class:`~semcrawl.frontier.contract.LeftOutLog`. Limits are those of each
    shard. ``host_key`` maps a URL to the key that politeness groups by.
    """

    def __init__(self, shards: Shards, host_key: Callable[[str], str]) -> None:
        self._shards = shards
        self._host_key = host_key

    async def add(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out."""
        shards = self._shards
        for shard, part in shards.parted(links, lambda link: shards.of(self._host_key(link[0]))):
            await shard.left_out.add(part, limit)

    async def summary(self) -> LeftOutLinks:
        """Return the links left out so far, without those that another page brought in."""
        found = await self._shards.each(lambda shard: shard.left_out.summary())
        hosts: dict[Reason, Counter[str]] = {}
        first: dict[tuple[Reason, str], str] = {}
        for one in found:
            for reason, numbers in one.hosts.items():
                hosts.setdefault(reason, Counter()).update(numbers)
            first = {**one.first, **first}
        return LeftOutLinks(hosts, first, more=any(one.more for one in found))

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out."""
        return await self._shards.of(self._host_key(url)).left_out.reason(url)


class ShardedWithheld(ShardedPart):
    """Links that wait apart (:class:`~semcrawl.frontier.contract.WithheldLinks`).

    Every shard knows all families and mirrors, and withholds its own links.
    """

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""
        if families:
            await self._shards.each(lambda shard: shard.withheld.know_families(families))

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families."""
        return any(await self._shards.each(lambda shard: shard.withheld.judge_families(answers)))

    async def note_bodies(
        self,
        bodies: Sequence[tuple[str, str, str, str]],
        in_vain: Sequence[tuple[str, str]],
        known: int,
    ) -> tuple[bool, int, list[tuple[str, str]] | None]:
        """Record bodies, and paths without one; return the mirrors if they changed."""
        found = await self._shards.each(
            lambda shard: shard.withheld.note_bodies(bodies, in_vain, known)
        )
        self._written()
        _, number, mirrors = found[0]
        return any(restore for restore, _, _ in found), number, mirrors

    async def withhold_copies(self, links: Sequence[tuple[str, str, str]]) -> set[int]:
        """Withhold leased links that a mirror gave or is being asked for; return their indexes."""
        shards, gone = self._shards, set()
        parts = shards.parted(
            enumerate(links), lambda link: shards[int(link[1][0].split(":", 2)[1])]
        )
        for shard, part in parts:
            found = await shard.withheld.withhold_copies([link for _, link in part])
            gone |= {index for at, (index, _) in enumerate(part) if at in found}
            asked = [link[1:] for at, (_, link) in enumerate(part) if at not in found]
            for other in shards:
                if other is not shard and asked:
                    await other.note_asked(asked)
        self._written()
        return gone

    async def release_copies(self, limit: int) -> int:
        """Restore up to ``limit`` links that a mirror failed to give; return how many."""
        counted = await self._shards.each(lambda shard: shard.counted(QUEUES))
        if any(counts.leased for counts, _ in counted):
            return 0
        found = await self._shards.each(lambda shard: shard.withheld.release_copies(limit))
        self._written()
        return sum(found)

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""
        restored = 0
        for shard in self._shards:
            if restored < limit:
                restored += await shard.withheld.restore(limit - restored)
        self._written()
        return restored

    async def families(self) -> list[Withheld]:
        """Return the families with withheld links, those with most first."""
        found: dict[tuple[str, str, bool], Withheld] = {}
        for families in await self._shards.each(lambda shard: shard.withheld.families()):
            for one in families:
                name = (one.document, one.pattern, one.mirror)
                links = one.links + (found[name].links if name in found else 0)
                found[name] = Withheld(one.document, one.pattern, links, one.asked, one.mirror)
        return most_first(found.values())

    def _written(self) -> None:
        for shard in self._shards:
            self._shards.written(shard)
