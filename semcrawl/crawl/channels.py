"""The spiders that a session serves: where their links go, and the lists their seeds come from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from semcrawl.frontier.contract import Frontier, Lease
from semcrawl.links import Link, Page
from semcrawl.relevance import Ranked

#: puts the links of a page into the frontier, and returns those that are new: page, links, fetches
#: without a target before it
Discover = Callable[[Page, Sequence[Link], int], Awaitable[tuple[Ranked, ...]]]

#: seeds that are taken from a list at once
_SEEDS_AT_ONCE = 1000


@dataclass(slots=True)
class SpiderChannel:
    """How a session reaches a spider."""

    #: takes a leased link
    deliver: Callable[[Lease], None]
    #: takes raw seeds from its list
    plant: Callable[[list[str]], None]
    #: list that its seeds come from
    seed_key: str
    #: never end by itself: the spider waits on its list
    waits: bool = False
    #: takes links that another spider hands over
    discover: Discover | None = None
    #: whether requests of its own are under way, whose callbacks may give links: the crawl goes on
    busy: Callable[[], bool] = lambda: False
    #: its own seeds are in
    planted: bool = False


class SpiderChannels(dict[str, SpiderChannel]):
    """The channels of the spiders that are served now, by queue."""

    def __init__(self, spiders: int = 1) -> None:
        super().__init__()
        #: set when so many spiders are there and have planted their own seeds
        self.begun = asyncio.Event()
        self._awaited = spiders
        #: spiders that were ever served
        self.opened = 0
        self._seeds_at = float("-inf")

    def open(self, queue: str, channel: SpiderChannel) -> None:
        """Serve one more spider."""
        self[queue] = channel
        self.opened += 1

    def planted(self, queue: str) -> None:
        """Note that a spider's own seeds are in."""
        if queue in self:
            self[queue].planted = True
        if self.opened >= self._awaited and self.all_planted:
            self.begun.set()

    @property
    def all_planted(self) -> bool:
        """Whether no spider has seeds of its own to put in."""
        return all(channel.planted for channel in self.values())

    @property
    def any_waits(self) -> bool:
        """Whether a spider goes on waiting for seeds."""
        return any(channel.waits for channel in self.values())

    @property
    def any_busy(self) -> bool:
        """Whether a spider is at requests that are no links."""
        return any(channel.busy() for channel in self.values())

    @property
    def seed_keys(self) -> list[str]:
        """The lists that seeds come from."""
        return [channel.seed_key for channel in self.values()]

    def deliver(self, lease: Lease) -> bool:
        """Hand a link to its spider; return whether it is still there."""
        channel = self.get(lease.entry.queue)
        if channel is not None:
            channel.deliver(lease)
        return channel is not None

    async def hand_over(
        self, queue: str, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...] | None:
        """Give links to the spider of a queue; return the new ones.

        ``None`` when it is not there to take them.
        """
        channel = self.get(queue)
        if channel is None or channel.discover is None:
            return None
        return await channel.discover(page, links, barren)

    async def take_seeds(self, frontier: Frontier, interval: float) -> int:
        """Give each spider the raw seeds from its list; return how many.

        Nothing if that was done less than ``interval`` seconds ago.
        """
        now = time.monotonic()
        if now - self._seeds_at < interval:
            return 0
        self._seeds_at = now
        found = 0
        for channel in list(self.values()):
            raw = await frontier.seeds.take(channel.seed_key, _SEEDS_AT_ONCE)
            if raw:
                found += len(raw)
                channel.plant(raw)
        return found
