"""Sitemaps: found, read within bounds, sorted into lists of links, with dates of change.

Reads the XML of sitemaps from the events of lxml's parser, without a tree.

``scrapy.utils.sitemap`` needs the whole file in memory and a tree of every entry, ignores a DOCTYPE
and supports neither feeds nor semantic sitemaps.

Decides by the ``lastmod`` of sitemaps which pages a re-visit can skip.
A page last visited after its ``lastmod`` (sitemaps.org, protocol 0.9) need not be fetched again.
But many sites write the time at which the sitemap was made, or the same date forever. So the first
page of a host that its sitemap calls unchanged is fetched nevertheless, and a share of the others.
Once one has changed, the host's sitemaps are no longer trusted.
"""

from __future__ import annotations

import math
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, StrEnum, auto
from hashlib import blake2b
from html.entities import html5
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from lxml import etree

from semcrawl.links import Link
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import Form, find_encoding
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, resolve
from semcrawl.web.vocabulary import FoundBy


class EntryKind(StrEnum):
    """What an entry of a sitemap is."""

    URL = "url"  #: a page
    ALTERNATE = "alternate"  #: another form of a page (``xhtml:link``)
    SITEMAP = "sitemap"  #: another sitemap
    DUMP = "dump"  #: a data set as a file (``sc:dataDumpLocation``)
    SAMPLE = "sample"  #: a resource of a data set (``sc:sampleURI``)
    ENDPOINT = "endpoint"  #: ``sc:sparqlEndpointLocation``
    NEXT = "next"  #: the next page of a feed


@dataclass(slots=True)
class Entry:
    """One address in a sitemap, with what the sitemap tells about it."""

    address: str
    kind: EntryKind = EntryKind.URL
    #: seconds since the epoch, UTC; 0 if not given
    modified: int = 0
    #: the latest time that this date may mean: the end of a day without a time
    latest: int = 0
    #: 0 to 1; negative if not given
    priority: float = -1.0
    changes: str = ""
    #: media type, and name of the data set
    type: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """How much is read of a sitemap."""

    #: unpacked bytes
    bytes: int = 100 * 1024 * 1024
    #: entries
    entries: int = 100_000


@dataclass(slots=True)
class SitemapFile:
    """What was read from a sitemap."""

    #: ``urlset``, ``index``, ``feed`` or ``text``; empty: it is no sitemap
    form: str = ""
    entries: list[Entry] = field(default_factory=list)
    #: messages on errors and oddities
    faults: list[str] = field(default_factory=list)


class StopReading(Exception):  # noqa: N818 - no error
    """Ends the reading of a sitemap."""


def add_entry(found: SitemapFile, entry: Entry, limits: SitemapLimits) -> None:
    """Add an entry; raise ``StopReading`` if the sitemap is full."""
    if len(found.entries) >= limits.entries:
        found.faults.append(f"it has more than {limits.entries:,} entries; the rest is not read")
        raise StopReading
    found.entries.append(entry)


def seconds_of(date: str) -> int:
    """Return a W3C or RFC 5322 date as seconds since the epoch; 0 for anything else."""
    date = date[:40]
    if date.isascii() and date.isdigit() and len(date) == 4:
        date += "-01-01"
    elif re.fullmatch(r"\d{4}-\d\d", date):
        date += "-01"
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        try:
            moment = parsedate_to_datetime(date)
        except (ValueError, TypeError, IndexError):
            return 0
    try:
        return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))
    except (OverflowError, ValueError, OSError):
        return 0


def latest_of(date: str) -> int:
    """Return the latest time that a date may mean, as seconds since the epoch; 0 for none.

    That is the end of a day, of a month of 31 days, or of a year of 366 days.
    """
    begin = seconds_of(date)
    for form, days in ((r"\d{4}", 366), (r"\d{4}-\d\d", 31), (r"\d{4}-\d\d-\d\d", 1)):
        if begin and re.fullmatch(form, date):
            return begin + days * 86_400
    return begin


def priority_of(text: str) -> float:
    """Return a priority from 0 to 1; a negative number for anything else."""
    try:
        number = float(text)
    except ValueError:
        return -1.0
    return number if 0.0 <= number <= 1.0 else -1.0


#: most sitemaps of one robots.txt
_MOST_NAMED = 1000
_LINE = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.I | re.M)

#: ``Link.element`` of an entry, and ``Link.rel`` of a sitemap in an index
ELEMENT, SITEMAP = "sitemap", "sitemap"
_NAME = re.compile(r"sitemap[^/]*\.(?:xml|txt|rss|atom)(?:\.gz)?\Z", re.I)
#: kinds of entries that are relations of links
_RELATIONS = (EntryKind.SITEMAP, EntryKind.ALTERNATE, EntryKind.NEXT)
#: root element of a sitemap, and bytes of a body in which it is looked for
_ROOT, _HEAD = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>/]"), 2048
#: kinds of entries that may be on another host
_ANYWHERE = (EntryKind.DUMP, EntryKind.ENDPOINT)
#: bounds of the age groups of entries, in days
_AGES = (7, 30, 90, 365, 1500)


def is_sitemap_name(url: str) -> bool:
    """Whether an address has a usual name of a sitemap."""
    return bool(_NAME.search(urlsplit(url).path))


def has_sitemap_root(head: bytes) -> bool:
    """Whether a body begins with the root element of a sitemap."""
    return bool(_ROOT.search(head[:_HEAD]))


def links_of(
    entries: Iterable[Entry],
    sitemap: str,
    may_list: Callable[[str], bool],
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    now: float | None = None,
    latest: dict[str, int] | None = None,
) -> tuple[list[Link], dict[str, int]]:
    """Return the links of a sitemap's entries, each address once, and counts of bad entries.

    ``may_list`` decides whether the sitemap may list an address. Dumps and endpoints of data sets
    may be anywhere; the crawl's scope judges them like any link off the site. Relative addresses
    are resolved against the sitemap. ``latest`` receives the latest times at which addresses may
    have changed.
    """
    now = time.time() if now is None else now
    links: dict[str, Link] = {}
    faults = dict.fromkeys(("relative", "no address", "of other hosts"), 0)
    for entry in entries:
        faults["relative"] += "://" not in entry.address[:12]
        url = as_reached(sitemap, resolve(sitemap, entry.address, normalisation))
        if url is None:
            faults["no address"] += 1
        elif entry.kind not in _ANYWHERE and not may_list(url):
            faults["of other hosts"] += 1
        elif url not in links and url != sitemap:
            links[url] = _link(entry, url, now)
            if latest is not None and entry.latest:
                latest[url] = entry.latest
    return list(links.values()), {name: n for name, n in faults.items() if n}


def as_reached(sitemap: str, url: str | None) -> str | None:
    """Return an address of the sitemap's own site with the sitemap's scheme and host.

    The site answers there. With the ``https`` or ``www.`` that some sitemaps write instead, each
    page would be fetched twice.
    """
    if url is None:
        return None
    scheme, _, rest = url.partition("://")
    own_scheme, _, own_rest = sitemap.partition("://")
    host, own_host = rest.partition("/")[0], own_rest.partition("/")[0]
    if host.removeprefix("www.") != own_host.removeprefix("www."):
        return url
    return (
        url
        if (scheme, host) == (own_scheme, own_host)
        else f"{own_scheme}://{own_host}{rest[len(host) :]}"
    )


def _link(entry: Entry, url: str, now: float) -> Link:
    kind = entry.kind
    title = entry.title
    if kind is EntryKind.DUMP:
        title = f"{title} (RDF dump)".strip()
    rel = str(kind) if kind in _RELATIONS else ""
    return Link(
        url,
        element=ELEMENT,
        title=title,
        type=entry.type,
        rel=rel,
        tag_path=f"sitemap/{kind}",
        cues=" ".join(_cues(entry, now)),
        index=dropped_index(entry.address) if url[-1] == "/" else "",
        found_by=FoundBy.SITEMAP,
    )


def _cues(entry: Entry, now: float) -> list[str]:
    """Return age, priority and change frequency of an entry as coarse words."""
    cues = []
    if entry.modified:
        days = (now - entry.modified) / 86_400
        age = next((f"{most}-days" for most in _AGES if days <= most), "old")
        cues.append(f"modified:{age}")
    if entry.priority >= 0:
        cues.append(f"priority:{entry.priority:.1f}")
    if entry.changes:
        cues.append(f"changes:{entry.changes}")
    return cues


def named_sitemaps(robots: bytes) -> list[str]:
    """Return the addresses in the ``Sitemap:`` lines as written, each once.

    Scrapy's ``sitemap_urls_from_robots`` does the same, but this package may not import Scrapy.
    """
    text = robots.replace(b"\r", b"\n")
    found = (match[1].decode("utf-8", "replace")[:4096] for match in _LINE.finditer(text))
    return list(dict.fromkeys(found))[:_MOST_NAMED]


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


_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
_BEGINS_XML = re.compile(r"\s*<")
#: where a sitemap begins behind something else, such as a program's warnings
_BEGINS_SITEMAP = re.compile(r"<\?xml\s|<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]", re.I)
_LINE_END = re.compile(r"[\r\n]+")


def read_sitemap(
    body: Iterable[bytes], limits: SitemapLimits | None = None, *, expected: bool = True
) -> SitemapFile:
    """Read a sitemap, gzipped or not, from pieces. Never raises because of the content.

    If no sitemap is ``expected``, only the root elements of sitemaps.org make it one: a feed or a
    list of addresses may be something else.
    """
    limits, found = limits or SitemapLimits(), SitemapFile()
    pieces = _bounded(_unpacked(_in_pieces(body), found), limits.bytes, found)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= 1024:
            break
    try:
        texts = _decoded(head, pieces)
        begin = next(texts, "")
        if expected and (at := _BEGINS_SITEMAP.search(begin)):
            begin = begin[at.start() :]
        texts = chain((begin.lstrip("\ufeff \t\r\n"),), texts)
        if _BEGINS_XML.match(begin):
            read_xml(texts, found, limits, expected=expected)
        elif expected:
            _read_text(texts, found, limits)
    except StopReading:
        pass
    return found


# -- bytes
def _in_pieces(body: Iterable[bytes]) -> Iterator[bytes]:
    for piece in body:
        for start in range(0, len(piece), _CHUNK):
            yield piece[start : start + _CHUNK]


def _unpacked(pieces: Iterator[bytes], found: SitemapFile) -> Iterator[bytes]:
    """Undo gzip once."""
    first = next(pieces, b"")
    while len(first) < len(_GZIP) and (more := next(pieces, b"")):
        first += more
    if not first.startswith(_GZIP):
        yield first
        yield from pieces
        return
    unpacker = zlib.decompressobj(wbits=31)
    waiting = first
    try:
        while True:
            if plain := unpacker.decompress(waiting, _CHUNK):
                yield plain
            waiting = unpacker.unconsumed_tail
            if unpacker.eof or not (waiting or (waiting := next(pieces, b""))):
                break
    except zlib.error:
        found.faults.append("its compression is broken")
        return
    if not unpacker.eof:
        found.faults.append("it is cut off")


def _bounded(pieces: Iterator[bytes], limit: int, found: SitemapFile) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            found.faults.append(f"it has more than {limit:,} bytes; the rest is not read")
            return
        yield piece


def _decoded(head: bytes, pieces: Iterator[bytes]) -> Iterator[str]:
    """Decode a sitemap; its beginning shows the encoding."""
    encoding = find_encoding(head, None, Form.XML)
    decoder = encoding.charset.decoder()
    yield decoder.decode(head[encoding.bom :], False)
    for piece in pieces:
        yield decoder.decode(piece, False)
    yield decoder.decode(b"", True)


# -- text
def _read_text(texts: Iterator[str], found: SitemapFile, limits: SitemapLimits) -> None:
    """Read a list of addresses, one per line."""
    rest, odd = "", 0
    for piece in texts:
        lines = _LINE_END.split(rest + piece)
        rest = lines.pop()[:_LONGEST]
        for line in lines:
            odd += _add_line(line, found, limits)
            if odd > 100 and not found.entries:
                raise StopReading
    _add_line(rest, found, limits)
    if found.entries:
        found.form = "text"


def _add_line(line: str, found: SitemapFile, limits: SitemapLimits) -> bool:
    """Add the address in a line; return whether the line holds anything else."""
    text = line.strip()
    if not text.lower().startswith(("http://", "https://")):
        return bool(text)
    add_entry(found, Entry(text[:_LONGEST]), limits)
    return False


#: seconds between the change and the last visit, at least: for times without a zone, wrong clocks
#: and stale caches
_MARGIN = 86_400
#: addresses with dates, and untrusted hosts, at most
_MOST_DATES, MOST_LIARS = 1_000_000, 10_000


class Advice(Enum):
    """What to do with a page that is due again."""

    ASK = auto()  #: fetch it: it may have changed
    CHECK = auto()  #: fetch it, to check the sitemap that calls it unchanged
    SKIP = auto()  #: skip it: a trusted sitemap calls it unchanged


class Lastmods:
    """The dates in sitemaps, and the hosts whose dates proved wrong."""

    def __init__(self, share: float, liars: Iterable[str] = ()) -> None:
        """Check a ``share`` (0 to 1) of the pages called unchanged; 0: none."""
        self._share = share
        #: digest of an address → the latest moment at which it may have changed
        self._latest: dict[bytes, int] = {}
        #: pages of a host that its sitemaps called unchanged
        self._unchanged: Counter[str] = Counter()
        #: hosts whose sitemaps called a changed page unchanged
        self.liars = dict.fromkeys(liars)

    def note(self, latest: Mapping[str, int]) -> None:
        """Add addresses with the latest times at which they may have changed.

        Times are those of :func:`~semcrawl.sources.sitemaps.latest_of`. The later one of two
        sitemaps counts. Addresses beyond a million are ignored, and their pages fetched.
        """
        self.note_keys(keyed(latest))

    def note_keys(self, dates: Iterable[tuple[bytes, int]]) -> None:
        """Add digests of addresses with times, as :func:`keyed` yields them."""
        for key, moment in dates:
            if key in self._latest or len(self._latest) < _MOST_DATES:
                self._latest[key] = max(moment, self._latest.get(key, 0))

    def advise(self, url: str, host: str, visited: float) -> Advice:
        """Decide about a page last visited at the time ``visited``; 0: it was not there."""
        moment = self._latest.get(_key(url))
        if not visited or moment is None or moment + _MARGIN > visited or host in self.liars:
            return Advice.ASK
        before = self._unchanged[host]
        self._unchanged[host] += 1
        # one of every 1/share pages, the first among them
        due = math.floor(before * self._share) > math.floor((before - 1) * self._share)
        return Advice.CHECK if self._share and due else Advice.SKIP

    def disbelieve(self, host: str) -> bool:
        """Stop trusting a host's sitemaps; return whether that is new."""
        if host in self.liars or len(self.liars) >= MOST_LIARS:
            return False
        self.liars[host] = None
        return True


def keyed(latest: Mapping[str, int]) -> Iterator[tuple[bytes, int]]:
    """Yield digests of addresses with their times."""
    return ((_key(url), moment) for url, moment in latest.items())


def _key(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()
