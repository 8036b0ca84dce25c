"""Sources of links besides pages: sitemaps, endpoints, catalogues, lists. None uses the network."""

from semcrawl.sources.listing import (
    CHUNK,
    GUESSED_AFTER,
    NAMED_AFTER,
    NEXT,
    Listing,
    Shelf,
    UntriedShapes,
    arrange,
    in_turns,
    turn,
)
from semcrawl.sources.sitemaps import ELEMENT as SITEMAP_ELEMENT
from semcrawl.sources.sitemaps import (
    Entry,
    EntryKind,
    SitemapFile,
    SitemapLimits,
    is_sitemap_name,
    links_of,
    named_sitemaps,
    read_sitemap,
)

__all__ = [
    "CHUNK",
    "GUESSED_AFTER",
    "NAMED_AFTER",
    "NEXT",
    "SITEMAP_ELEMENT",
    "Entry",
    "EntryKind",
    "Listing",
    "Shelf",
    "SitemapFile",
    "SitemapLimits",
    "UntriedShapes",
    "arrange",
    "catalogues",
    "endpoints",
    "in_turns",
    "is_sitemap_name",
    "links_of",
    "named_sitemaps",
    "negotiation",
    "read_sitemap",
    "seedlists",
    "turn",
]
