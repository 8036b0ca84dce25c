"""How a crawl uses sitemaps, as the settings say."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from semcrawl.errors import UsageError
from semcrawl.sources import SitemapLimits

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class SitemapUse(StrEnum):
    """Whether links of sitemaps are followed."""

    AUTO = "auto"  #: beside the links of pages
    NEVER = "never"
    ONLY = "only"  #: and no others

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
    """How sitemaps are used, and how much of them."""

    use: SitemapUse = SitemapUse.AUTO
    limits: SitemapLimits = field(default_factory=SitemapLimits)
    #: sitemaps of a host that are read
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
