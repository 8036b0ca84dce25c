"""Answers that are too large, too long, or not what they say."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import brotli
import zstandard

from hostile.good import HTML, QUADS, TEXT
from hostile.run import DEFAULT_DELAY, World
from hostile.server import WebServer
from hostile.worlds.answers import at, document, fixed, missing, page
from semcrawl.lab.demo.model import Handler, Request, Stream
from tests.faults import GOOD_DOCUMENTS, answer_fault
from tests.faults.content import gzip_of_spaces

_GZIP = ("Content-Encoding", "gzip")
_CODINGS = ("gzip", "zstd", "br")
_NESTED = ("Content-Encoding", ", ".join(_CODINGS))
#: of a file that is packed once more itself
_CODED = ("Content-Encoding", ", ".join(_CODINGS[1:]))
_STATEMENT = b"<http://e.example/s> <http://e.example/p> <http://e.example/o> .\n"


@cache
def _gzip_bomb() -> bytes:
    return gzip_of_spaces(500_000_000)


@cache
def _large_gzip() -> bytes:
    """Just below the most that a body may have when it is decoded."""
    return gzip_of_spaces(95_000_000)


@cache
def _zip_bomb() -> bytes:
    """A zip of 10 members that unpack to 50 MB of spaces each."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(10):
            archive.writestr(f"{number}.nt", b" " * 50_000_000)
    return file.getvalue()


@cache
def _nested_bomb() -> bytes:
    """A hundred bytes: the gzip bomb in Zstandard in Brotli."""
    packed: bytes = brotli.compress(zstandard.compress(_gzip_bomb()))
    return packed


def make_bombs(folder: Path, server: WebServer) -> None:
    """Have the bombs ready when they are asked for."""
    _gzip_bomb()
    _zip_bomb()


def make_large(folder: Path, server: WebServer) -> None:
    """Have the body of one coding ready when it is asked for."""
    _large_gzip()


def make_nested_bomb(folder: Path, server: WebServer) -> None:
    """Have the nested bomb ready when it is asked for."""
    _nested_bomb()


def bomb(make: Callable[[], bytes], *headers: tuple[str, str]) -> Handler:
    """Answer with a bomb."""

    async def answer(request: Request, out: Stream) -> None:
        await out.whole(200, headers, make())

    return answer


async def endless_head(request: Request, out: Stream) -> None:
    """Send headers for ever."""
    await out.body(b"HTTP/1.1 200 OK\r\n")
    while True:
        await out.body(b"X-More: and more\r\n" * 1000)
        await asyncio.sleep(0)


async def large_head(request: Request, out: Stream) -> None:
    await out.whole(200, [*HTML, ("X-Large", "x" * 2_000_000)], b"<p>so there</p>")


async def many_heads(request: Request, out: Stream) -> None:
    await out.whole(200, [*HTML, *(("X-Many", str(n)) for n in range(100_000))], b"<p>so there</p>")


async def endless_statements(request: Request, out: Stream) -> None:
    """Send N-Triples for ever, in chunks."""
    await out.head(
        200, [("Content-Type", "application/n-triples"), ("Transfer-Encoding", "chunked")]
    )
    piece = _STATEMENT * 4000
    while True:
        await out.body(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await asyncio.sleep(0.05)


async def tiny_chunks(request: Request, out: Stream) -> None:
    """Send a page for ever, a byte in each chunk."""
    await out.head(200, [*HTML, ("Transfer-Encoding", "chunked")])
    while True:
        await out.body(b"1\r\nx\r\n" * 200)
        await asyncio.sleep(0.02)


_RULES = b"User-agent: *\n" + b"".join(
    b"Disallow: /%d/*/private?of=%d\n" % (n, n) for n in range(13_000)
)
ROBOTS = [f"rules{number}.example" for number in range(30)]
ENCODED = [f"encoded{number}.example" for number in range(10)]
ENCODED_AS = {"/x.ttl": ("Content-Type", "text/turtle"), "/": HTML[0]}
LARGE = ("large0.example", "large1.example")
ENDLESS = ("endless-head", "large-head", "many-heads", "statements", "chunks")


def _broken_page(host: str, tag: str) -> bytes:
    """A page of 100 kB with a tag that XML cannot name, and a link in each paragraph."""
    paragraphs = "".join(
        f'<p><{tag}>{"words " * 800}</{tag}><a href="/{number}.ttl">data</a></p>'
        for number in range(20)
    )
    return f"<!DOCTYPE html><title>{host}</title>{paragraphs}".encode()


@cache
def _large_page() -> bytes:
    """A page of 24 MB: a million links."""
    return b"".join(b'<a href="/l%d">x</a>' % number for number in range(1_000_000))


BROKEN = {
    "word.example": "o:p",
    "foaf.example": "foaf:name",
    "address.example": "http://x.example/y",
    "quoted.example": 'a"b<c',
    "unclosed.example": "table><tr><td",
}

WORLDS = (
    World(
        "decompression bombs",
        "500 MB of spaces as page, as RDF, as robots.txt (gzip), and in a zip",
        {
            "page.example": at({"/": bomb(_gzip_bomb, *HTML, _GZIP)}),
            "data.example": at(
                {"/x.ttl": bomb(_gzip_bomb, ("Content-Type", "text/turtle"), _GZIP)}
            ),
            "packed.example": at(
                {"/x.nt.gz": bomb(_gzip_bomb, ("Content-Type", "application/gzip"))}
            ),
            "zip.example": at({"/x.zip": bomb(_zip_bomb, ("Content-Type", "application/zip"))}),
            "robots.example": at(
                {"/robots.txt": bomb(_gzip_bomb, *TEXT, _GZIP), "/x.ttl": document}, missing
            ),
        },
        [
            *(("page.example", "/"), ("data.example", "/x.ttl"), ("packed.example", "/x.nt.gz")),
            *(("zip.example", "/x.zip"), ("robots.example", "/x.ttl")),
        ],
        {
            "page.example/*": {"too-large"},
            "data.example/*": {"too-large"},
            "packed.example/*": {"too-large", "parse-error", "fetched-rdf", "fetched-other"},
            "zip.example/*": {"too-large", "parse-error", "fetched-rdf", "fetched-other"},
            "robots.example/x.ttl": {"fetched-rdf", "robots-denied"},
        },
        ends=True,
        prepare=make_bombs,
    ),
    World(
        "bombs packed several times",
        "500 MB of spaces in gzip in Zstandard in Brotli, as codings of a body and as a file",
        {
            "page.example": at({"/": bomb(_nested_bomb, *HTML, _NESTED)}),
            "data.example": at({"/x.ttl": bomb(_nested_bomb, *TEXT, _NESTED)}),
            "headers.example": at(
                {
                    "/x.ttl": bomb(
                        _nested_bomb, *TEXT, *(("Content-Encoding", one) for one in _CODINGS)
                    )
                }
            ),
            "file.example": at({"/x.nt.gz.zst.br": bomb(_nested_bomb)}),
            "packed.example": at(
                {"/x.nt.gz": bomb(_nested_bomb, ("Content-Encoding", "zstd, br"))}
            ),
            "robots.example": at(
                {"/robots.txt": bomb(_nested_bomb, *TEXT, _NESTED), "/x.ttl": document}, missing
            ),
        },
        [
            *(("page.example", "/"), ("data.example", "/x.ttl"), ("headers.example", "/x.ttl")),
            *(("file.example", "/x.nt.gz.zst.br"), ("packed.example", "/x.nt.gz")),
            ("robots.example", "/x.ttl"),
        ],
        {
            "page.example/*": {"too-large"},
            "data.example/*": {"too-large"},
            "headers.example/*": {"too-large"},
            "file.example/*": {"too-large", "parse-error"},
            "packed.example/*": {"too-large", "parse-error"},
            "robots.example/x.ttl": {"fetched-rdf", "robots-denied"},
        },
        ends=True,
        prepare=make_nested_bomb,
    ),
    World(
        "large bodies of one coding",
        "95 MB of spaces in 95 kB of gzip on each of ten hosts, as Turtle and as a page",
        {
            host: at({path: bomb(_large_gzip, kind, _GZIP) for path, kind in ENCODED_AS.items()})
            for host in ENCODED
        },
        [(host, path) for path in ENCODED_AS for host in ENCODED],
        {"encoded*.example/*": {"fetched-rdf", "fetched-html", "fetched-other", "parse-error"}},
        ends=True,
        prepare=make_large,
    ),
    World(
        "endless answers",
        "headers without end, of 2 MB, of 100,000 lines; N-Triples and tiny chunks without end",
        {
            "endless-head.example": at({}, endless_head),
            "large-head.example": at({}, large_head),
            "many-heads.example": at({}, many_heads),
            "statements.example": at({}, endless_statements),
            "chunks.example": at({}, tiny_chunks),
        },
        [(f"{name}.example", f"/{number}") for number in range(2) for name in ENDLESS],
        {
            "*-head*.example/*": {"too-large"},
            "statements.example/*": {"too-large", "timeout"},
            "chunks.example/*": {"too-large", "timeout"},
        },
    ),
    World(
        "lies",
        "wrong types, lengths, encodings and statuses; cut, reset, empty and garbled answers",
        {"faults.example": answer_fault},
        [("faults.example", "/")],
        {
            "faults.example/": {"fetched-html"},
            "faults.example/good/*": {"fetched-rdf"},
            "faults.example/redirect*": {"redirected", "http-error", "out-of-scope"},
            "faults.example/reset*": {"network-error", "host-down"},
            "faults.example/status-nonsense": {"http-error"},
            "faults.example/*": {
                *("fetched-rdf", "fetched-html", "fetched-other", "parse-error"),
                *("network-error", "filtered-type"),
            },
        },
        sound={f"faults.example/good/{number}.ttl": 2 for number in range(GOOD_DOCUMENTS)},
    ),
    World(
        "large robots.txt",
        "30 hosts with a robots.txt of 500 KB each, a page and a document",
        dict.fromkeys(
            ROBOTS,
            at(
                {
                    "/robots.txt": fixed(_RULES, *TEXT),
                    "/": page(["/x.ttl", "/7/a/private?of=7"]),
                    "/x.ttl": document,
                }
            ),
        ),
        [(host, "/") for host in ROBOTS],
        {"*/7/*": {"robots-denied"}, "rules*.example/x.ttl": {"fetched-rdf"}},
        sound={f"{host}/x.ttl": QUADS for host in ROBOTS},
        ends=True,
        delay=DEFAULT_DELAY,
    ),
    World(
        "large pages",
        "a page of a million links (24 MB) on each of two hosts",
        dict.fromkeys(LARGE, at({"/": bomb(_large_page, *HTML)}, missing)),
        [(host, "/") for host in LARGE],
        {"large*.example/": {"fetched-html", "interrupted"}, "large*.example/l*": {"http-error"}},
        prepare=lambda folder, server: _large_page() and None,
        delay=DEFAULT_DELAY,
    ),
    World(
        "broken pages",
        "pages of 100 kB with tags that XML cannot name; 20 sound documents behind each",
        {
            host: at(
                {"/": fixed(_broken_page(host, tag), *HTML)}
                | {f"/{number}.ttl": document for number in range(20)}
            )
            for host, tag in BROKEN.items()
        },
        [(host, "/") for host in BROKEN],
        {"*/*.ttl": {"fetched-rdf"}},
        sound={f"{host}/{number}.ttl": QUADS for host in BROKEN for number in range(20)},
        ends=True,
    ),
)
