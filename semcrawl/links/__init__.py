"""Links: the evidence that a page gives about a URL before it is fetched, and its extraction."""

from semcrawl.links.extraction import ExtractionOptions, PageReading, extract_links, read_page
from semcrawl.links.headers import header_links, header_text, metadata_links, refresh_target
from semcrawl.links.merging import merge_links
from semcrawl.links.model import Link, Page
from semcrawl.links.pagetext import PageText
from semcrawl.web.vocabulary import FoundBy

__all__ = [
    "ExtractionOptions",
    "FoundBy",
    "Link",
    "Page",
    "PageReading",
    "PageText",
    "extract_links",
    "header_links",
    "header_text",
    "merge_links",
    "metadata_links",
    "read_page",
    "refresh_target",
]
