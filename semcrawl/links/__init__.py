"""Links: the evidence that a page gives about a URL before it is fetched, and its extraction."""

from semcrawl.links.extraction import (
    ExtractionOptions,
    PageReading,
    extract_links,
    folders_above,
    read_page,
)
from semcrawl.links.headers import (
    address_of,
    choices_header,
    context_links,
    header_links,
    header_text,
    json_ld_alternate,
    link_header,
    metadata_links,
    refresh_target,
)
from semcrawl.links.model import Link, Page, Reason, cut_off, merge_links
from semcrawl.links.pagetexts import PageText
from semcrawl.web.vocabulary import FoundBy

__all__ = [
    "ExtractionOptions",
    "FoundBy",
    "Link",
    "Page",
    "PageReading",
    "PageText",
    "Reason",
    "address_of",
    "choices_header",
    "context_links",
    "cut_off",
    "extract_links",
    "folders_above",
    "header_links",
    "header_text",
    "json_ld_alternate",
    "link_header",
    "merge_links",
    "metadata_links",
    "read_page",
    "refresh_target",
]
