"""Statements that a crawl has seen, for topics that are asked in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from semcrawl.errors import FrontierUnavailable
from semcrawl.frontier.contract import Statements

#: seconds after which a thread looks whether the event loop still runs
_LOOKS = 1.0


class SharedStatements:
    """The frontier's statements as a :class:`~semcrawl.topics.StatementMemory`.

    Made in the event loop, called from other threads.
    """

    takes_long = True

    def __init__(self, statements: Statements, limit: int) -> None:
        """Remember about ``limit`` statements."""
        self._statements = statements
        self._limit = limit
        self._loop = asyncio.get_running_loop()

    def add(self, document: int, statements: Sequence[int]) -> list[bool]:
        """Add the statements of a document; return for each whether no other one said it.

        Raises ``FrontierError`` when the frontier cannot be used.
        """
        adding = self._statements.add(document, statements, self._limit)
        future = asyncio.run_coroutine_threadsafe(adding, self._loop)
        while True:
            try:
                return future.result(_LOOKS)
            except TimeoutError:
                if future.done():
                    raise
                if not self._loop.is_running():
                    raise FrontierUnavailable("the crawl ended while a topic was asked") from None
