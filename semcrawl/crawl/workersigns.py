"""What each worker tells of itself in the frontier, for those who watch the crawl."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import Frontier
from semcrawl.items import FetchRecord
from semcrawl.metadata.summary import Tally, is_robots

#: seconds between two signs of a worker
INTERVAL = 2.0
#: last attempts that a worker tells of, and most characters of each text
_LAST, _LONGEST = 12, 300
#: begins the names under which the frontier keeps the signs
_NAME = "worker:"


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt as it is shown to those who watch; ``at`` is when it ended (epoch)."""

    at: float
    url: str
    outcome: str
    status: int | None
    quads: int
    reason: str


@dataclass(slots=True)
class WorkerSign:
    """What a worker has done since it began, and when it said so (seconds since the epoch)."""

    began: float
    at: float
    #: whether it has ended by itself
    ended: bool = False
    requests: int = 0
    errors: int = 0
    rdf_documents: int = 0
    html_documents: int = 0
    targets: int = 0
    quads: int = 0
    embedded_quads: int = 0
    #: bytes of the bodies received
    received: int = 0
    in_flight: int = 0
    #: its last attempts, the latest first
    last: list[Attempted] = field(default_factory=list)

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Read what :meth:`pack` wrote; raise ``ValueError`` or ``TypeError`` for other content."""
        found: Mapping[str, Any] = json.loads(content)
        return cls(**{**found, "last": [Attempted(**each) for each in found["last"]]})

    def pack(self) -> bytes:
        """Return it as bytes."""
        return json.dumps(asdict(self)).encode()


class Outlooking(Protocol):
    """What a session knows of its targets."""

    targets: int


class Working(Protocol):
    """The session as its signs see it."""

    frontier: Frontier
    tally: Tally

    @property
    def outlook(self) -> Outlooking:
        """What it knows of its targets."""

    @property
    def in_flight(self) -> Any:
        """Leases whose links are being fetched now."""


class Signs:
    """Tells the frontier what a worker does."""

    def __init__(self, session: Working) -> None:
        self._session = session
        self._began = time.time()
        self._last: deque[Attempted] = deque(maxlen=_LAST)
        session.tally.listeners.append(self._note)

    async def keep(self) -> None:
        """Give signs at intervals, until the task is cancelled."""
        while True:
            with suppress(FrontierError):  # the session reports it
                await self.give()
            await asyncio.sleep(INTERVAL)

    async def give(self, *, ended: bool = False) -> None:
        """Give a sign; ``ended``: the worker's last one."""
        session, tally = self._session, self._session.tally
        sign = WorkerSign(
            began=self._began,
            at=time.time(),
            ended=ended,
            requests=tally.requests,
            errors=tally.errors,
            rdf_documents=tally.rdf_documents,
            html_documents=tally.html_documents,
            targets=session.outlook.targets,
            quads=tally.quads,
            embedded_quads=tally.embedded_quads,
            received=tally.bytes,
            in_flight=len(session.in_flight),
            last=list(reversed(self._last)),
        )
        frontier = session.frontier
        await frontier.shared.put(
            _NAME + frontier.worker_id, sign.pack(), seconds=frontier.options.lease_time
        )

    def _note(self, record: FetchRecord) -> None:
        if not is_robots(record.url, record.outcome):
            self._last.append(
                Attempted(
                    record.started_at + record.elapsed,
                    record.url[:_LONGEST],
                    str(record.outcome),
                    record.status,
                    record.quads,
                    record.errors[:_LONGEST],
                )
            )


async def workers_of(frontier: Frontier) -> dict[str, WorkerSign | None]:
    """Return the workers that are active, with their last signs; ``None`` if one gave none.

    A worker that ended is active for as long as a lease holds, unless it ran on this machine.
    """
    found: dict[str, WorkerSign | None] = {}
    for name in await frontier.heartbeat(0.0):
        content = await frontier.shared.get(_NAME + name)
        try:
            sign = WorkerSign.read(content) if content else None
        except (ValueError, TypeError, KeyError):  # of another version
            sign = None
        if sign is None or not sign.ended:
            found[name] = sign
    return found
