"""Finds out from the records where a crawl's seeds led, and which gave nothing.

Hubs of earlier crawls: pages and hosts that led to many documents with few requests.
Swoogle starts from the most productive pages of its last crawl (sources.md T.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, case, func, select
from sqlalchemy.orm import Session

from semcrawl.items import FAILED, FetchOutcome
from semcrawl.metadata.database import opened
from semcrawl.metadata.records import Fetch
from semcrawl.metadata.summary import is_errand, is_robots, why_missed
from semcrawl.terminal import amount
from semcrawl.web.hosts import domain_of, host_of, netloc_of
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
            if not (is_robots(row.url, row.outcome) or is_errand(row.rules)):
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


#: requests without a document that are added to every hub's, as one lucky request makes no hub
_PRIOR_REQUESTS = 4
#: outcomes of attempts that do not count, as they could give no document
_NOT_COUNTED = [each for each in FetchOutcome if each.means.errand or not each.means.sent]


@dataclass(slots=True)
class Hub:
    """A page and what its links gave, or a host (named by one of its pages) and what it gave."""

    url: str
    documents: int = 0
    requests: int = 0
    is_host: bool = False

    @property
    def worth(self) -> float:
        """Expected documents per request."""
        return self.documents / (self.requests + _PRIOR_REQUESTS)

    @property
    def why(self) -> str:
        """Say in one line what it gave."""
        what = "host with" if self.is_host else "page that led to"
        found = amount(self.documents, "RDF document")
        return f"{what} {found} in {amount(self.requests, 'request')}"


@dataclass
class HubBook:
    """Adds up hubs over several crawls."""

    pages: dict[str, Hub] = field(default_factory=dict)
    hosts: dict[str, Hub] = field(default_factory=dict)
    _depths: dict[str, int] = field(default_factory=dict)

    def add(self, engine: Engine) -> None:
        """Add the records of a crawl."""
        is_rdf = case((Fetch.outcome == FetchOutcome.FETCHED_RDF, 1), else_=0)
        with engine.execution_options(read_only=True).connect() as connection:
            rows = connection.execute(
                select(Fetch.parent_url, func.sum(is_rdf), func.count())
                .where(Fetch.outcome.not_in(_NOT_COUNTED), Fetch.parent_url.is_not(None))
                .where(Fetch.found_by != FoundBy.ENDPOINT)
                .group_by(Fetch.parent_url)
            )
            for url, documents, requests in rows:
                page = self.pages.setdefault(url, Hub(url))
                page.documents += int(documents or 0)
                page.requests += int(requests)
            # for a host every request counts, repeated ones and failures too
            read = (FetchOutcome.FETCHED_HTML, FetchOutcome.FETCHED_RDF)
            rows = connection.execute(
                select(Fetch.url, Fetch.final_url, Fetch.depth, Fetch.outcome)
                .where(Fetch.outcome.not_in(_NOT_COUNTED))
                .where(Fetch.found_by != FoundBy.ENDPOINT)
            )
            for url, final, depth, outcome in rows:
                address = final or url
                host = netloc_of(address)
                hub = self.hosts.setdefault(host, Hub("", is_host=True))
                hub.requests += 1
                hub.documents += outcome == FetchOutcome.FETCHED_RDF
                if outcome in read and depth < self._depths.get(host, 1 << 30):
                    self._depths[host], hub.url = depth, address

    def best(self) -> Iterator[Hub]:
        """Yield pages and hosts that led to documents, best first, each address once."""
        hubs = [*self.pages.values(), *self.hosts.values()]
        seen: set[str] = set()
        for hub in sorted(hubs, key=lambda hub: (-hub.worth, hub.url)):
            if hub.documents and host_of(hub.url) and hub.url not in seen:
                seen.add(hub.url)
                yield hub
