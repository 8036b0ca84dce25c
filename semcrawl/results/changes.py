"""Reads the history of a job: what its documents were, and what changed since a moment.

A document goes through *states*: it had some statements, or did not exist. The last one is in the
job's ledger, the former ones are in ``history.db`` (:mod:`semcrawl.metadata.pastversions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, Self

from sqlalchemy import Table, or_, select

from semcrawl.errors import UsageError
from semcrawl.metadata.pastversions import HISTORIES, Former, Kept, PastReader
from semcrawl.metadata.records import Document
from semcrawl.pipelines.quadsfile import is_lost
from semcrawl.rdf.sink import whole_lines
from semcrawl.results.differences import Lines, difference
from semcrawl.results.job import Job
from semcrawl.results.quadsource import Snapshot, Span, store_errors

_DOCUMENT: Table = Document.__table__  # type: ignore[assignment]
#: rows of documents in memory at a time
_ROWS = 1000


@dataclass(frozen=True, slots=True)
class State:
    """What a document was from a moment on."""

    since: float
    #: bytes of its lines
    length: int = 0
    #: ``None``: it did not exist
    lines: Lines | None = None
    #: whether that is known
    is_kept: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a document between two states."""

    url: str
    #: ``url_key`` of the address
    key: str
    before: State
    after: State

    @property
    def at(self) -> float:
        """When it was seen, in seconds since the epoch."""
        return self.after.since

    @property
    def kind(self) -> str:
        """``new``, ``changed`` or ``gone``."""
        if self.after.lines is None:
            return "gone"
        return "changed" if self.before.lines is not None else "new"

    @property
    def size(self) -> int:
        """Bytes of the lines of both states."""
        return self.before.length + self.after.length

    def rows(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the statements that differ, as :func:`difference` does."""
        old, new = (state.lines or _nothing for state in (self.before, self.after))
        return difference(old, new, self.size)


def _nothing() -> Iterator[bytes]:
    return iter(())


@dataclass
class History:
    """The changes of a job's documents; use it in a ``with`` block.

    Raises ``UsageError`` for a job without history, and ``StoreError`` for what cannot be read.
    """

    job: Job
    #: addresses of documents that changed, but whose former statements were not kept
    unknown: dict[str, None] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Open the job's ledgers and their histories."""
        self._exit = ExitStack()
        self._parts: list[tuple[Snapshot, PastReader]] = []
        with self._exit:
            for source in self.job.sources:
                # the ledger first: the history knows all that it knows
                snapshot = self._exit.enter_context(source.snapshot())
                name = HISTORIES[source.ledger.name]
                if (self.job.folder / name).is_file():
                    past = PastReader(self.job.folder, source.ledger.name)
                    self._exit.callback(past.close)
                    self._parts.append((snapshot, past))
            if not self._parts:
                raise UsageError(
                    f"{self.job.folder} keeps no history: harvest with --history first"
                )
            self._exit = self._exit.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """Close them."""
        self._exit.close()

    def net(self, since: float) -> Iterator[Change]:
        """Yield a change for each document that is not as it was at ``since``."""
        for row, states in self._documents(since):
            before = State(0.0)
            for state in states:
                if state.since <= since:
                    before = state
            after = states[-1]
            if after is before or (before.lines is None and after.lines is None):
                continue
            if before.is_kept and after.is_kept:
                yield Change(row.url, row.url_key, before, after)
            else:
                self.unknown[row.url] = None

    def each(self, since: float) -> Iterator[Change]:
        """Yield every change after ``since``, oldest first.

        Where it is not known what a document was before, its state then is not ``is_kept``.
        """
        found = []
        for row, states in self._documents(since):
            before = State(0.0)
            for state in states:
                is_change = state.lines is not before.lines and state.is_kept
                if state.since > since and is_change:
                    found.append(Change(row.url, row.url_key, before, state))
                    if not before.is_kept:
                        self.unknown[row.url] = None
                before = state
        found.sort(key=attrgetter("at", "url"))
        return iter(found)

    def _documents(self, since: float) -> Iterator[tuple[Any, list[State]]]:
        """Yield the rows of documents that changed after a moment, with all of their states."""
        query = (
            select(_DOCUMENT)
            .where(or_(Document.fetched_at > since, Document.gone_at > since))
            .order_by(Document.id)
        )
        for snapshot, past in self._parts:
            with store_errors(past.path):
                rows = snapshot.connection.execution_options(yield_per=_ROWS).execute(query)
                for row in rows:
                    yield row, _states(row, snapshot, past)


def _states(row: Any, snapshot: Snapshot, past: PastReader) -> list[State]:
    """Return the states of a document, oldest first; gaps are states that are not known."""
    found: list[State] = []
    end = row.first_seen_at
    #: since when it has had the statements of the next state
    same_since: float | None = None

    def add(since: float, length: int = 0, lines: Lines | None = None) -> None:
        nonlocal end, same_since
        if since > end:
            found.append(State(end, is_kept=False, lines=_nothing))
            same_since = None
        found.append(State(since if same_since is None else same_since, length, lines))
        same_since = None

    for version in past.of(row.url_key, row.revision):
        if version.kind is Kept.SAME:
            if version.since > end:
                found.append(State(end, is_kept=False, lines=_nothing))
                same_since = None
            same_since = version.since if same_since is None else same_since
        else:
            had = version.kind is Kept.HAD
            lines = partial(_lines_of, past, version) if had else None
            add(version.since, version.length, lines)
        end = version.until
    if row.gone_at is not None:
        add(row.gone_at)
        return found
    span = Span(*(getattr(row, name) for name in Span._fields))
    if is_lost(row._asdict()) or not snapshot.is_sound(span):
        found.append(State(row.fetched_at, is_kept=False, lines=_nothing))
    else:
        add(row.fetched_at, row.length, partial(snapshot.lines, span))
    return found


def _lines_of(past: PastReader, version: Former) -> Iterator[bytes]:
    with store_errors(past.path):
        yield from whole_lines(past.pieces(version))
