"""Statements that the documents of a crawl made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Statements(Protocol):
    """Which statements were made before, for all workers and runs of a crawl.

    Documents and statements are 64-bit hashes, the same in all workers.
    """

    async def add(self, document: int, statements: Sequence[int], limit: int) -> list[bool]:
        """Add the statements of a document; return for each whether no other one made it before.

        What the same document said earlier counts as its own, so that a call may be repeated. About
        ``limit`` statements are kept. The oldest are forgotten first; they count as new again.
        """
        ...
