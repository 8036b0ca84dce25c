"""A journal of a worker's changes to a shard, which a failure of the server may undo."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable

#: seconds after which a server without replicas has a write on its disk
#: (``appendfsync everysec`` may hold back two seconds)
_ON_DISK = 3.0
#: most calls in a journal
_MOST = 2000


class Journal:
    """The last calls that changed a shard, to be repeated when its server lost writes.

    Repeating a call changes nothing if it was not lost. A call is *settled* when a replica has its
    writes.
    """

    def __init__(self) -> None:
        self._calls: deque[tuple[int, float, Callable[[], Awaitable[object]]]] = deque()
        #: numbers of the last call and of the last settled one
        self._last = self._settled = 0

    @property
    def last(self) -> int:
        """Number of the last call."""
        return self._last

    @property
    def is_settled(self) -> bool:
        """Whether all calls are settled."""
        return self._settled >= self._last

    def note(self, call: Callable[[], Awaitable[object]]) -> None:
        """Record a call before it is made."""
        self._last += 1
        self._calls.append((self._last, time.monotonic(), call))
        if len(self._calls) > _MOST:
            self._calls.popleft()

    def settle(self, number: int, *, forget: bool) -> None:
        """Mark the calls up to a number as settled.

        Without ``forget`` they stay until they are on the server's disk.
        """
        self._settled = max(self._settled, number)
        before = time.monotonic() - _ON_DISK
        while self._calls and (
            self._calls[0][0] <= number if forget else self._calls[0][1] < before
        ):
            self._calls.popleft()

    async def repeat(self) -> None:
        """Repeat the calls in order."""
        for _, _, call in list(self._calls):
            await call()
