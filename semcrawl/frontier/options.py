"""What can be chosen about a frontier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semcrawl.errors import UsageError


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """Options of a frontier; all workers of a crawl should have the same.

    Raises ``UsageError`` for values that make no sense.
    """

    #: seconds after which an unfinished link goes back in
    lease_time: float = 120.0
    #: seconds between request starts on a host that has no pace of its own
    delay: float = 1.0
    #: requests at a time on a host that has no pace of its own
    concurrency: int = 1
    #: who is first among hosts whose best groups have equal values: ``off`` = the smallest key,
    #: then first in; ``equal`` = hosts in turn; ``yield`` = in turn, richer hosts more often
    fairness: Literal["off", "equal", "yield"] = "off"
    #: seconds to wait for a server that went away before ``FrontierUnavailable`` is raised
    patience: float = 300.0
    #: seconds after which :meth:`Frontier.next_ready` wants to be asked again while only
    #: downloads under way keep hosts from being asked
    poll: float = 0.1
    #: seconds to wait for an answer of the server
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Check."""
        if not self.lease_time > 0:
            raise UsageError(f"lease time must be more than 0 s, not {self.lease_time}")
        if not 0 <= self.delay < 1e6:
            raise UsageError(f"crawl delay must be 0 to 1,000,000 s, not {self.delay}")
        if self.concurrency < 1:
            raise UsageError(f"concurrency per host must be at least 1, not {self.concurrency}")
        if self.fairness not in ("off", "equal", "yield"):
            raise UsageError(f"fairness must be off, equal or yield, not {self.fairness!r}")
