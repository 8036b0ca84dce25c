"""Which ways to data a crawl goes besides links, as the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from semcrawl.config.switches import read_switch
from semcrawl.errors import UsageError


@dataclass(frozen=True, slots=True)
class LeadOptions:
    """Which ways to data are gone, besides links."""

    catalogues: bool = True
    #: pages of one catalogue that are followed, and bytes of one of its lists
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
        """Whether any page is asked for again, as RDF."""
        return self.negotiation and self.tries > 0

    def reads(self, form: str) -> bool:
        """Whether lists of a form are read; ``form``: as ``form_of`` says, empty for no list."""
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
                raise UsageError(f"SEMCRAWL_WELL_KNOWN: {name!r} is no name below /.well-known/")

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
