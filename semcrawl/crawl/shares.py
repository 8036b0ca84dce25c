"""Which spider's queue is served first: each gets its share by what it yields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

#: what a fetch of each queue is expected to yield before anything is known (targets a request):
#: pages are the surer way; links out of RDF lead to terms and things more often than to documents
_PRIOR = {"html": 0.3, "rdf": 0.1}
#: weight of the latest fetch
_WEIGHT = 0.1


@dataclass
class QueueShares:
    """Recent yield of every queue, as an exponentially weighted mean (targets per request).

    The queue that yields more is asked for links first; the others fill what room it leaves. So
    the RDF crawler's links take nothing from the focused HTML crawler (sources.md T.6: each its
    own share) unless they pay.
    """

    _yields: dict[str, float] = field(default_factory=dict)

    def note(self, queue: str, *, target: bool) -> None:
        """Take in whether a fetch gave a target."""
        before = self.expected(queue)
        self._yields[queue] = before + _WEIGHT * (float(target) - before)

    def expected(self, queue: str) -> float:
        """Return the targets that a request of the queue is expected to give, 0 to 1."""
        return self._yields.get(queue, _PRIOR.get(queue, 0.1))

    def order(self, queues: Iterable[str]) -> list[str]:
        """Return the queues, the best first; of equal ones the one whose name sorts first."""
        return sorted(queues, key=lambda queue: (-self.expected(queue), queue))
