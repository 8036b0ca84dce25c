"""How a session reaches its spiders: it delivers links, and seeds from their seed lists."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from semcrawl.frontier.contract import Frontier, Lease
from semcrawl.links import Link, Page
from semcrawl.relevance import Ranked

#: adds the links of a page to the frontier and returns the new ones; its arguments are the page,
#: its links, and the number of fetches without a target that led to the page
Discover = Callable[[Page, Sequence[Link], int], Awaitable[tuple[Ranked, ...]]]

#: seeds taken from a seed list with one call
_SEEDS_AT_ONCE = 1000


@dataclass(slots=True)
class SpiderChannel:
    """How a session reaches a spider."""

    #: gives the spider a leased link
    deliver: Callable[[Lease], None]
    #: gives the spider raw seeds from its seed list
    plant: Callable[[list[str]], None]
    #: name of its seed list
    seed_key: str
    #: the spider waits for seeds on its list: the crawl does not end by itself
    waits: bool = False
    #: takes links that another spider hands over
    discover: Discover | None = None
    #: whether requests with callbacks of the user's are under way: these may yield links
    busy: Callable[[], bool] = lambda: False
    #: the spider's own seeds are in the frontier
    planted: bool = False


class SpiderChannels(dict[str, SpiderChannel]):
    """The channels of the spiders that take part now, by queue."""

    def __init__(self, spiders: int = 1) -> None:
        super().__init__()
        #: set when all expected spiders are there and have planted their own seeds
        self.begun = asyncio.Event()
        self._awaited = spiders
        #: number of spiders that ever took part
        self.opened = 0
        self._seeds_at = float("-inf")

    def open(self, queue: str, channel: SpiderChannel) -> None:
        """Add a spider."""
        self[queue] = channel
        self.opened += 1

    def planted(self, queue: str) -> None:
        """Note that a spider's own seeds are in the frontier."""
        if queue in self:
            self[queue].planted = True
        if self.opened >= self._awaited and self.all_planted:
            self.begun.set()

    @property
    def all_planted(self) -> bool:
        """Whether every spider has planted its own seeds."""
        return all(channel.planted for channel in self.values())

    @property
    def any_waits(self) -> bool:
        """Whether any spider waits for seeds on its list."""
        return any(channel.waits for channel in self.values())

    @property
    def seed_keys(self) -> list[str]:
        """The names of the seed lists."""
        return [channel.seed_key for channel in self.values()]

    def deliver(self, lease: Lease) -> bool:
        """Hand a link to its spider; return whether that spider still takes part."""
        channel = self.get(lease.entry.queue)
        if channel is not None:
            channel.deliver(lease)
        return channel is not None

    async def hand_over(
        self, queue: str, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...] | None:
        """Give links to the spider of a queue; return the new ones, ``None`` without a spider."""
        channel = self.get(queue)
        if channel is None or channel.discover is None:
            return None
        return await channel.discover(page, links, barren)

    async def take_seeds(self, frontier: Frontier, interval: float) -> int:
        """Give each spider the raw seeds from its list, once an ``interval``; return how many."""
        now = time.monotonic()
        if now - self._seeds_at < interval:
            return 0
        self._seeds_at = now
        found = 0
        for channel in list(self.values()):
            raw = await frontier.shared.take_seeds(channel.seed_key, _SEEDS_AT_ONCE)
            if raw:
                found += len(raw)
                channel.plant(raw)
        return found
