"""Decides when a crawl is over, and whether the waiting links are worth their requests."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from semcrawl.crawl.channels import SpiderChannels
from semcrawl.crawl.options import SessionOptions
from semcrawl.frontier.contract import QUEUES, Frontier, LeftOutLinks, Withheld
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Estimating, Forecasting
from semcrawl.relevance.learned.expecting import Patience


class CompletionCheck:
    """Checks whether the crawl is over, by the frontier's own counts.

    ``some_wait`` tells whether links wait, which costs less than counting them.
    """

    def __init__(
        self,
        frontier: Frontier,
        channels: SpiderChannels,
        options: SessionOptions,
        some_wait: Callable[[], Awaitable[bool]],
    ) -> None:
        self._frontier = frontier
        self._channels = channels
        self._options = options
        self._some_wait = some_wait
        self._last_work = time.monotonic()

    def worked(self) -> None:
        """Note that there was work to do."""
        self._last_work = time.monotonic()

    async def is_over(self, *, spent: bool) -> bool:
        """Whether nothing is left to do, neither here nor, by the frontier's counts, elsewhere.

        Call it while this worker holds no links. ``spent``: its budget of requests is spent.
        """
        if self._channels.opened < self._options.spiders or not self._channels.all_planted:
            return False
        if spent:
            return True
        if any(channel.busy() for channel in self._channels.values()):
            self.worked()
            return False
        if self._channels.any_waits:
            return self._idle_for(self._options.idle_time) and self._options.idle_time > 0
        if await self._some_wait():
            self.worked()
            return False
        counts = await self._frontier.counts(list(self._channels), self._channels.seed_keys)
        if not counts.finished:
            self.worked()
            return False
        if self._options.shared:
            others = await self._frontier.counts(QUEUES, [])
            if others.leased:
                return False
        return self._idle_for(self._options.idle_time)

    def _idle_for(self, seconds: float) -> bool:
        return time.monotonic() - self._last_work >= seconds


class Outlook:
    """The worth of the waiting links, where the strategy can estimate it.

    With ``patience``, a number of requests, :meth:`note` says when to give up.
    """

    def __init__(self, strategy: Relevance | None, patience: int) -> None:
        #: the crawl ended early, as too few targets are expected among the links left
        self.gave_up = False
        #: targets that the strategy expects among the links left at the end; ``None`` if unknown
        self.expected_left: float | None = None
        #: links that waited at the end; ``None`` if they were not counted
        self.waiting_left: int | None = None
        #: entries of lists that have not become links yet, by list
        self.listed: dict[str, int] = {}
        #: links dropped because the frontier was full
        self.dropped = 0
        #: links that were not added
        self.left_out = LeftOutLinks()
        #: families whose links are withheld, as the requested ones led nowhere
        self.withheld: list[Withheld] = []
        #: fetches of this run, and the targets among them
        self.fetches = self.targets = 0
        self._requests = patience
        self._patience = Patience(patience) if patience else None
        self._strategy = strategy

    def note(self, *, target: bool) -> bool:
        """Note a fetch; return whether the crawl gives up now."""
        self.fetches += 1
        self.targets += target
        if self._patience is None or self.gave_up:
            return False
        self._patience.note(target=target)
        if self._patience.is_over():
            # ask the strategy only now: its expectation reads all waiting links
            self.gave_up = not isinstance(self._strategy, Forecasting) or self._patience.is_over(
                self._strategy.expected_next(self._requests)
            )
        return self.gave_up

    async def look_back(self, frontier: Frontier) -> None:
        """Note which links are left at the end."""
        counts = await frontier.counts(QUEUES, [])
        # links leased now will wait again
        self.waiting_left = counts.waiting + counts.leased
        self.dropped = counts.dropped
        self.left_out = await frontier.aside.left_out()
        self.withheld = await frontier.aside.withheld()
        if isinstance(self._strategy, Estimating):
            # no strategy sees the entries of lists: they are as good as what was fetched
            share = self.targets / max(1, self.fetches)
            of_lists = share * self.listed_left
            self.expected_left = float(self._strategy.expected_remaining()) + of_lists

    @property
    def listed_left(self) -> int:
        """Entries of this process's lists that have not become links yet."""
        return sum(self.listed.values())
