"""The backends that the conformance suite, the model test and the kill tests run on.

Another backend is one more name in ``BACKENDS`` and one more case in ``backend_at``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from semcrawl.frontier import FrontierOptions, RedisFrontier
from semcrawl.frontier.contract import ManagedFrontier

#: names of the backends, each made by the fixture ``backend``
BACKENDS = ("embedded", "served")


class Backend(Protocol):
    """Makes frontiers of one store: of fresh crawls, and of further workers on the same crawl.

    Time is the store's own: tests wait for it with ``eventually``.
    """

    def frontier(
        self,
        crawl: str,
        worker: str,
        options: FrontierOptions | None = None,
        *,
        guest: bool = False,
        considerate: bool = False,
    ) -> ManagedFrontier:
        """A worker's frontier, not opened yet; a crawl that is new begins when it is opened."""
        ...


@dataclass(frozen=True)
class RedisBackend:
    """A Redis server at a URL or a socket."""

    address: str

    def frontier(
        self,
        crawl: str,
        worker: str,
        options: FrontierOptions | None = None,
        *,
        guest: bool = False,
        considerate: bool = False,
    ) -> RedisFrontier:
        return RedisFrontier(
            self.address,
            prefix=crawl,
            worker_id=worker,
            options=options,
            guest=guest,
            considerate=considerate,
        )


def backend_at(address: str) -> Backend:
    """The backend that an address leads to, for other processes of a test."""
    return RedisBackend(address)
