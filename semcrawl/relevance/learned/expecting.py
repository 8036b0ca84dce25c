"""Expectations: of all waiting links, of one link with its reasons, and those that end a crawl."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from semcrawl.errors import UsageError
from semcrawl.relevance.learned.answering import NO_HOST
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.memory import CrawlMemory
from semcrawl.relevance.learned.parts import twin_addresses
from semcrawl.relevance.learned.table import Floats

#: number of answering hosts from which on requests in flight are not limited
_MANY_HOSTS = 8
#: most features shown for and against a link
_SHOWN = 8
#: smaller weights (logits) are not shown
_NOTHING = 0.005


def room(memory: CrawlMemory, uncertain: int) -> int:
    """Return how many more fetches to start while ``uncertain`` ones are in flight."""
    options, hosts = memory.options, len(memory.answering)
    if not options.ramp or hosts >= _MANY_HOSTS:
        return 1 << 30
    allowed = max(1, hosts) + int(memory.fetches / options.ramp)
    return memory.order.sure() + max(0, allowed - uncertain)


def expected_next(memory: CrawlMemory, requests: int) -> float:
    """Return the expected number of targets from the next ``requests`` requests."""
    index = _waiting_indexes(memory)
    if len(index) > requests:
        index = np.partition(index, len(index) - requests)[len(index) - requests :]
    return float(index.sum())


def expected_remaining(memory: CrawlMemory) -> float:
    """Return the expected number of targets among waiting links and the pages behind them.

    A page of index v is assumed to cost min(1/v, 3) requests, those for its targets included.
    """
    index = _waiting_indexes(memory).astype(np.float64)
    page = (index > 0.05) & (index <= 0.75)
    index[page] *= np.minimum(1 / index[page], 3.0)
    return float(index.sum())


def _waiting_indexes(memory: CrawlMemory) -> Floats:
    return memory.believed(memory.table.waiting())


class Patience:
    """Ends a crawl after many requests without a new target, if no more targets are expected.

    Both must hold: the last ``requests`` gave no target, and as many more are expected to give
    fewer than ``least``. Without a strategy that predicts targets, the first alone decides.
    """

    def __init__(self, requests: int, least: float = 1.0) -> None:
        if requests < 1:
            raise UsageError(f"patience must be 1 request or more, not {requests}")
        self.requests = requests
        self.least = least
        self._fruitless = 0

    def note(self, *, target: bool) -> None:
        """Note the end of a request."""
        self._fruitless = 0 if target else self._fruitless + 1

    def is_over(self, expected_next: float | None = None) -> bool:
        """Whether to stop; ``expected_next`` is the prediction for the next ``requests``."""
        if self._fruitless < self.requests:
            return False
        return expected_next is None or expected_next < self.least


def evidence(
    memory: CrawlMemory, url: str, facts: LinkFacts, named: Iterable[tuple[str, int]]
) -> list[tuple[str, str]]:
    """Return rows about a link: its prior, its twins, its host, and its heaviest features.

    ``named`` has the names of its features and their rows in the weight table.
    """
    rows = [("prior", f"{facts.signs.prior:+.2f} logits")]
    if memory.judge.any_known(memory.table, twin_addresses(url)):
        penalty = memory.options.twin_penalty
        rows.append(("against", f"{-penalty:+.2f} page known under another address"))
    host = memory.hosts.numbers.get(facts.host, NO_HOST)
    own, beside = memory.answering.reasons(host, facts.named_by)
    if own < 1:
        rows.append(("against", f"× {own:.2g} host gave nothing so far"))
    if beside < 1:
        rows.append(("against", f"× {beside:.2g} share of hosts named beside it that answered"))
    weighed = sorted((float(memory.models.index.weights[row]), name) for name, row in named)
    best, worst = weighed[: -_SHOWN - 1 : -1], weighed[:_SHOWN]
    rows += [("for", f"{weight:+.2f} {name}") for weight, name in best if weight > _NOTHING]
    rows += [("against", f"{weight:+.2f} {name}") for weight, name in worst if weight < -_NOTHING]
    return rows
