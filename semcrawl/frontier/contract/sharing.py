"""State that the workers of a crawl share: events, blobs, claims, statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from semcrawl.frontier.contract.entries import Entry


@dataclass(frozen=True, slots=True)
class CrawlEvent:
    """An event of the log: a published outcome, or taken links."""

    #: whether this worker published it
    own: bool
    #: the outcome; ``None`` for a take
    outcome: bytes | None
    #: queue of the outcome's new links
    queue: str
    taken: Sequence[Entry]
    #: whether the next event was published in the same call
    more: bool = False


class EventLog(Protocol):
    """The outcomes and synchronised takes of all workers, in one order; a worker has a position.

    :class:`~semcrawl.crawl.learning.SharedLearning` calls it. Each method is atomic, and repeating
    it after a lost connection does not publish twice. About the last 100,000 events are kept.
    Events that cannot be decoded are skipped with a warning.
    """

    async def publish(self, *events: bytes, queue: str = "") -> None:
        """Append outcomes for the other workers; ``queue`` is that of their new links."""

    async def publish_and_read(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[CrawlEvent]:
        """Publish, then read the events since the last call, including these."""

    async def read(self, limit: int = 1000) -> list[CrawlEvent]:
        """Read the events since the last call, including this worker's own."""

    async def save_state(self, name: str, state: bytes) -> None:
        """Save the learned state together with this worker's position in the log."""

    async def load_state(self, name: str) -> bytes | None:
        """Return the saved state, or ``None``; :meth:`read` continues from its position."""


class Blobs(Protocol):
    """Named blobs of a crawl, for all workers and runs. Each method is atomic, and repeatable."""

    async def put(self, name: str, content: bytes) -> None:
        """Store a blob, replacing any of that name."""

    async def get(self, name: str) -> bytes | None:
        """Return a blob, or ``None``."""

    def describe(self, name: str) -> str:
        """Return where a blob is stored, for messages about an unreadable one."""


class SharedCache(Protocol):
    """Answers that expire, and claims to fetch them, for all workers.

    robots.txt files and JSON-LD contexts go through it. Each method is atomic and may be repeated.
    """

    async def put(self, name: str, content: bytes, seconds: float) -> None:
        """Store an answer for some time."""

    async def get(self, name: str) -> bytes | None:
        """Return an answer that has not expired, or ``None``."""

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it."""

    async def release(self, name: str) -> None:
        """Release this worker's claim."""

    def describe(self, name: str) -> str:
        """Return where an answer is stored, for messages about an unreadable one."""


class Statements(Protocol):
    """Remembers the statements of kept documents, for all workers and runs of a crawl.

    Documents and statements are 64-bit hashes, the same in all workers.
    """

    async def add(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add the statements of a document, or look them up; return for each whether it is new.

        It is new unless another document made it before, so a call may be repeated. About ``limit``
        statements are kept. The oldest are forgotten first, and then count as new again.
        """
        ...
