"""Turns entries of sitemaps into links, reads their dates, and finds sitemaps in robots.txt."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from urllib.parse import urlsplit

from semcrawl.links import Link
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
_MOST = 1000
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
    return list(dict.fromkeys(found))[:_MOST]
