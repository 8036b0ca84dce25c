"""The settings of SPARQL endpoints: which are read, and how much of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

from semcrawl.frontier.linkstate import LinkState
from semcrawl.sources.endpointpaging import first_steps
from semcrawl.web.vocabulary import FoundBy


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How endpoints are read."""

    #: which are: ``never``, ``seeds`` or ``found``
    allowed: str = "seeds"
    #: triples of a page, and of an endpoint (0: any number)
    page: int = 10_000
    most: int = 10_000_000
    #: seconds for a query, and for all queries of an endpoint in one run (0: any time)
    timeout: float = 60.0
    seconds: float = 43_200.0
    #: patterns of graphs that are left out
    skipped: tuple[str, ...] = ()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read the settings."""
        return cls(
            settings.get("SEMCRAWL_ENDPOINTS") or "never",
            settings.getint("SEMCRAWL_ENDPOINT_PAGE"),
            settings.getint("SEMCRAWL_ENDPOINT_TRIPLES"),
            settings.getfloat("SEMCRAWL_ENDPOINT_TIMEOUT"),
            settings.getfloat("SEMCRAWL_ENDPOINT_TIME"),
            tuple(settings.getlist("SEMCRAWL_ENDPOINT_SKIP_GRAPHS")),
        )

    def seed(self, endpoint: str) -> list[tuple[str, LinkState]]:
        """Return the links that begin with an endpoint."""
        description, graphs = first_steps(endpoint, self.page, self.most)
        return [
            (description.url, LinkState(query=description.pack())),
            (graphs.url, LinkState(found_by=FoundBy.ENDPOINT, query=graphs.pack())),
        ]
