"""Options of ways to data besides links: catalogues, SPARQL endpoints, sitemaps and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from semcrawl.config.numbers import read_switch
from semcrawl.errors import UsageError
from semcrawl.sources import SitemapLimits
from semcrawl.sources.endpointsteps import endpoint_of_seed

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


@dataclass(frozen=True, slots=True)
class LeadOptions:
    """Options of catalogues, signposts, negotiation and well-known addresses."""

    catalogues: bool = True
    #: most pages of one catalogue, and most bytes of one list
    most_pages: int = 2000
    most_bytes: int = 16 * 2**20
    #: ``Link:`` headers, and linksets
    signposts: bool = True
    negotiation: bool = True
    tries: int = 2
    #: names below ``/.well-known/``
    well_known: tuple[str, ...] = ("void",)

    @property
    def asks_as_rdf(self) -> bool:
        """Whether pages are requested again as RDF."""
        return self.negotiation and self.tries > 0

    def reads(self, form: str) -> bool:
        """Whether lists of a form are read; ``form`` comes from ``form_of``, empty for no list."""
        wanted = self.signposts if form.startswith("linkset") else self.catalogues
        return bool(form) and wanted

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings, Scrapy's or a plain mapping; raise ``UsageError`` for wrong ones."""
        named = settings.get("SEMCRAWL_WELL_KNOWN") or ()
        names = named.split(",") if isinstance(named, str) else [str(name) for name in named]
        names = [name.strip().strip("/") for name in names]
        for name in names:
            if name and not all(c.isalnum() or c in "-_.~/" for c in name):
                raise UsageError(f"SEMCRAWL_WELL_KNOWN: invalid name below /.well-known/: {name!r}")

        def switch(name: str) -> bool:
            return read_switch(name, settings.get(name) or "")

        def number(name: str) -> int:
            return int(settings.get(name) or 0)

        return cls(
            switch("SEMCRAWL_CATALOGUES"),
            number("SEMCRAWL_MAX_CATALOGUE_PAGES"),
            number("SEMCRAWL_CATALOGUE_MAX_SIZE"),
            switch("SEMCRAWL_SIGNPOSTING"),
            settings.get("SEMCRAWL_NEGOTIATION") != "never",
            number("SEMCRAWL_NEGOTIATION_TRIES"),
            tuple(name for name in names if name),
        )

    def as_settings(self) -> dict[str, Any]:
        """Return the settings that give these options."""
        return {
            "SEMCRAWL_CATALOGUES": self.catalogues,
            "SEMCRAWL_MAX_CATALOGUE_PAGES": self.most_pages,
            "SEMCRAWL_CATALOGUE_MAX_SIZE": self.most_bytes,
            "SEMCRAWL_SIGNPOSTING": self.signposts,
            "SEMCRAWL_NEGOTIATION": "auto" if self.negotiation else "never",
            "SEMCRAWL_NEGOTIATION_TRIES": self.tries,
            "SEMCRAWL_WELL_KNOWN": self.well_known,
        }


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """Options of reading endpoints."""

    #: endpoints to read: ``never``, ``seeds`` or ``found``
    allowed: str = "seeds"
    #: most triples of a page, and of an endpoint (0: any number)
    page: int = 10_000
    most: int = 10_000_000
    #: seconds for a query, and for all queries to an endpoint in one run (0: no limit)
    timeout: float = 60.0
    seconds: float = 43_200.0
    #: patterns of graph names that are left out
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
        """Raise ``UsageError`` if seeds name an endpoint but none may be read."""
        named = next(filter(None, map(endpoint_of_seed, seeds)), "")
        if named and self.allowed == "never":
            raise UsageError(
                f"SEMCRAWL_ENDPOINTS is never: the SPARQL endpoint {named} is not read"
            )


class SitemapUse(StrEnum):
    """Whether links of sitemaps are followed."""

    AUTO = "auto"  #: besides the links of pages
    NEVER = "never"
    ONLY = "only"  #: instead of the links of pages

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the setting; raise ``UsageError`` for any other word."""
        try:
            return cls(text.strip().lower())
        except ValueError:
            known = ", ".join(cls)
            raise UsageError(f"SEMCRAWL_SITEMAPS must be one of {known}, not {text!r}") from None


@dataclass(frozen=True, slots=True)
class SitemapRules:
    """Whether sitemaps are used, and how much of them is read."""

    use: SitemapUse = SitemapUse.AUTO
    limits: SitemapLimits = field(default_factory=SitemapLimits)
    #: most sitemaps of a host
    most: int = 1000

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        return cls(
            SitemapUse.parse(settings.get("SEMCRAWL_SITEMAPS") or "auto"),
            SitemapLimits(
                bytes=settings.getint("SEMCRAWL_SITEMAP_MAX_SIZE"),
                entries=settings.getint("SEMCRAWL_SITEMAP_MAX_ENTRIES"),
            ),
            settings.getint("SEMCRAWL_MAX_SITEMAPS_OF_HOST"),
        )
