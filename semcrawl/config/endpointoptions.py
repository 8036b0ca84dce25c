"""The settings of SPARQL endpoints: which are read, and how much of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from semcrawl.errors import UsageError
from semcrawl.sources.endpointsteps import endpoint_of_seed


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
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings, Scrapy's or a plain mapping."""
        skipped = settings.get("SEMCRAWL_ENDPOINT_SKIP_GRAPHS") or ()
        return cls(
            settings.get("SEMCRAWL_ENDPOINTS") or "never",
            int(settings.get("SEMCRAWL_ENDPOINT_PAGE") or 0),
            int(settings.get("SEMCRAWL_ENDPOINT_TRIPLES") or 0),
            float(settings.get("SEMCRAWL_ENDPOINT_TIMEOUT") or 0),
            float(settings.get("SEMCRAWL_ENDPOINT_TIME") or 0),
            tuple(skipped.split(",") if isinstance(skipped, str) else skipped),
        )

    def as_settings(self) -> dict[str, Any]:
        """Return the settings that give these options."""
        return {
            "SEMCRAWL_ENDPOINTS": self.allowed,
            "SEMCRAWL_ENDPOINT_PAGE": self.page,
            "SEMCRAWL_ENDPOINT_TRIPLES": self.most,
            "SEMCRAWL_ENDPOINT_TIMEOUT": self.timeout,
            "SEMCRAWL_ENDPOINT_TIME": self.seconds,
            "SEMCRAWL_ENDPOINT_SKIP_GRAPHS": self.skipped,
        }

    def check(self, seeds: Iterable[str]) -> None:
        """Raise ``UsageError`` where seeds name an endpoint, and none may be read."""
        named = next(filter(None, map(endpoint_of_seed, seeds)), "")
        if named and self.allowed == "never":
            raise UsageError(
                f"SEMCRAWL_ENDPOINTS is never: the SPARQL endpoint {named} is not read"
            )
