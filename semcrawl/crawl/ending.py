"""When a crawl is over."""

from __future__ import annotations

import time

from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.ports import Ports
from semcrawl.frontier.contract import QUEUES, Frontier


class Ending:
    """Knows whether anything is left to do, counted from the frontier's own structures."""

    def __init__(self, frontier: Frontier, ports: Ports, options: SessionOptions) -> None:
        self._frontier = frontier
        self._ports = ports
        self._options = options
        self._last_work = time.monotonic()

    def worked(self) -> None:
        """Note that there was something to do."""
        self._last_work = time.monotonic()

    async def is_over(self, *, spent: bool) -> bool:
        """Whether nothing is left to do, here and, as far as can be told, elsewhere.

        To be asked while this worker holds no links. ``spent``: its budget of requests is.
        """
        if self._ports.opened < self._options.spiders or not self._ports.all_planted:
            return False
        if spent:
            return True
        if self._ports.any_busy:
            self.worked()
            return False
        if self._ports.any_waits:
            return self._idle_for(self._options.idle_time) and self._options.idle_time > 0
        counts = await self._frontier.counts(list(self._ports), self._ports.seed_keys)
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
