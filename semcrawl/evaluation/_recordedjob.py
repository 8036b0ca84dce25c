"""Reads a job's seeds and unanswered queries from its records."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from semcrawl.items import FetchOutcome
from semcrawl.sources.endpointsteps import SEED_PREFIX, endpoint_of_query
from semcrawl.sources.negotiation import address_of
from semcrawl.web.vocabulary import FoundBy

_ROOTS = (
    "SELECT url, final_url, outcome, {found_by} FROM fetch "
    "WHERE depth = 0 AND parent_url IS NULL ORDER BY started_at"
)
_ASKED = "SELECT url, parent_url, outcome FROM fetch WHERE found_by = 'endpoint'"
#: outcomes of queries that leave no recorded answer
_UNANSWERED = (FetchOutcome.TIMEOUT, FetchOutcome.TOO_LARGE)


class _Root(NamedTuple):
    """The record of a URL that no document links to."""

    url: str
    final_url: str | None
    outcome: str
    found_by: str | None


@dataclass(frozen=True, slots=True)
class JobRecords:
    """The records that the recording of a job needs; empty if they cannot be read."""

    roots: tuple[_Root, ...] = ()
    #: addresses whose answers led to queries to them
    asking: frozenset[str] = frozenset()
    #: queries that timed out, or whose answers were too large
    unanswered: frozenset[str] = field(default=frozenset())

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the records in a job's folder."""
        file = folder / "crawl.db"
        if not file.is_file():
            return cls()
        try:
            connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
            try:
                columns = {row[1] for row in connection.execute("PRAGMA table_info(fetch)")}
                known = "found_by" in columns  # older jobs have no such column
                query = _ROOTS.format(found_by="found_by" if known else "NULL")
                roots = tuple(_Root(*row) for row in connection.execute(query))
                asked = connection.execute(_ASKED).fetchall() if known else []
            finally:
                connection.close()
        except sqlite3.Error:
            return cls()
        return cls(
            roots,
            frozenset(parent for url, parent, _ in asked if parent == endpoint_of_query(url)),
            frozenset(url for url, _, outcome in asked if outcome in _UNANSWERED),
        )

    def starts(self, recorded: Collection[str]) -> tuple[str, ...]:
        """Return the seeds with a ``recorded`` answer, and all endpoints in the form of seeds."""
        onward = {r.url: r.final_url for r in self.roots if r.outcome == FetchOutcome.REDIRECTED}
        led_to = set(onward.values())
        found = []
        for root in self.roots:
            if root.outcome == FetchOutcome.FETCHED_ROBOTS or root.url in led_to:
                continue
            if root.found_by == FoundBy.ENDPOINT:
                # its address was also a seed for a page
                found.append(SEED_PREFIX + endpoint_of_query(root.url))
            elif self._is_endpoint(root.url, onward):
                found.append(SEED_PREFIX + root.url)
            elif address_of(root.url) in recorded:
                found.append(root.url)
        return tuple(dict.fromkeys(found))

    def _is_endpoint(self, url: str, onward: dict[str, str | None]) -> bool:
        """Whether the answer to an address, possibly after redirects, led to queries."""
        last: str | None = url
        for _ in range(len(onward) + 1):
            if last is None or last in self.asking:
                return last is not None
            last = onward.get(last)
        return False
