"""The fate of a crawl's seeds, read from its records: where they led, which gave nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from semcrawl.items import FetchOutcome
from semcrawl.metadata.database import opened
from semcrawl.metadata.models import Fetch
from semcrawl.metadata.tally import is_aside, is_robots
from semcrawl.web.hosts import domain_of

#: outcomes with which something of a seed was fetched
_HAD = frozenset(
    {
        FetchOutcome.FETCHED_RDF,
        FetchOutcome.FETCHED_HTML,
        FetchOutcome.FETCHED_OTHER,
        FetchOutcome.NOT_MODIFIED,
        FetchOutcome.SITEMAP_UNCHANGED,
        FetchOutcome.DUPLICATE,
        FetchOutcome.FILTERED_TYPE,
    }
)
#: seeds whose records are looked at, and redirects of one that are followed
_MOST_SEEDS, _MOST_REDIRECTS = 100_000, 30
#: lines about single seeds
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class SeedFate:
    """Where a seed led, and how that ended."""

    seed: str
    #: the last address that it led to
    end: str
    #: empty if the last record is not of a seed: a page linked to it as well
    outcome: str = ""
    status: int | None = None
    errors: str = ""

    @property
    def moved(self) -> bool:
        """Whether it led to another pay-level domain."""
        return domain_of(self.seed) != domain_of(self.end)

    @property
    def had(self) -> bool:
        """Whether something came of it."""
        return not self.outcome or self.outcome in _HAD

    def line(self) -> str:
        """Return a line on a seed for the user; empty if it was simply fetched."""
        if self.had:
            return f"the seed {self.seed} leads to {self.end}" if self.moved else ""
        where = self.seed if self.end == self.seed else f"{self.seed} leads to {self.end}, which"
        if self.outcome == FetchOutcome.HTTP_ERROR and (self.status or 0) >= 400:
            return f"the seed {where} answers {self.status}"
        why = self.errors.partition("\n")[0] or str(self.outcome)
        return f"the seed {where}{':' if self.end == self.seed else ' fails:'} {why}"


def seed_lines(database: str) -> list[str]:
    """Return a line for each seed that led to another domain or gave nothing; the first ones."""
    with opened(database) as engine:
        lines = [line for fate in seed_fates(engine) if (line := fate.line())]
    more = len(lines) - _SHOWN
    if more > 0:
        lines[_SHOWN:] = [f"… and {more:,} more seeds; crawl.db has their records"]
    return lines


def seed_fates(engine: Engine) -> list[SeedFate]:
    """Return what became of each seed that was asked for, the last time that it was."""
    columns = (Fetch.url, Fetch.final_url, Fetch.outcome, Fetch.status, Fetch.errors, Fetch.rules)
    query = select(*columns).where(Fetch.parent_url.is_(None)).order_by(Fetch.id)
    rows: dict[str, Any] = {}
    with Session(engine) as session:
        for row in session.execute(query.limit(_MOST_SEEDS)):
            if not (is_robots(row.url, row.outcome) or is_aside(row.rules)):
                rows[row.url] = row
    led_to = {row.final_url for row in rows.values() if row.outcome == FetchOutcome.REDIRECTED}
    return [_fate(url, rows) for url in rows if url not in led_to]


def _fate(seed: str, rows: dict[str, Any]) -> SeedFate:
    row = rows[seed]
    for _ in range(_MOST_REDIRECTS):
        if row.outcome != FetchOutcome.REDIRECTED:
            end = row.final_url or row.url
            return SeedFate(seed, end, row.outcome, row.status, row.errors)
        if row.final_url not in rows:
            break
        row = rows[row.final_url]
    return SeedFate(seed, row.final_url)
