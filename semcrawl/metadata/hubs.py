"""Hubs of earlier crawls: pages and hosts that led to many documents with few requests.

Swoogle starts from the most productive pages of its last crawl (sources.md T.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import Engine, case, func, select

from semcrawl.items import FetchOutcome
from semcrawl.metadata.models import Fetch
from semcrawl.terminal.messages import amount
from semcrawl.web.hosts import host_of, netloc_of
from semcrawl.web.vocabulary import FoundBy

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
