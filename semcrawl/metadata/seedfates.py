"""Finds out from the records where a crawl's seeds led, and which gave nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from semcrawl.items import FAILED, FetchOutcome
from semcrawl.metadata.database import opened
from semcrawl.metadata.missed import why_missed
from semcrawl.metadata.models import Fetch
from semcrawl.metadata.tally import is_context_fetch, is_robots
from semcrawl.web.hosts import domain_of
from semcrawl.web.vocabulary import FoundBy

#: outcomes of seeds that gave something
_GAVE = frozenset(each for each in FetchOutcome if each.means.gave)
#: most records of seeds that are read, and most redirects of a seed that are followed
_MOST_SEEDS, _MOST_REDIRECTS = 100_000, 30
#: most lines about single seeds
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class SeedFate:
    """Where a seed led, and its outcome there."""

    seed: str
    #: the last address that its redirects led to
    end: str
    #: empty if that address has no record as a seed, as a page linked to it before
    outcome: str = ""
    status: int | None = None
    errors: str = ""

    @property
    def moved(self) -> bool:
        """Whether it led to another pay-level domain."""
        return domain_of(self.seed) != domain_of(self.end)

    @property
    def gave_something(self) -> bool:
        """Whether it gave something, as far as is known."""
        return not self.outcome or self.outcome in _GAVE

    @property
    def failure(self) -> str:
        """Why it gave nothing; empty if it gave something."""
        if self.gave_something:
            return ""
        if self.outcome == FetchOutcome.HTTP_ERROR and (self.status or 0) >= 400:
            return f"{self.end} answers {self.status}"
        return self.errors.partition("\n")[0] or str(self.outcome)

    @property
    def may_pass(self) -> bool:
        """Whether it failed for a reason that may pass, such as a missing network."""
        return bool(self.outcome) and why_missed(self.outcome, self.status, self.errors) == FAILED

    def line(self) -> str:
        """Return a line for the user; empty if the seed was fetched without anything special."""
        if self.gave_something:
            return f"the seed {self.seed} leads to {self.end}" if self.moved else ""
        where = self.seed if self.end == self.seed else f"{self.seed} leads to {self.end}, which"
        if self.outcome == FetchOutcome.HTTP_ERROR and (self.status or 0) >= 400:
            return f"the seed {where} answers {self.status}"
        why = self.errors.partition("\n")[0] or str(self.outcome)
        return f"the seed {where}{':' if self.end == self.seed else ' fails:'} {why}"


def seed_lines(database: str) -> list[str]:
    """Return lines about the first seeds that led to another domain or gave nothing."""
    with opened(database) as engine:
        lines = [line for fate in seed_fates(engine) if (line := fate.line())]
    more = len(lines) - _SHOWN
    if more > 0:
        lines[_SHOWN:] = [f"… and {more:,} more seeds; crawl.db has their records"]
    return lines


def seeds_to_repeat(database: str) -> set[str]:
    """Return the seeds of earlier runs that failed for a reason that may pass."""
    with opened(database) as engine:
        return {fate.seed for fate in seed_fates(engine) if fate.may_pass}


def seed_fates(engine: Engine) -> list[SeedFate]:
    """Return the fate of each seed, by its last attempt."""
    columns = (Fetch.url, Fetch.final_url, Fetch.outcome, Fetch.status, Fetch.errors, Fetch.rules)
    # others without a parent, such as a guessed sitemap, are no seeds; old rows have no kind
    is_seed = Fetch.found_by.in_((str(FoundBy.SEED), str(FoundBy.ENDPOINT), ""))
    query = select(*columns).where(Fetch.parent_url.is_(None), is_seed).order_by(Fetch.id)
    rows: dict[str, Any] = {}
    with Session(engine) as session:
        for row in session.execute(query.limit(_MOST_SEEDS)):
            if not (is_robots(row.url, row.outcome) or is_context_fetch(row.rules)):
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
