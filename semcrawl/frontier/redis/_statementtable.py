"""The statements of a crawl's documents, on Redis."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.frontier.redis.connection import Server

#: statements added per call
_AT_ONCE = 2000
#: entries per bucket, bytes per entry, and its leading bytes that are the statement's
_WAYS, _PLACE, _TAG = 4, 8, 5
#: most buckets: 256 MB, half of the largest string in Redis
_MOST_BUCKETS = 1 << 23


class RedisStatements:
    """A table of fixed size (:class:`~semcrawl.frontier.contract.Statements`).

    It has buckets of four entries of 8 bytes, each a part of a statement's hash and a part of its
    document's hash. A full bucket forgets its oldest entry. A new statement counts as known with a
    probability of 4 in 10¹². Changing ``limit`` forgets most statements.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def add(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add a document's statements or look them up; return for each whether no other made it."""
        buckets = min(_MOST_BUCKETS, 1 << max(0, (limit - 1) // _WAYS).bit_length())
        marks = _PLACE - _TAG
        mark = (document % ((1 << 8 * marks) - 1) + 1).to_bytes(marks, "big")
        new: list[bool] = []
        for first in range(0, len(statements), _AT_ONCE):  # in portions, as other workers wait
            places = [
                [one % buckets * _WAYS * _PLACE, one.to_bytes(8, "big")[:_TAG]]
                for one in statements[first : first + _AT_ONCE]
            ]
            new += map(bool, await self._server.run("say", [mark, places, int(remember)]))
        return new
