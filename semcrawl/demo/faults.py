"""Faulty resources of the host ``faults.example``: what goes wrong on the web, by name.

Nothing of the demonstration web links here; tests ask for ``http://faults.example/NAME``. The
start page links to every resource that :data:`LINKED` names, and to a few sound documents.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import Mapping
from urllib.parse import urlsplit

from semcrawl.demo.stream import Handler, Request, Stream

FAULT_HOST = "faults.example"

#: number of sound Turtle documents, ``/good/0.ttl`` …, of two statements each
GOOD_DOCUMENTS = 5
HUGE_BYTES = 200_000_000
BOMB_BYTES = 500_000_000
_BLOCK = 1 << 20

TURTLE = "".join(
    f'<#{n}> <http://www.w3.org/2000/01/rdf-schema#label> "thing {n}" .\n' for n in range(100)
).encode()
"""A sound Turtle document of 100 statements, one per line."""

_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_TURTLE = (("Content-Type", "text/turtle"),)


async def slow_drip(request: Request, out: Stream) -> None:
    """Send Turtle, one byte every half second, for ever (in effect)."""
    await out.head(200, [*_TURTLE, ("Content-Length", str(len(TURTLE)))])
    for byte in TURTLE:
        await out.body(bytes([byte]))
        await asyncio.sleep(0.5)


async def hang(request: Request, out: Stream) -> None:
    """Take the request and never answer."""
    await asyncio.Event().wait()


async def hang_in_body(request: Request, out: Stream) -> None:
    """Send half of the body and then nothing."""
    await out.head(200, [*_TURTLE, ("Content-Length", str(len(TURTLE)))])
    await out.body(TURTLE[: len(TURTLE) // 2])
    await asyncio.Event().wait()


async def cut_body(request: Request, out: Stream) -> None:
    """Close the connection after half of the promised body."""
    await out.head(200, [*_TURTLE, ("Content-Length", str(len(TURTLE)))])
    await out.body(TURTLE[: len(TURTLE) // 2])
    out.closing = True


async def cut_turtle(request: Request, out: Stream) -> None:
    """Answer soundly with a Turtle document that was cut in the middle of a statement."""
    await out.whole(200, _TURTLE, TURTLE[: len(TURTLE) // 2])


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


async def huge(request: Request, out: Stream) -> None:
    """Stream N-Triples of 200 MB, announced by Content-Length."""
    headers = [("Content-Type", "application/n-triples"), ("Content-Length", str(HUGE_BYTES))]
    await out.head(200, headers)
    await _fill(out, HUGE_BYTES)


async def huge_unannounced(request: Request, out: Stream) -> None:
    """Stream N-Triples of 200 MB whose end is the connection's end."""
    await out.head(200, [("Content-Type", "application/n-triples"), ("Connection", "close")])
    await _fill(out, HUGE_BYTES)
    out.closing = True


async def huge_html(request: Request, out: Stream) -> None:
    """Stream a page of 200 MB in chunks."""
    await out.head(200, [*_HTML, ("Transfer-Encoding", "chunked")])
    piece = b"<p>more and more</p>\n" * 3000
    frame = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    for _ in range(HUGE_BYTES // len(piece)):
        await out.body(frame)
    await out.body(b"0\r\n\r\n")


async def _fill(out: Stream, size: int) -> None:
    line = b"<http://faults.example/a> <http://faults.example/b> <http://faults.example/c> .\n"
    piece = line * (65536 // len(line))
    while size > 0:
        await out.body(piece[:size])
        size -= len(piece)


async def html_as_turtle(request: Request, out: Stream) -> None:
    """Claim that a page is Turtle."""
    await out.whole(200, _TURTLE, b"<!DOCTYPE html><title>No</title><p>No Turtle at all.</p>")


async def turtle_as_html(request: Request, out: Stream) -> None:
    """Claim that Turtle is a page."""
    await out.whole(200, _HTML, TURTLE)


async def turtle_as_image(request: Request, out: Stream) -> None:
    """Claim that Turtle is an image."""
    await out.whole(200, [("Content-Type", "image/png")], TURTLE)


async def turtle_untyped(request: Request, out: Stream) -> None:
    """Send Turtle without saying what it is."""
    await out.whole(200, [], TURTLE)


async def image_as_rdf(request: Request, out: Stream) -> None:
    """Claim that an image is RDF/XML."""
    body = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(2000)
    await out.whole(200, [("Content-Type", "application/rdf+xml")], body)


async def length_too_small(request: Request, out: Stream) -> None:
    """Announce fewer bytes than follow."""
    await out.head(200, [*_TURTLE, ("Content-Length", "100")])
    await out.body(TURTLE)
    out.closing = True


async def length_nonsense(request: Request, out: Stream) -> None:
    """Announce a length that is no number."""
    await out.head(200, [*_TURTLE, ("Content-Length", "many")])
    await out.body(TURTLE)
    out.closing = True


async def binary_html(request: Request, out: Stream) -> None:
    """Send 100 kB of noise as a page."""
    await out.whole(200, _HTML, random.Random(2).randbytes(100_000))


async def wrong_encoding(request: Request, out: Stream) -> None:
    """Send a UTF-16 page that says it is UTF-8 and links to a sound document."""
    text = '<!DOCTYPE html><title>Größe</title><a href="/good/0.ttl">Größe</a>'
    await out.whole(200, _HTML, text.encode("utf-16"))


async def unknown_encoding(request: Request, out: Stream) -> None:
    """Send a page in an encoding that does not exist."""
    body = '<title>Größe</title><a href="/good/1.ttl">Größe</a>'.encode("latin-1")
    await out.whole(200, [("Content-Type", "text/html; charset=klingon-8")], body)


async def redirect_loop(request: Request, out: Stream) -> None:
    """Redirect to another address that redirects back."""
    target = "/redirect-loop" if request.path.endswith("/b") else "/redirect-loop/b"
    await out.whole(302, [("Location", target)], b"")


async def redirect_forever(request: Request, out: Stream) -> None:
    """Redirect to a new address every time."""
    number = _last_number(request.path) + 1
    await out.whole(302, [("Location", f"/redirect-forever/{number}")], b"")


async def redirect_nowhere(request: Request, out: Stream) -> None:
    """Redirect without saying where to."""
    await out.whole(302, [], b"")


async def redirect_oddly(request: Request, out: Stream) -> None:
    """Redirect to a scheme that no crawler speaks."""
    await out.whole(302, [("Location", "gopher://faults.example/")], b"")


async def calendar(request: Request, out: Stream) -> None:
    """Send a month of a calendar that links to the next and the previous one, without end."""
    month = _last_number(request.path) or 12 * 2026
    links = " ".join(
        f'<a href="/calendar/{other}">{other // 12}-{other % 12 + 1:02}</a>'
        for other in (month - 1, month + 1)
    )
    await out.whole(200, _HTML, f"<title>Calendar</title><p>{links}</p>".encode())


async def labyrinth(request: Request, out: Stream) -> None:
    """Send a page whose links to itself carry a new session id each time."""
    session = zlib.crc32(request.path.encode())
    links = "".join(
        f'<a href="/labyrinth/{room}?PHPSESSID={session + room:08x}">room {room}</a>'
        for room in range(5)
    )
    await out.whole(200, _HTML, f"<title>Labyrinth</title>{links}".encode())


async def reset(request: Request, out: Stream) -> None:
    """Reset the connection instead of answering."""
    out.reset()


async def reset_in_body(request: Request, out: Stream) -> None:
    """Reset the connection in the middle of the body."""
    await out.head(200, [*_TURTLE, ("Content-Length", str(len(TURTLE)))])
    await out.body(TURTLE[: len(TURTLE) // 2])
    out.reset()


async def gzip_bomb(request: Request, out: Stream) -> None:
    """Send half a megabyte that unpacks to 500 MB of spaces."""
    body = await asyncio.to_thread(_bomb, BOMB_BYTES)
    headers = [*_HTML, ("Content-Encoding", "gzip")]
    await out.whole(200, headers, body)


async def gzip_nonsense(request: Request, out: Stream) -> None:
    """Claim gzip for what is none."""
    await out.whole(200, [*_TURTLE, ("Content-Encoding", "gzip")], TURTLE)


async def status_nonsense(request: Request, out: Stream) -> None:
    """Answer with a status that does not exist."""
    await out.whole(799, _HTML, b"<p>So there.</p>")


async def busy(request: Request, out: Stream) -> None:
    """Ask to come back in an hour."""
    await out.whole(503, [*_HTML, ("Retry-After", "3600")], b"<p>Later.</p>")


async def empty(request: Request, out: Stream) -> None:
    """Send an empty body as Turtle."""
    await out.whole(200, _TURTLE, b"")


async def many_links(request: Request, out: Stream) -> None:
    """Send a page of 10 MB with 100,000 links to images."""
    body = b"".join(
        b'<p><a href="/i/%06d.png">a picture among many others, number %d</a> %s</p>\n'
        % (n, n, b"x" * 30)
        for n in range(100_000)
    )
    await out.whole(200, _HTML, b"<title>Many</title>" + body)


def _bomb(size: int) -> bytes:
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


def _last_number(path: str) -> int:
    last = urlsplit(path).path.rpartition("/")[2]
    return int(last) if last.isascii() and last.isdigit() else 0


def _by_name(*handlers: Handler) -> Mapping[str, Handler]:
    return {handler.__name__.replace("_", "-"): handler for handler in handlers}


#: Faults that end a fetch at once or within the limits on size.
LINKED: Mapping[str, Handler] = _by_name(
    cut_body,
    cut_turtle,
    cut_rdfxml,
    html_as_turtle,
    turtle_as_html,
    turtle_as_image,
    turtle_untyped,
    image_as_rdf,
    length_too_small,
    length_nonsense,
    binary_html,
    wrong_encoding,
    unknown_encoding,
    redirect_loop,
    redirect_forever,
    redirect_nowhere,
    redirect_oddly,
    reset,
    reset_in_body,
    gzip_nonsense,
    status_nonsense,
    empty,
)

#: Every fault, by the first segment of its path.
FAULTS: Mapping[str, Handler] = {
    **LINKED,
    **_by_name(
        slow_drip,
        hang,
        hang_in_body,
        huge,
        huge_unannounced,
        huge_html,
        gzip_bomb,
        calendar,
        labyrinth,
        busy,
        many_links,
    ),
}


async def answer_fault(request: Request, out: Stream) -> None:
    """Answer for ``faults.example``: a fault by its name, the start page, or a sound document."""
    path = urlsplit(request.path).path
    name = path.split("/")[1]
    if name in FAULTS:
        await FAULTS[name](request, out)
    elif path == "/":
        await out.whole(200, _HTML, _start_page())
    elif path == "/robots.txt":
        rules = b"User-agent: *\nDisallow:\nCrawl-delay: 0\n"
        await out.whole(200, [("Content-Type", "text/plain")], rules)
    elif name == "good":
        subject = f"<http://{FAULT_HOST}{path}#it>"
        lines = (
            f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "{path}" .\n'
            f"{subject} a <http://{FAULT_HOST}/good/0.ttl#Thing> .\n"
        )
        await out.whole(200, _TURTLE, lines.encode())
    else:
        await out.whole(404, _HTML, b"<p>No such fault.</p>")


def _start_page() -> bytes:
    links = [f'<li><a href="/{name}">{name}</a></li>' for name in LINKED]
    links += [f'<li><a href="/good/{n}.ttl">sound</a></li>' for n in range(GOOD_DOCUMENTS)]
    return ("<title>Faults</title><ul>\n" + "\n".join(links) + "</ul>").encode()
