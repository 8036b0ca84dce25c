"""Reads the XML of sitemaps from the events of lxml's parser, without a tree.

``scrapy.utils.sitemap`` needs the whole file in memory and a tree of every entry, ignores a DOCTYPE
and supports neither feeds nor semantic sitemaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.entities import html5
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
from semcrawl.web.mediatypes import media_type

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
#: beginnings of parts in which nothing is a reference, their ends, and an ampersand
_CDATA_END = "]]>"
_ENDS = {"<![CDATA[": _CDATA_END, "<!--": "-->", "<?": "?>"}
_MARK = re.compile("|".join(map(re.escape, (*_ENDS, "&"))))
_REFERENCE = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")
#: characters of the longest reference
_LONGEST_REFERENCE = 36
#: elements of a record with an address; all names are compared in lower case
_ADDRESSES = {
    "loc": EntryKind.URL,
    "datadumplocation": EntryKind.DUMP,
    "sampleuri": EntryKind.SAMPLE,
    "sparqlendpointlocation": EntryKind.ENDPOINT,
}
#: relations of a feed's entry to documents that are like it, and to its file
_FEED_LINKS = frozenset({"alternate", "enclosure", "describedby", "related"})
#: relations of a document of ResourceSync to its other forms and to its metadata
_SYNC_LINKS = frozenset({"alternate", "describedby"})
_DATES = frozenset({"lastmod", "pubdate", "updated", "modified", "published", "date"})


def read_xml(
    texts: Iterator[str], found: SitemapFile, limits: SitemapLimits, *, expected: bool
) -> None:
    """Read a sitemap from pieces of its text; faults are recorded."""
    parser = _parser(_Target(found, limits, expected=expected))
    fed = 0
    try:
        for piece in repaired(texts):
            parser.feed(piece.encode("utf-8", "replace"))
            fed += len(piece)
            if not found.form and fed > _PROLOGUE:
                found.faults.append("no element begins where one should")
                return
        parser.close()
    except etree.XMLSyntaxError as error:
        found.faults.append(f"broken XML: {str(error)[:100]}")


def repaired(texts: Iterable[str]) -> Iterator[str]:
    """Write every reference of a text as a number, and CDATA as plain text.

    An ampersand that begins no reference stands for itself, and HTML's names mean what they mean
    in pages. The parser, which goes on after errors, drops all but numbers. Nothing in comments
    and instructions is a reference. XML declarations go, as the text is decoded.
    """
    rest, end = "", ""
    for piece in chain(texts, ("",)):
        text, at, pieces = rest + piece, 0, []
        while True:
            if end:  # inside of a part that ends with this mark
                stop = text.find(end, at)
                inside = text[at:stop] if stop >= 0 else text[at : _cut(text, at, end, piece)]
                pieces.append(_escaped(inside) if end == _CDATA_END else "")
                at += len(inside)
                if stop < 0:
                    break
                at, end = stop + len(end), ""
            mark = _MARK.search(text, at)
            if mark is None:
                stop = _cut(text, at, "", piece)
                pieces.append(text[at:stop])
                at = stop
                break
            pieces.append(text[at : mark.start()])
            at = mark.start()
            if mark[0] == "&":
                if piece and len(text) - at < _LONGEST_REFERENCE and ";" not in text[at:]:
                    break  # the rest of it may follow
                reference = _REFERENCE.match(text, at)
                pieces.append(_number(reference[1]) if reference else "&#38;")
                at = reference.end() if reference else at + 1
            else:
                at, end = mark.end(), _ENDS[mark[0]]
        rest = text[at:]
        if out := "".join(pieces):
            yield out


def _cut(text: str, at: int, end: str, more: str) -> int:
    """Return the place up to which a text surely has no mark; one may be cut off at its end."""
    if not more:
        return len(text)
    if end:
        return max(at, len(text) - len(end) + 1)
    last = text.rfind("<", max(at, len(text) - len("<![CDATA[") + 1))
    return len(text) if last < 0 else last


def _escaped(text: str) -> str:
    return text.replace("&", "&#38;").replace("<", "&#60;")


def _number(reference: str) -> str:
    """Return a reference by number: what a name means in pages; a number stays."""
    if reference.startswith("#"):
        return f"&{reference};"
    characters = html5.get(reference + ";", "")
    return "".join(f"&#{ord(character)};" for character in characters) or f"&#38;{reference};"


def _parser(target: _Target) -> Any:
    return etree.XMLParser(
        target=target,
        encoding="utf-8",
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
        #: whether the record is another sitemap, or of a document that is gone, and its type
        self._is_sitemap = self._is_gone = False
        self._type = ""

    def doctype(self, *_: Any) -> None:
        """Refuse the file: no sitemap has a DOCTYPE, whose entities may be a bomb."""
        self._found.faults.append("it declares a document type (DOCTYPE) and is not read")
        self._found.form = ""
        raise StopReading

    def start(self, tag: str, attributes: Any) -> None:
        """Begin an element."""
        self._depth += 1
        # a prefix that is not declared stays in the name
        name = tag.rpartition("}")[2].rpartition(":")[2].lower()
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
                self._is_sitemap, self._is_gone, self._type = name == "sitemap", False, ""
            elif name == "link" and self._found.form == "feed":
                self._add_next(attributes)
        elif self._depth == self._record + 1:
            self._name, self._text, self._length = name, [], 0
            if name in ("link", "ln", "enclosure"):
                self._add_link(name, attributes)
            elif name == "md":
                self._note_metadata(attributes)

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

    def _add_link(self, name: str, attributes: Any) -> None:
        """Add an ``xhtml:link`` of a page, a ``link`` of Atom, a file of RSS, or ResourceSync's."""
        href = attributes.get("url" if name == "enclosure" else "href", "").strip()[:_LONGEST]
        relation = attributes.get("rel", "alternate").strip().lower()
        if not href:
            return
        media = media_type(attributes.get("type", "")[:80])
        if self._found.form == "feed":
            if relation in _FEED_LINKS:
                self._addresses.append(Entry(href, type=media))
        elif name == "link" or (name == "ln" and relation in _SYNC_LINKS):
            self._addresses.append(Entry(href, EntryKind.ALTERNATE, type=media))

    def _add_next(self, attributes: Any) -> None:
        """Add the next page of a feed (RFC 5005), which RSS names by a ``link`` of Atom."""
        href = attributes.get("href", "").strip()[:_LONGEST]
        if href and attributes.get("rel", "").strip().lower() in ("next", "prev-archive"):
            add_entry(self._found, Entry(href, EntryKind.NEXT), self._limits)

    def _note_metadata(self, attributes: Any) -> None:
        """Note what ResourceSync says about a document: its type, or that it is a list, or gone."""
        self._is_sitemap = self._is_sitemap or "capability" in attributes
        self._is_gone = attributes.get("change", "") == "deleted"
        self._type = media_type(attributes.get("type", "")[:80])

    def _add_text(self, name: str, text: str) -> None:
        if name in _ADDRESSES:
            self._addresses.append(Entry(text, _ADDRESSES[name]))
        elif name == "link" and self._found.form == "feed":
            self._addresses.append(Entry(text))
        else:
            self._facts.setdefault(name, text)

    def _add_record(self) -> None:
        facts = self._facts
        if self._is_gone:
            return
        date = next((facts[name] for name in facts if name in _DATES), "")
        for entry in self._addresses:
            if entry.kind is EntryKind.URL:
                entry.kind = EntryKind.SITEMAP if self._is_sitemap else entry.kind
                entry.type = entry.type or self._type
            entry.modified = seconds_of(date)
            entry.latest = latest_of(facts.get("lastmod", ""))
            entry.priority = priority_of(facts.get("priority", ""))
            entry.changes = facts.get("changefreq", "").lower()[:10]
            entry.title = facts.get("datasetlabel", facts.get("title", ""))[:200]
            add_entry(self._found, entry, self._limits)
