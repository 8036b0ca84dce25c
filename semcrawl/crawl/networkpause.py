"""The pause of a crawl that no host answers any more: our own network seems to be away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import inf

from semcrawl.crawl.healthrows import Away, HealthOptions, Sign
from semcrawl.frontier.contract import Outages, Rest

logger = logging.getLogger(__name__)

#: most hosts that may fail before one of them is asked again
_OTHERS = 3
#: seconds that are more than any rest
_ALL = 1e9


class NetworkPause:
    """Has one host after the other asked, at growing intervals, until one answers.

    ``down``: the hosts that rest, as this process knows them. ``fail`` ends the crawl, with the
    reason.
    """

    def __init__(
        self,
        outages: Outages,
        options: HealthOptions,
        down: dict[str, Rest],
        fail: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outages = outages
        self._options = options
        self._down = down
        self._fail = fail
        self._clock = clock
        self._away: Away | None = None
        #: hosts that were asked and did not answer
        self._asked: set[str] = set()

    @property
    def is_on(self) -> bool:
        """Whether the crawl pauses."""
        return self._away is not None

    def room(self, flying: int) -> int | None:
        """Return how many links may be taken now; ``None`` if the crawl does not pause."""
        if self._away is None:
            return None
        return int(flying == 0 and self._clock() >= self._away.until)

    async def no_answer(self, host: str) -> None:
        """Begin to pause, or pause longer, as a host did not answer."""
        step, now = self._options.rest, self._clock()
        if self._away is None:
            self._away = Away(now, now + step, step)
            logger.warning("no host answers any more: the crawl pauses until the network is back")
        elif self._away.grow(step, now) and now - self._away.since >= self._options.patience:
            self._fail(
                f"no host has answered for {now - self._away.since:.0f} s: is the network away? "
                "Nothing is lost, and the next run goes on from here"
            )
        # it rests until others have been asked, as these may answer
        self._asked.add(host)
        rest = self._away.rest * (1 + min(len(self._asked), _OTHERS))
        await self._outages.recover(host, step=_ALL)
        self._down[host] = await self._outages.falter(
            host, Sign.SILENT, step=rest, patience=inf, untried_patience=inf
        )

    async def end(self) -> bool:
        """Go on, as a host answered; return whether the crawl paused."""
        if self._away is None:
            return False
        seconds = self._clock() - self._away.since
        self._away = None
        for host in self._asked:
            self._down.pop(host, None)
            await self._outages.recover(host, step=_ALL)
        self._asked.clear()
        logger.warning("the network is back after %d s: the crawl goes on", seconds)
        return True
