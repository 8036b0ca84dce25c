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
from semcrawl.sources.sitemapfile import read_sitemap
from semcrawl.sources.sitemaplinks import ELEMENT as SITEMAP_ELEMENT
from semcrawl.sources.sitemaplinks import (
    Entry,
    EntryKind,
    SitemapFile,
    SitemapLimits,
    is_sitemap_name,
    links_of,
    named_sitemaps,
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
    "cataloguepages",
    "datalists",
    "endpointanswers",
    "endpointpaging",
    "endpointsteps",
    "endpointwalk",
    "hostsigns",
    "in_turns",
    "is_sitemap_name",
    "jsoncatalogue",
    "links_of",
    "listedlinks",
    "named_sitemaps",
    "negotiation",
    "read_sitemap",
    "searching",
    "seedlists",
    "turn",
]
