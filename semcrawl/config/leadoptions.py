"""Which ways to data a crawl goes besides links, as the settings say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

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

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        names = [name.strip().strip("/") for name in settings.getlist("SEMCRAWL_WELL_KNOWN")]
        for name in names:
            if name and not all(c.isalnum() or c in "-_.~/" for c in name):
                raise UsageError(f"SEMCRAWL_WELL_KNOWN: {name!r} is no name below /.well-known/")
        return cls(
            settings.getbool("SEMCRAWL_CATALOGUES"),
            settings.getint("SEMCRAWL_MAX_CATALOGUE_PAGES"),
            settings.getint("SEMCRAWL_CATALOGUE_MAX_SIZE"),
            settings.getbool("SEMCRAWL_SIGNPOSTING"),
            settings.get("SEMCRAWL_NEGOTIATION") != "never",
            settings.getint("SEMCRAWL_NEGOTIATION_TRIES"),
            tuple(name for name in names if name),
        )
