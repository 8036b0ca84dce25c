"""Recognises lists of addresses and reads their links.

They are linksets, feeds (RSS and Atom), CKAN, ``data.json`` and OAI-PMH.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from semcrawl.links import header_links
from semcrawl.links.texts import fold
from semcrawl.sources._oaipmh import is_oaipmh, oaipmh_links
from semcrawl.sources.jsoncatalogue import ckan_links, data_json_links
from semcrawl.sources.listedlinks import NEXT, DataList, LinkCollector
from semcrawl.sources.sitemapfile import read_sitemap
from semcrawl.sources.sitemaplinks import EntryKind
from semcrawl.web.charsets import to_utf8
from semcrawl.web.mediatypes import media_type
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation
from semcrawl.web.vocabulary import FoundBy

#: media types of linksets
JSON_TYPE, TEXT_TYPE = "application/linkset+json", "application/linkset"
#: ``Link.element`` of a linkset's links
_ELEMENT = "linkset"
#: links read per context and relation
_MOST_TARGETS = 100_000

#: first bytes, which show that a body is a list
_HEAD = 4096
_LINKSET = re.compile(rb'\A\s*\{\s*"linkset"\s*:')
#: the root of a feed, behind declarations and comments; one of HTML is none. Nothing is matched in
#: two ways, as a page may begin with any number of comments
_FEED = re.compile(rb"(?:<\?[^>]*>|(?><!--.*?-->)|\s)*+<(?:[\w.-]+:)?(?:rss|feed)[\s>]", re.S)
_CKAN = re.compile(rb'"(?:success|help)"\s*:\s*(?:true|"[^"]*(?:package_|/action/))')
_DATA_JSON = re.compile(rb'"(?:dataset|conformsTo)"\s*:\s*(?:\[|"https://project-open-data)')


def form_of(head: bytes, content_type: str) -> str:
    """Return the form of the list that begins with ``head``: ``linkset``, ``ckan`` …, or empty."""
    media = media_type(content_type)
    if media == TEXT_TYPE:
        return "linkset-text"
    head = head[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"{":
        if media == JSON_TYPE or _LINKSET.match(head):
            return "linkset"
        if _CKAN.search(head):
            return "ckan"
        return "data.json" if _DATA_JSON.search(head) else ""
    if head[:1] != b"<":
        return ""
    return "oai-pmh" if is_oaipmh(head) else "feed" if _FEED.match(head) else ""


def read_list(
    body: bytes,
    form: str,
    url: str,
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    limit: int = 10_000,
) -> DataList:
    """Read a list of a form that :func:`form_of` returned. Never raises because of the content."""
    into = LinkCollector(url, form.partition("-text")[0], normalisation, limit)
    if form == "oai-pmh":
        return oaipmh_links(body, url, into)
    if form == "feed":
        return _feed_links(body, into)
    if form == "linkset-text":
        return _text_linkset(body, url, into.found, normalisation, limit)
    try:
        data = json.loads(to_utf8(body).data)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        into.found.faults.append(f"broken JSON: {reason}"[:120])
        return into.found
    if not isinstance(data, dict):
        return into.found
    return _of_json(data, form, url, into)


def _feed_links(body: bytes, into: LinkCollector) -> DataList:
    """Read RSS or Atom: the documents of its entries, and its next page."""
    feed = read_sitemap([body])
    into.found.faults += feed.faults
    for entry in feed.entries:
        is_next = entry.kind is EntryKind.NEXT
        place, rel = (NEXT, NEXT) if is_next else ("entry", "")
        into.add(entry.address, place, type=entry.type, title=entry.title, rel=rel)
    return into.found


def _of_json(data: Mapping[str, Any], form: str, url: str, into: LinkCollector) -> DataList:
    if form == "linkset":
        return linkset_of_json(data, into)
    return ckan_links(data, url, into) if form == "ckan" else data_json_links(data, into)


def _text_linkset(
    body: bytes, url: str, found: DataList, normalisation: Normalisation, limit: int
) -> DataList:
    """Read a linkset written like a ``Link:`` header (RFC 9264, section 4.1)."""
    seen: set[str] = {url}
    text = " ".join(to_utf8(body).data.decode().split())
    for link in header_links(text, url, normalisation, longest=len(text)):
        if link.url in seen:
            continue
        if len(found.links) >= limit:
            found.faults.append(f"only the first {limit:,} links are kept")
            break
        seen.add(link.url)
        found.links.append(link)
    return found


def linkset_of_json(data: Mapping[str, Any], into: LinkCollector) -> DataList:
    """Read a linkset in JSON; skip and count invalid parts."""
    odd = 0
    contexts = data.get("linkset")
    for context in contexts if isinstance(contexts, list) else ():
        if not isinstance(context, dict):
            odd += 1
            continue
        for relation, targets in context.items():
            if relation == "anchor":
                continue
            for target in targets[:_MOST_TARGETS] if isinstance(targets, list) else ():
                if not isinstance(target, dict):
                    odd += 1
                    continue
                title = target.get("title") or _first_value(target.get("title*"))
                rel = fold(relation).lower()
                into.add(
                    target.get("href"),
                    rel.rpartition("/")[2],
                    type=target.get("type"),
                    title=title,
                    rel=rel,
                    element=_ELEMENT,
                    found_by=FoundBy.HEADER,
                )
    if odd:
        into.found.faults.append(f"{odd:,} parts of the linkset are not links")
    return into.found


def _first_value(titles: object) -> object:
    """Return the text of an internationalised title."""
    if isinstance(titles, list) and titles and isinstance(titles[0], dict):
        return titles[0].get("value")
    return ""
