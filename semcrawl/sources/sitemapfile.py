"""Reads sitemap files: sitemaps.org's XML, semantic sitemaps, RSS and Atom, plain text."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from semcrawl.sources._sitemapxml import read_xml
from semcrawl.sources.sitemaplinks import (
    Entry,
    SitemapFile,
    SitemapLimits,
    StopReading,
    add_entry,
)

_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
#: most characters of an address
_LONGEST = 4096
_BEGINS_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\x00|\xfe\xff\x00<")


def read_sitemap(
    body: Iterable[bytes], limits: SitemapLimits | None = None, *, expected: bool = True
) -> SitemapFile:
    """Read a sitemap, gzipped or not, from pieces. Never raises because of the content.

    If no sitemap is ``expected``, only the root elements of sitemaps.org make it one: a feed or a
    list of addresses may be something else.
    """
    limits, found = limits or SitemapLimits(), SitemapFile()
    pieces = _bounded(_unpacked(_cut(body), found), limits.bytes, found)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= 1024:
            break
    try:
        if _BEGINS_XML.match(head):
            read_xml(head, pieces, found, limits, expected=expected)
        elif expected:
            _read_text(head, pieces, found, limits)
    except StopReading:
        pass
    return found


# -- bytes
def _cut(body: Iterable[bytes]) -> Iterator[bytes]:
    for piece in body:
        for start in range(0, len(piece), _CHUNK):
            yield piece[start : start + _CHUNK]


def _unpacked(pieces: Iterator[bytes], found: SitemapFile) -> Iterator[bytes]:
    """Undo gzip once."""
    first = next(pieces, b"")
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


# -- text
def _read_text(
    head: bytes, pieces: Iterator[bytes], found: SitemapFile, limits: SitemapLimits
) -> None:
    """Read a list of addresses, one per line."""
    rest, odd = b"", 0
    for piece in chain((head,), pieces):
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()[: 4 * _LONGEST]
        for line in lines:
            odd += _add_line(line, found, limits)
            if odd > 100 and not found.entries:
                raise StopReading
    _add_line(rest, found, limits)
    if found.entries:
        found.form = "text"


def _add_line(line: bytes, found: SitemapFile, limits: SitemapLimits) -> bool:
    """Add the address in a line; return whether the line holds anything else."""
    text = line.decode("utf-8-sig", "replace").strip()
    if not text.lower().startswith(("http://", "https://")):
        return bool(text)
    add_entry(found, Entry(text[:_LONGEST]), limits)
    return False
