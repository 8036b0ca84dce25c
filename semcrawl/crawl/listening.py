"""When a worker listens to the others of its crawl."""

from __future__ import annotations

import time

from semcrawl.crawl.intake import Intake
from semcrawl.crawl.leasebook import LeaseBook
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.taking import Taker

#: seconds between looks for news of links that other workers fetch, while they are waited for
_NEWS_INTERVAL = 0.05


class Listener:
    """Hears what other workers fetched and which seeds they added, as often as is needed."""

    def __init__(
        self, intake: Intake, taker: Taker, leases: LeaseBook, options: SessionOptions
    ) -> None:
        self._intake = intake
        self._learning = intake.learning
        self._taker = taker
        self._leases = leases
        self._options = options
        self._heard_at = 0.0
        self._seeds_known_at = 0.0

    async def listen(self, *, heard: bool) -> None:
        """Listen if that is due; ``heard``: all news came just now, with what was told.

        A take in step brings news anyway.
        """
        if not self._options.shared:
            return
        now = time.monotonic()
        waited_for = self._learning.in_step and self._taker.restrained and not self._leases.flying
        interval = _NEWS_INTERVAL if waited_for else self._options.event_interval
        if heard or now - self._heard_at >= interval:
            self._heard_at = now
            if not heard:
                await self._learning.hear()
        if now - self._seeds_known_at >= self._options.event_interval:
            self._seeds_known_at = now
            await self._intake.know_all_seeds()

    @property
    def patience(self) -> float:
        """Seconds to wait for answers, this worker's or another's, before listening again."""
        if not self._learning.in_step:
            return self._options.seed_interval
        return self._options.event_interval if self._leases.flying else _NEWS_INTERVAL
