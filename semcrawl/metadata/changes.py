"""Tells what re-visits and later runs found new, changed or gone since a moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, select

from semcrawl.metadata.models import Document
from semcrawl.terminal.messages import amount
from semcrawl.web.hosts import netloc_of


@dataclass(slots=True)
class Changes:
    """Addresses of documents and pages with data, by what became of them since a moment."""

    #: seconds since the epoch
    since: float
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    #: visited, and the same as before
    unchanged: int = 0
    #: had before, and not visited since
    unvisited: int = 0

    def __str__(self) -> str:
        """Return the numbers: ``3 new, 1 changed, 1 gone, 12 unchanged``."""
        parts = [f"{len(self.new):,} new", f"{len(self.changed):,} changed"]
        parts += [f"{len(self.gone):,} gone", f"{self.unchanged:,} unchanged"]
        return ", ".join(parts)

    @property
    def nothing_before(self) -> bool:
        """Whether nothing had been had before."""
        return not (self.changed or self.gone or self.unchanged or self.unvisited)

    def as_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def changes_since(engines: Sequence[Engine], since: float, hosts: Collection[str] = ()) -> Changes:
    """Return what became of the documents of ledgers since a moment; raise SQLAlchemy's errors.

    ``hosts`` (with their ports): of these alone. A document that went and came back is
    changed. The last state counts.
    """
    found = Changes(since)
    columns = (
        Document.url, Document.first_seen_at, Document.last_seen_at, Document.fetched_at,
        Document.gone_at,
    )  # fmt: skip
    for engine in engines:
        with engine.execution_options(read_only=True).connect() as connection:
            rows = connection.execution_options(yield_per=1000).execute(
                select(*columns).order_by(Document.id)
            )
            for url, first, last, fetched, gone in rows:
                if hosts and netloc_of(url) not in hosts:
                    continue
                if gone is not None:
                    found.gone += [url] if gone >= since else []
                elif first >= since:
                    found.new.append(url)
                elif fetched >= since:
                    found.changed.append(url)
                elif last >= since:
                    found.unchanged += 1
                else:
                    found.unvisited += 1
    return found


def change_line(changes: Changes) -> str:
    """Return a line for the summary of a run that began then; empty for the first run."""
    if changes.nothing_before:
        return ""
    rest = f"; {amount(changes.unvisited, 'document')} not visited" if changes.unvisited else ""
    return f"Since the run before: {changes}{rest}."
