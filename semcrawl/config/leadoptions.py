"""Options of ways to data besides links: catalogues, SPARQL endpoints, sitemaps and others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from semcrawl.config.values import Values
from semcrawl.errors import UsageError
from semcrawl.sources import SitemapLimits
from semcrawl.sources.endpointsteps import endpoint_of_seed
from semcrawl.sources.forms import FormTable


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
    #: what search forms are filled with
    forms: FormTable = field(default_factory=FormTable)

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
        values = Values(settings)
        names = [name.strip("/") for name in values.words("SEMCRAWL_WELL_KNOWN")]
        for name in names:
            if not all(c.isalnum() or c in "-_.~/" for c in name):
                raise UsageError(f"SEMCRAWL_WELL_KNOWN: invalid name below /.well-known/: {name!r}")
        return cls(
            catalogues=values.switch("SEMCRAWL_CATALOGUES"),
            most_pages=values.whole("SEMCRAWL_MAX_CATALOGUE_PAGES"),
            most_bytes=values.whole("SEMCRAWL_CATALOGUE_MAX_SIZE"),
            signposts=values.switch("SEMCRAWL_SIGNPOSTING"),
            negotiation=values.text("SEMCRAWL_NEGOTIATION") != "never",
            tries=values.whole("SEMCRAWL_NEGOTIATION_TRIES"),
            well_known=tuple(filter(None, names)),
            forms=form_table(values),
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
            "SEMCRAWL_FORMS": self.forms.values,
            "SEMCRAWL_FORM_REQUESTS": self.forms.most,
        }


def form_table(settings: Mapping[str, Any]) -> FormTable:
    """Read ``SEMCRAWL_FORMS``, a mapping or JSON of one; raise ``UsageError`` for others."""
    name = "SEMCRAWL_FORMS"
    given = settings.get(name) or {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = None
    if not isinstance(given, Mapping):
        raise UsageError(f'{name} must be labels with values, such as {{"search": ["water"]}}')
    values: dict[str, list[str]] = {}
    for label, some in given.items():
        several = [some] if isinstance(some, str) else some
        if not (isinstance(several, Sequence) and all(isinstance(v, str) for v in several)):
            raise UsageError(f"{name}: the values of {label!r} must be texts")
        values[" ".join(str(label).casefold().split())] = list(several)
    return FormTable(values, Values(settings).whole("SEMCRAWL_FORM_REQUESTS"))


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
        values = Values(settings)
        return cls(
            allowed=values.text("SEMCRAWL_ENDPOINTS") or "never",
            page=values.whole("SEMCRAWL_ENDPOINT_PAGE"),
            most=values.whole("SEMCRAWL_ENDPOINT_TRIPLES"),
            timeout=values.number("SEMCRAWL_ENDPOINT_TIMEOUT"),
            seconds=values.number("SEMCRAWL_ENDPOINT_TIME"),
            skipped=tuple(values.words("SEMCRAWL_ENDPOINT_SKIP_GRAPHS")),
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
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        values = Values(settings)
        return cls(
            SitemapUse.parse(values.text("SEMCRAWL_SITEMAPS")),
            SitemapLimits(
                bytes=values.whole("SEMCRAWL_SITEMAP_MAX_SIZE"),
                entries=values.whole("SEMCRAWL_SITEMAP_MAX_ENTRIES"),
            ),
            values.whole("SEMCRAWL_MAX_SITEMAPS_OF_HOST"),
        )
