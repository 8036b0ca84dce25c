"""Statements that the documents of a crawl made, on Redis."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.frontier.redis.connection import Server

#: statements added per call
_AT_ONCE = 2000
#: places of a bucket; bytes of a place, of which the first are the statement's
_WAYS, _PLACE, _TAG = 4, 8, 5
#: buckets of the largest table: 256 MB, half of what a string of Redis may hold
_MOST_BUCKETS = 1 << 23


class RedisStatements:
    """A table of fixed size (:class:`~semcrawl.frontier.contract.Statements`).

    Each statement has a bucket of four places of 8 bytes, which hold a part of its hash and a part
    of its document's. A full bucket forgets its oldest. That a statement counts as made which
    nobody made has a chance of 4 in 10¹². With another ``limit`` than before most are forgotten.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def add(self, document: int, statements: Sequence[int], limit: int) -> list[bool]:
        """Add the statements of a document; return for each whether no other document made it."""
        buckets = min(_MOST_BUCKETS, 1 << max(0, (limit - 1) // _WAYS).bit_length())
        marks = _PLACE - _TAG
        mark = (document % ((1 << 8 * marks) - 1) + 1).to_bytes(marks, "big")
        new: list[bool] = []
        for first in range(0, len(statements), _AT_ONCE):  # in portions, as other workers wait
            places = [
                [one % buckets * _WAYS * _PLACE, one.to_bytes(8, "big")[:_TAG]]
                for one in statements[first : first + _AT_ONCE]
            ]
            new += map(bool, await self._server.run("say", [mark, places]))
        return new
