"""The expected yield of the waiting links, and how many requests at once it warrants."""

from __future__ import annotations

import numpy as np

from semcrawl.relevance.learned.memory import CrawlMemory
from semcrawl.relevance.learned.model import Floats

#: answering hosts from which on nothing in flight is waited for: others can be asked meanwhile
_MANY_HOSTS = 8


def room(memory: CrawlMemory, uncertain: int) -> int:
    """How many more fetches to start, ``uncertain`` ones, no sure targets, being under way."""
    options, hosts = memory.options, len(memory.answering)
    if not options.ramp or hosts >= _MANY_HOSTS:
        return 1 << 30
    allowed = max(1, hosts) + int(memory.fetches / options.ramp)
    return memory.order.sure() + max(0, allowed - uncertain)


def expected_next(memory: CrawlMemory, requests: int) -> float:
    """Targets that the next so many requests are expected to bring."""
    index = _waiting_indexes(memory)
    if len(index) > requests:
        index = np.partition(index, len(index) - requests)[len(index) - requests :]
    return float(index.sum())


def expected_remaining(memory: CrawlMemory) -> float:
    """Targets expected among the waiting links and directly behind them.

    A page of index v is taken to cost min(1/v, 3) requests, its targets' included.
    """
    index = _waiting_indexes(memory).astype(np.float64)
    page = (index > 0.05) & (index <= 0.75)
    index[page] *= np.minimum(1 / index[page], 3.0)
    return float(index.sum())


def _waiting_indexes(memory: CrawlMemory) -> Floats:
    return memory.believed(memory.table.waiting())
