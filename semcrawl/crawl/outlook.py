"""Whether what is left of a crawl is worth its requests."""

from __future__ import annotations

from semcrawl.frontier.contract import QUEUES, Frontier, LeftOutLinks, Withheld
from semcrawl.relevance import Relevance
from semcrawl.relevance.contract import Estimating, Forecasting
from semcrawl.relevance.learned.stopping import Patience


class Outlook:
    """A strategy's expectation of the waiting links, where it can tell.

    With ``patience``, a number of requests, :meth:`note` says when to give up.
    """

    def __init__(self, strategy: Relevance, patience: int) -> None:
        #: ended before its time, as what is left is not expected to pay
        self.gave_up = False
        #: targets that the strategy expects among what was left at the end, if it can tell
        self.expected_left: float | None = None
        #: links that waited at the end; ``None`` when it came before they were counted
        self.waiting_left: int | None = None
        #: links dropped as the frontier was full
        self.dropped = 0
        #: links that did not go in
        self.left_out = LeftOutLinks()
        #: families of links that are not asked for, as none of those that were led anywhere
        self.withheld: list[Withheld] = []
        self._requests = patience
        self._patience = Patience(patience) if patience else None
        self._strategy = strategy

    def note(self, *, target: bool) -> bool:
        """Take in a fetch; return whether the patience has come to its end with it."""
        if self._patience is None or self.gave_up:
            return False
        self._patience.note(target=target)
        if self._patience.is_over():
            # (what is expected takes a look at all that waits)
            self.gave_up = not isinstance(self._strategy, Forecasting) or self._patience.is_over(
                self._strategy.expected_next(self._requests)
            )
        return self.gave_up

    async def look_back(self, frontier: Frontier) -> None:
        """Note what is left."""
        counts = await frontier.counts(QUEUES, [])
        # what is leased now goes back in, or is tried again
        self.waiting_left = counts.waiting + counts.leased
        self.dropped = counts.dropped
        self.left_out = await frontier.left_out.summary()
        self.withheld = await frontier.withheld.families()
        if isinstance(self._strategy, Estimating):
            self.expected_left = float(self._strategy.expected_remaining())
