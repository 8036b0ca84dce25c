"""Pauses a crawl that no host answers any more, as our own network seems to be down."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, MutableMapping
from math import inf

from semcrawl.crawl.healthsigns import HealthOptions, Outage, Sign
from semcrawl.frontier.contract import Pace, Rest

logger = logging.getLogger(__name__)

#: most other hosts that are probed before a failed host is probed again
_OTHERS = 3
#: seconds longer than any rest, to end a rest at once
_ALL = 1e9
#: more requests than are ever under way
_MANY = 1 << 30


class NetworkPause:
    """Lets one link at a time through, at growing intervals, until a host answers.

    ``down``: the hosts that this process knows to rest. ``fail`` ends the crawl with a reason.
    """

    def __init__(
        self,
        pace: Pace,
        options: HealthOptions,
        down: MutableMapping[str, Rest],
        fail: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pace = pace
        self._options = options
        self._down = down
        self._fail = fail
        self._clock = clock
        self._outage: Outage | None = None
        #: hosts that did not answer during the pause
        self.asked: set[str] = set()
        #: requests under way since before the pause, which no probe waits for: they may take long
        self._before = 0

    @property
    def is_on(self) -> bool:
        """Whether the crawl is paused."""
        return self._outage is not None

    def room(self, flying: int) -> int | None:
        """Return how many links may be taken now; ``None`` if the crawl is not paused."""
        if self._outage is None:
            return None
        self._before = min(self._before, flying)
        return int(flying == self._before and self._clock() >= self._outage.until)

    async def no_answer(self, host: str) -> None:
        """Begin or lengthen the pause, as a host did not answer."""
        step, now = self._options.rest, self._clock()
        if self._outage is None:
            self._outage = Outage(now, now + step, step)
            self._before = _MANY
            logger.warning("no host answers any more: the crawl pauses until the network is back")
        elif self._outage.probe_failed(step, now):
            seconds = now - self._outage.since
            if seconds >= self._options.patience:
                self._fail(
                    f"no host has answered for {seconds:.0f} s: is the network away? "
                    "Nothing is lost, and the next run goes on from here"
                )
        # it rests while other hosts are probed, as these may answer
        self.asked.add(host)
        rest = self._outage.rest * (1 + min(len(self.asked), _OTHERS))
        await self._pace.up(host, step=_ALL)
        self._down[host] = await self._pace.down(
            host, Sign.SILENT, step=rest, patience=inf, untried_patience=inf
        )

    async def end(self) -> bool:
        """End the pause, as a host answered; return whether there was one."""
        if self._outage is None:
            return False
        seconds = self._clock() - self._outage.since
        self._outage = None
        for host in self.asked:
            self._down.pop(host, None)
            await self._pace.up(host, step=_ALL)
        self.asked.clear()
        logger.warning("the network is back after %d s: the crawl goes on", seconds)
        return True
