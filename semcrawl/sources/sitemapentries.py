"""Entries of a sitemap: addresses, and when they changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum


class EntryKind(StrEnum):
    """The kind of a sitemap's entry."""

    URL = "url"  #: a page
    ALTERNATE = "alternate"  #: another form of a page (``xhtml:link``)
    SITEMAP = "sitemap"  #: another sitemap
    DUMP = "dump"  #: a data set as a file (``sc:dataDumpLocation``)
    SAMPLE = "sample"  #: a resource of a data set (``sc:sampleURI``)
    ENDPOINT = "endpoint"  #: ``sc:sparqlEndpointLocation``


@dataclass(slots=True)
class Entry:
    """One address as a sitemap lists it."""

    address: str
    kind: EntryKind = EntryKind.URL
    #: seconds since the epoch, UTC; 0 where it is not said
    modified: int = 0
    #: the latest moment that this date may mean: a day without a time lasts to its end
    latest: int = 0
    #: 0 to 1; negative where it is not said
    priority: float = -1.0
    changes: str = ""
    #: media type, and name of the data set
    type: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """How much of a sitemap is read."""

    #: bytes, unpacked
    bytes: int = 100 * 1024 * 1024
    #: entries
    entries: int = 100_000


@dataclass(slots=True)
class SitemapFile:
    """A sitemap that was read."""

    #: ``urlset``, ``index``, ``feed`` or ``text``; empty: it is no sitemap
    form: str = ""
    entries: list[Entry] = field(default_factory=list)
    #: what keeps it from being read to its end, and what is odd about it
    faults: list[str] = field(default_factory=list)


class StopReading(Exception):  # noqa: N818 - no error
    """Nothing more is to be read."""


def add_entry(found: SitemapFile, entry: Entry, limits: SitemapLimits) -> None:
    """Take an entry; raise ``StopReading`` when there are enough."""
    if len(found.entries) >= limits.entries:
        found.faults.append(f"it has more than {limits.entries:,} entries; the rest is not read")
        raise StopReading
    found.entries.append(entry)


def seconds_of(date: str) -> int:
    """Return a date of W3C's or of mail's form as seconds since the epoch; 0 for any other."""
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
    """Return the latest moment that a date may mean, as seconds since the epoch; 0 for none.

    A day lasts to its end, and so do a month and a year, in their longest form.
    """
    begin = seconds_of(date)
    for form, days in ((r"\d{4}", 366), (r"\d{4}-\d\d", 31), (r"\d{4}-\d\d-\d\d", 1)):
        if begin and re.fullmatch(form, date):
            return begin + days * 86_400
    return begin


def priority_of(text: str) -> float:
    """Return a priority from 0 to 1; a negative number where there is none."""
    try:
        number = float(text)
    except ValueError:
        return -1.0
    return number if 0.0 <= number <= 1.0 else -1.0
