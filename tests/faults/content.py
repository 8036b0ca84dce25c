"""Faults of the content: lying types, cut documents, wrong encodings, noise, a gzip bomb."""

from __future__ import annotations

import asyncio
import random
import zlib

from semcrawl.lab.demo.model import Request, Stream
from tests.faults.sound import HTML, TURTLE, TURTLE_TYPE

BOMB_BYTES = 500_000_000
_BLOCK = 1 << 20  # bytes that the bomb repeats


async def cut_turtle(request: Request, out: Stream) -> None:
    """Answer soundly with a Turtle document that was cut in the middle of a statement."""
    await out.whole(200, TURTLE_TYPE, TURTLE[: len(TURTLE) // 2])


async def cut_rdfxml(request: Request, out: Stream) -> None:
    """Answer soundly with an RDF/XML document that was cut in half."""
    body = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">\n'
        + "".join(
            f'<rdf:Description rdf:about="#{n}"><rdfs:label>thing {n}</rdfs:label>'
            "</rdf:Description>\n"
            for n in range(100)
        )
    ).encode()
    await out.whole(200, [("Content-Type", "application/rdf+xml")], body[: len(body) // 2])


async def html_as_turtle(request: Request, out: Stream) -> None:
    """Claim that a page is Turtle."""
    await out.whole(200, TURTLE_TYPE, b"<!DOCTYPE html><title>No</title><p>No Turtle at all.</p>")


async def turtle_as_html(request: Request, out: Stream) -> None:
    """Claim that Turtle is a page."""
    await out.whole(200, HTML, TURTLE)


async def turtle_as_image(request: Request, out: Stream) -> None:
    """Claim that Turtle is an image."""
    await out.whole(200, [("Content-Type", "image/png")], TURTLE)


async def turtle_untyped(request: Request, out: Stream) -> None:
    """Send Turtle without a media type."""
    await out.whole(200, [], TURTLE)


async def image_as_rdf(request: Request, out: Stream) -> None:
    """Claim that an image is RDF/XML."""
    body = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(2000)
    await out.whole(200, [("Content-Type", "application/rdf+xml")], body)


async def binary_html(request: Request, out: Stream) -> None:
    """Send 100 kB of noise as a page."""
    await out.whole(200, HTML, random.Random(2).randbytes(100_000))


async def wrong_encoding(request: Request, out: Stream) -> None:
    """Send a UTF-16 page that says it is UTF-8 and links to a sound document."""
    text = '<!DOCTYPE html><title>Größe</title><a href="/good/0.ttl">Größe</a>'
    await out.whole(200, HTML, text.encode("utf-16"))


async def unknown_encoding(request: Request, out: Stream) -> None:
    """Send a page in an encoding that does not exist."""
    body = '<title>Größe</title><a href="/good/1.ttl">Größe</a>'.encode("latin-1")
    await out.whole(200, [("Content-Type", "text/html; charset=klingon-8")], body)


async def gzip_bomb(request: Request, out: Stream) -> None:
    """Send half a megabyte that unpacks to 500 MB of spaces."""
    body = await asyncio.to_thread(gzip_of_spaces, BOMB_BYTES)
    headers = [*HTML, ("Content-Encoding", "gzip")]
    await out.whole(200, headers, body)


async def gzip_nonsense(request: Request, out: Stream) -> None:
    """Claim gzip for plain text."""
    await out.whole(200, [*TURTLE_TYPE, ("Content-Encoding", "gzip")], TURTLE)


async def empty(request: Request, out: Stream) -> None:
    """Send an empty body as Turtle."""
    await out.whole(200, TURTLE_TYPE, b"")


async def many_links(request: Request, out: Stream) -> None:
    """Send a page of 10 MB with 100,000 links to images."""
    body = b"".join(
        b'<p><a href="/i/%06d.png">a picture among many others, number %d</a> %s</p>\n'
        % (n, n, b"x" * 30)
        for n in range(100_000)
    )
    await out.whole(200, HTML, b"<title>Many</title>" + body)


def gzip_of_spaces(size: int) -> bytes:
    """Compress ``size`` spaces without holding them: one full-flushed block, many times."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    blank = b" " * _BLOCK
    block = compressor.compress(blank) + compressor.flush(zlib.Z_FULL_FLUSH)
    blocks, checksum = size // _BLOCK, 0
    for _ in range(blocks):
        checksum = zlib.crc32(blank, checksum)
    end = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    tail = checksum.to_bytes(4, "little") + (blocks * _BLOCK % 2**32).to_bytes(4, "little")
    return head + block * blocks + end + tail
