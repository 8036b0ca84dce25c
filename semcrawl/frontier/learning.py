"""What the workers of a crawl learn together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from semcrawl.frontier.contract import Entry
from semcrawl.frontier.redis_frontier import RedisFrontier
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome, Relevance
from semcrawl.relevance.wire import decode_event, encode_event

logger = logging.getLogger(__name__)


class SharedLearning:
    """Keeps a worker's strategy, the frontier's order and the other workers in step.

    Outcomes go to all workers as events; what was learned is saved from time to time, and after a
    crash the events since then are heard again. A worker gives new keys to the links that it
    found itself.
    """

    def __init__(
        self, frontier: RedisFrontier, strategy: Relevance, host_key: Callable[[str], str]
    ) -> None:
        self.strategy = strategy
        #: fetches learned from so far
        self.outcomes = 0
        self._frontier = frontier
        self._host_key = host_key
        self._places: dict[str, Entry] = {}
        #: outcomes that the other workers have not been told of yet
        self._untold: list[bytes] = []
        self._learned = False
        # optional parts of a strategy
        self._worth_telling = getattr(strategy, "worth_telling", None)
        self._rekeys = bool(getattr(strategy, "rekeys", False))
        #: links wait that an earlier run put in, so that their places are not known
        self._resumed = False

    @property
    def _state_name(self) -> str:
        return f"strategy:{self.strategy.name}"

    async def load(self) -> None:
        """Go on with what was learned before."""
        state = await self._frontier.load(self._state_name)
        if state:
            self.strategy.load_state(state)
            self._resumed = True
        while await self.hear():
            pass
        await self.apply()

    async def save(self) -> None:
        """Keep what was learned."""
        state = self.strategy.dump_state()
        if state:
            await self._frontier.save(self._state_name, state)

    def learn(self, outcome: Outcome) -> None:
        """Tell the strategy what a fetch turned out to be; :meth:`tell` has the rest follow."""
        self.outcomes += 1
        self.strategy.learn(outcome)
        self._learned = True
        self._places.pop(outcome.url, None)
        if self._worth_telling is None or self._worth_telling(outcome):
            self._untold.append(encode_event(outcome))

    async def tell(self) -> None:
        """Tell the other workers and the frontier what was learned since the last call."""
        if self._untold:
            events, self._untold = self._untold, []
            await self._frontier.publish(*events)
        if self._learned:
            self._learned = False
            await self.apply()

    async def hear(self) -> int:
        """Learn from what other workers, or this one before a crash, fetched; return how much."""
        events = await self._frontier.events()
        self.outcomes += len(events)
        for event in events:
            try:
                outcome = decode_event(event)
            except ValueError as error:
                logger.warning("an event of another worker cannot be read: %s", error)
                continue
            self.strategy.learn(outcome)
        return len(events)

    def found(self, entries: Sequence[Entry], new: Sequence[bool]) -> None:
        """Note where the links that this worker put in wait."""
        if self._rekeys:
            pairs = zip(entries, new, strict=True)
            self._places.update((entry.url, entry) for entry, is_new in pairs if is_new)

    async def apply(self) -> None:
        """Let what was learned take effect on the waiting links."""
        await self.apply_values()
        keys = self.strategy.rekeyed()
        if keys:
            await self._frontier.rekey(
                [(place, key) for url, key in keys.items() for place in self._places_of(url)]
            )

    def _places_of(self, url: str) -> list[Entry]:
        """Return where a link waits; the likely places when an earlier run put it in."""
        if url in self._places:
            return [self._places[url]]
        if not self._resumed:
            return []
        group = self.strategy.rank(Page(url), [Link(url)])[0].group
        if group is None:
            return []
        return [Entry(url, self._host_key(url), queue, group) for queue in ("html", "rdf")]

    async def apply_values(self) -> None:
        """Give the frontier the groups' new values."""
        values = self.strategy.values()
        if values:
            await self._frontier.set_values(values)
