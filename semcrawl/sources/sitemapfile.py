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
from semcrawl.web.charsets import Form, find_encoding

_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
#: most characters of an address
_LONGEST = 4096
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
    pieces = _bounded(_unpacked(_cut(body), found), limits.bytes, found)
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
def _cut(body: Iterable[bytes]) -> Iterator[bytes]:
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
