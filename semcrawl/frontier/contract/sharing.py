"""State that the workers of a crawl share: events, blobs, claims, statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from semcrawl.frontier.contract.entries import Entry


@dataclass(frozen=True, slots=True)
class CrawlEvent:
    """An event of the log: an outcome that was published, or links that were taken."""

    #: whether this very worker published it
    own: bool
    #: the outcome; ``None`` for a take
    outcome: bytes | None
    #: queue of the links that the outcome brought
    queue: str
    taken: Sequence[Entry]
    #: whether the next event was published together with this one
    more: bool = False


class EventLog(Protocol):
    """The outcomes and synchronised takes of all workers, in one order; each reads on from a place.

    :class:`~semcrawl.crawl.learning.SharedLearning` calls it. Each method is atomic and may be
    repeated after a lost connection without publishing twice. The last 100,000 events or so are
    kept. Events that cannot be read are passed over, with a warning.
    """

    async def publish(self, *events: bytes, queue: str = "") -> None:
        """Append outcomes for the other workers; ``queue``: that of the links they brought."""

    async def publish_and_read(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[CrawlEvent]:
        """Publish, and read the events since the last call, these included."""

    async def read(self, limit: int = 1000) -> list[CrawlEvent]:
        """Read the events since the last call, this worker's own among them."""

    async def save_state(self, name: str, state: bytes) -> None:
        """Save the learned state, together with this worker's place in the log."""

    async def load_state(self, name: str) -> bytes | None:
        """Return the saved state, or ``None``; :meth:`read` goes on from its place."""


class Blobs(Protocol):
    """Named blobs of a crawl, for all workers and runs. Each method is atomic, and repeatable."""

    async def put(self, name: str, content: bytes) -> None:
        """Store a blob, in place of the one of that name."""

    async def get(self, name: str) -> bytes | None:
        """Return a blob, or ``None``."""

    def describe(self, name: str) -> str:
        """Say where a blob is stored, for messages about one that cannot be read."""


class SharedCache(Protocol):
    """Answers that expire, and claims to fetch them, for all workers.

    robots.txt files and JSON-LD contexts go through it. Each method is atomic and may be repeated.
    """

    async def put(self, name: str, content: bytes, seconds: float) -> None:
        """Store an answer for some time."""

    async def get(self, name: str) -> bytes | None:
        """Return an answer that has not expired, or ``None``."""

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or prolong this worker's claim; whether it has it now."""

    async def release(self, name: str) -> None:
        """Give a claim up; another worker's stays."""

    def describe(self, name: str) -> str:
        """Say where an answer is stored, for messages about one that cannot be read."""


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
