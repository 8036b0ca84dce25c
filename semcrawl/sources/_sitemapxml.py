"""Reads the XML of sitemaps from the events of lxml's parser, without a tree.

``scrapy.utils.sitemap`` needs the whole file in memory and a tree of every entry, ignores a DOCTYPE
and supports neither feeds nor semantic sitemaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from lxml import etree

from semcrawl.sources.sitemaplinks import (
    Entry,
    EntryKind,
    SitemapFile,
    SitemapLimits,
    StopReading,
    add_entry,
    latest_of,
    priority_of,
    seconds_of,
)

#: most bytes before the first element
_PROLOGUE = 1 << 16
#: most characters kept of a text
_LONGEST = 4096
#: deepest nesting of elements
_DEEPEST = 50
#: root elements of sitemaps, and those of feeds
_SITEMAPS = {"urlset": "urlset", "sitemapindex": "index"}
_FEEDS = frozenset({"rss", "feed"})
_RECORDS = frozenset({"url", "sitemap", "dataset", "item", "entry"})
#: an ampersand, escaped or not: after an error the parser drops all but numeric references
_AMPERSAND = re.compile(rb"&(?:amp;|(?!#?\w{1,8};))")
_DECLARATION = re.compile(rb"\s*<\?xml[^>]*\?>")
#: elements of a record with an address
_ADDRESSES = {
    "loc": EntryKind.URL,
    "dataDumpLocation": EntryKind.DUMP,
    "sampleURI": EntryKind.SAMPLE,
    "sparqlEndpointLocation": EntryKind.ENDPOINT,
}
_DATES = frozenset({"lastmod", "pubDate", "updated", "modified", "published", "date"})


def read_xml(
    head: bytes,
    pieces: Iterator[bytes],
    found: SitemapFile,
    limits: SitemapLimits,
    *,
    expected: bool,
) -> None:
    """Read a sitemap that begins with ``head``; faults are recorded."""
    target = _Target(found, limits, expected=expected)
    parser = _parser(target)
    fed = 0
    whole = chain((head,), pieces)
    for piece in whole if b"\0" in head else _with_numeric_references(whole):
        try:
            parser.feed(piece)
        except (LookupError, etree.XMLSyntaxError) as error:
            if fed or not _DECLARATION.match(head):
                found.faults.append(f"broken XML: {str(error)[:100]}")
                return
            # its encoding is unknown
            parser = _parser(target)
            try:
                parser.feed(_DECLARATION.sub(b"", piece, count=1))
            except etree.XMLSyntaxError as again:
                found.faults.append(f"broken XML: {str(again)[:100]}")
                return
        fed += len(piece)
        if not found.form and fed > _PROLOGUE:
            found.faults.append("no element begins where one should")
            return
    try:
        parser.close()
    except etree.XMLSyntaxError as error:
        found.faults.append(f"broken XML: {str(error)[:100]}")


def _with_numeric_references(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Replace ampersands by numeric references, also across pieces."""
    rest = b""
    for piece in pieces:
        text = rest + piece
        last = text.rfind(b"&", max(0, len(text) - 10))
        text, rest = (text, b"") if last < 0 else (text[:last], text[last:])
        if text:
            yield _AMPERSAND.sub(b"&#38;", text)
    if rest:
        yield _AMPERSAND.sub(b"&#38;", rest)


def _parser(target: _Target) -> Any:
    return etree.XMLParser(
        target=target,
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        collect_ids=False,
    )


class _Target:
    """Handles the events of the parser."""

    def __init__(self, found: SitemapFile, limits: SitemapLimits, *, expected: bool) -> None:
        self._found = found
        self._limits = limits
        self._expected = expected
        self._depth = 0
        #: depth of the current record; 0 outside of records
        self._record = 0
        #: name of the record's current child element
        self._name = ""
        self._text: list[str] = []
        self._length = 0
        self._addresses: list[Entry] = []
        self._facts: dict[str, str] = {}

    def doctype(self, *_: Any) -> None:
        """Refuse the file: no sitemap has a DOCTYPE, whose entities may be a bomb."""
        self._found.faults.append("it declares a document type (DOCTYPE) and is not read")
        self._found.form = ""
        raise StopReading

    def start(self, tag: str, attributes: Any) -> None:
        """Begin an element."""
        self._depth += 1
        name = tag.rpartition("}")[2]
        if self._depth == 1:
            is_feed = name in _FEEDS and self._expected
            self._found.form = _SITEMAPS.get(name, "feed" if is_feed else "")
            if not self._found.form:
                raise StopReading
        elif self._depth > _DEEPEST:
            self._found.faults.append("its elements are nested too deep")
            raise StopReading
        elif not self._record:
            if name in _RECORDS:
                self._record, self._addresses, self._facts = self._depth, [], {}
                self._is_sitemap = name == "sitemap"
        elif self._depth == self._record + 1:
            self._name, self._text, self._length = name, [], 0
            if name == "link" and (href := attributes.get("href")):
                self._add_link(href, attributes)

    def data(self, text: str) -> None:
        """Collect the text of an element, or a part of it."""
        if self._name and self._depth == self._record + 1 and self._length < _LONGEST:
            self._text.append(text[:_LONGEST])
            self._length += len(text)

    def end(self, tag: str) -> None:
        """End an element."""
        if self._record and self._depth == self._record + 1:
            if text := "".join(self._text).strip()[:_LONGEST]:
                self._add_text(self._name, text)
            self._name = ""
        elif self._record and self._depth == self._record:
            self._record = 0
            self._add_record()
        self._depth -= 1

    def comment(self, text: str) -> None:
        """Ignore a comment."""

    def pi(self, *_: Any) -> None:
        """Ignore a processing instruction."""

    def close(self) -> None:
        """End the file."""

    def _add_link(self, href: str, attributes: Any) -> None:
        """Add an ``xhtml:link`` of a page, or a ``link`` of Atom."""
        if self._found.form == "feed":
            if attributes.get("rel", "alternate") == "alternate":
                self._addresses.append(Entry(href.strip()[:_LONGEST]))
        else:
            media = attributes.get("type", "")[:80].lower()
            self._addresses.append(Entry(href.strip()[:_LONGEST], EntryKind.ALTERNATE, type=media))

    def _add_text(self, name: str, text: str) -> None:
        if name in _ADDRESSES:
            kind = EntryKind.SITEMAP if self._is_sitemap else _ADDRESSES[name]
            self._addresses.append(Entry(text, kind))
        elif name == "link" and self._found.form == "feed":
            self._addresses.append(Entry(text))
        else:
            self._facts.setdefault(name, text)

    def _add_record(self) -> None:
        facts = self._facts
        date = next((facts[name] for name in facts if name in _DATES), "")
        for entry in self._addresses:
            entry.modified = seconds_of(date)
            entry.latest = latest_of(facts.get("lastmod", ""))
            entry.priority = priority_of(facts.get("priority", ""))
            entry.changes = facts.get("changefreq", "").lower()[:10]
            entry.title = facts.get("datasetLabel", "")[:200]
            add_entry(self._found, entry, self._limits)
