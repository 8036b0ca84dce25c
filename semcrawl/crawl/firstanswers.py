"""Bounds the wait for servers that never answered, so that they do not hold others' slots."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

from semcrawl.machine.recent import Recent

#: share of the concurrency that may wait the full time for servers that were silent once
_PATIENT = 1 / 8
#: weight of the latest first answer or silence; least share of the limit that a server has
_WEIGHT, _LEAST = 0.1, 0.2
#: most silent servers that are remembered
_MOST_SERVERS = 10_000


class FirstAnswers:
    """Bounds the time that a server has for its first answer.

    A server that never answered has ``limit`` seconds (0 = no bound), and as little as a fifth of
    them while most such servers are silent. Its second request has the full time of downloads,
    ``full``, but only a few such servers at a time. So ten thousand silent servers do not hold all
    slots, and a server that is merely slow can answer.
    """

    def __init__(
        self,
        limit: float,
        full: float,
        concurrency: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit if 0 < limit < (full or inf) else 0.0
        self._full = full or inf
        self._most = max(1, int(concurrency * _PATIENT))
        self._clock = clock
        #: recent share of servers that gave their first answer in time
        self._answering = 1.0
        #: servers that were silent, and whether they have had the full time
        self._silent: Recent[str, bool] = Recent(_MOST_SERVERS)
        #: servers that have the full time now, and until when
        self._patient: dict[str, float] = {}

    def limit(self, server: str) -> float:
        """Return the seconds for the answer of a server that never answered; 0 = no bound."""
        limit = self._limit * max(_LEAST, self._answering)
        if not limit or self._silent.get(server, True):
            return limit
        now = self._clock()
        if server not in self._patient:
            self._patient = {each: end for each, end in self._patient.items() if end > now}
            if len(self._patient) >= self._most:
                return limit
            self._patient[server] = now + self._full
        return 0.0

    def silent(self, server: str) -> None:
        """Note that a server which never answered did not answer in time."""
        had = self._patient.pop(server, None) is not None
        self._silent[server] = had or self._silent.get(server, False)
        self._answering *= 1 - _WEIGHT

    def answered(self, server: str) -> None:
        """Note a server's first answer."""
        self._patient.pop(server, None)
        self._silent.pop(server, None)
        self._answering += _WEIGHT * (1 - self._answering)
