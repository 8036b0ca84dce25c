"""Parts of a frontier in shards that send each call to the shard in charge."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.frontier.contract import AddressLimits, Lease, Rest, WaitingLink
from semcrawl.frontier.sharded.shards import ShardedPart, number_of
from semcrawl.web.hosts import address_block


class ShardedHostPace(ShardedPart):
    """The pace of hosts, each in its shard (:class:`~semcrawl.frontier.contract.HostPace`)."""

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency."""
        await self._shards.change(
            host,
            lambda shard: shard.pace.set(
                host, delay=delay, concurrency=concurrency, at_least=at_least
            ),
        )

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest."""
        await self._shards.change(host, lambda shard: shard.pace.rest(host, seconds))

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target."""
        await self._shards.change(host, lambda shard: shard.pace.reward(host, target=target))


class ShardedErrandTurns(ShardedPart):
    """Turns of errands, each in its host's shard.

    It meets the contract :class:`~semcrawl.frontier.contract.ErrandTurns`.
    """

    async def next(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again."""
        return await self._shards.change(
            host, lambda shard: shard.errands.next(host, errand, instead_of=instead_of)
        )

    async def starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""
        return await self._shards.of(host).errands.starts(host, errand)

    async def end(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over."""
        await self._shards.change(host, lambda shard: shard.errands.end(host, errand, sent=sent))


class ShardedAddressPace(ShardedPart):
    """The pace of addresses, each in the shard of its hash, as its hosts may be in any.

    It meets the contract :class:`~semcrawl.frontier.contract.AddressPace`. The host rests in its
    own shard.
    """

    async def turn(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn."""
        owner = self._shards.of(address_block(address))
        wait = await owner.addresses.turn(host, address, name, limits, rests=False)
        if wait and rests:
            await self._shards.change(host, lambda shard: shard.pace.rest(host, wait))
        return wait

    async def over(self, address: str, name: str) -> None:
        """Note that a request is over."""
        await self._shards.of(address_block(address)).addresses.over(address, name)


class ShardedOutages(ShardedPart):
    """Hosts that are down, each in its shard (:class:`~semcrawl.frontier.contract.Outages`)."""

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed."""
        return await self._shards.change(
            host,
            lambda shard: shard.outages.falter(
                host, why, step=step, patience=patience, untried_patience=untried_patience
            ),
        )

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the remaining rest and the time it was down."""
        return await self._shards.change(
            host, lambda shard: shard.outages.recover(host, step=step, good=good)
        )

    async def good(self, host: str) -> str:
        """Return a URL that a host served in any run; empty if none."""
        return await self._shards.of(host).outages.good(host)

    async def note_dead(self) -> None:
        """Count a host as dead in all shards."""
        await self._shards.each(lambda shard: shard.outages.note_dead())

    async def why(self, host: str) -> str:
        """Return why a host is down, in one word; empty if it is not."""
        return await self._shards.of(host).outages.why(host)

    async def set_aside(self, host: str) -> list[WaitingLink]:
        """Move all waiting links of a host to the failed ones; return them."""
        return await self._shards.change(host, lambda shard: shard.outages.set_aside(host))


class ShardedCache(ShardedPart):
    """Answers that expire, and claims, by their names.

    It meets the contract :class:`~semcrawl.frontier.contract.SharedCache`.
    """

    async def put(self, name: str, content: bytes, seconds: float) -> None:
        """Store an answer for some time."""
        await self._shards.of(name).cache.put(name, content, seconds)

    async def get(self, name: str) -> bytes | None:
        """Return an answer that has not expired, or ``None``."""
        return await self._shards.of(name).cache.get(name)

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it."""
        return await self._shards.of(name).cache.claim(name, seconds)

    async def release(self, name: str) -> None:
        """Release this worker's claim."""
        await self._shards.of(name).cache.release(name)

    def describe(self, name: str) -> str:
        """Return where an answer is stored."""
        return self._shards.of(name).cache.describe(name)


class ShardedStatements(ShardedPart):
    """Statements, each in a shard by its hash.

    It meets the contract :class:`~semcrawl.frontier.contract.Statements`.
    """

    async def add(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add a document's statements or look them up; return for each whether no other made it."""
        shards = self._shards
        new = [False] * len(statements)
        own = 1 << max((limit // len(shards)).bit_length() - 1, 0)  # tables have powers of two
        # not by the bits that choose a bucket inside the shard
        parts = shards.parted(
            enumerate(statements), lambda s: shards[number_of(f"{s[1]:x}", len(shards))]
        )
        for shard, part in parts:
            added = [one for _, one in part]
            found = await shard.statements.add(document, added, own, remember=remember)
            for (index, _), is_new in zip(part, found, strict=True):
                new[index] = is_new
        return new
