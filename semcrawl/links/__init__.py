"""Links: what a page says about a URL before it is fetched, and how it is read out of pages."""

from semcrawl.links.extraction import ExtractionOptions, extract_links
from semcrawl.links.headers import header_links, header_text, metadata_links, refresh_target
from semcrawl.links.merging import merge_links
from semcrawl.links.model import Link, Page
from semcrawl.web.vocabulary import FoundBy

__all__ = [
    "ExtractionOptions",
    "FoundBy",
    "Link",
    "Page",
    "extract_links",
    "header_links",
    "header_text",
    "merge_links",
    "metadata_links",
    "refresh_target",
]
