"""Faults of the transport: late, endless, broken off, wrongly measured answers."""

from __future__ import annotations

import asyncio

from semcrawl.lab.demo.model import Request, Stream
from tests.faults.sound import HTML, TURTLE, TURTLE_TYPE

HUGE_BYTES = 200_000_000


async def slow_drip(request: Request, out: Stream) -> None:
    """Send Turtle, one byte every half second, for ever (in effect)."""
    await out.head(200, [*TURTLE_TYPE, ("Content-Length", str(len(TURTLE)))])
    for byte in TURTLE:
        await out.body(bytes([byte]))
        await asyncio.sleep(0.5)


async def hang(request: Request, out: Stream) -> None:
    """Take the request and never answer."""
    await asyncio.Event().wait()


async def hang_in_body(request: Request, out: Stream) -> None:
    """Send half of the body and then nothing."""
    await out.head(200, [*TURTLE_TYPE, ("Content-Length", str(len(TURTLE)))])
    await out.body(TURTLE[: len(TURTLE) // 2])
    await asyncio.Event().wait()


async def cut_body(request: Request, out: Stream) -> None:
    """Close the connection after half of the promised body."""
    await out.head(200, [*TURTLE_TYPE, ("Content-Length", str(len(TURTLE)))])
    await out.body(TURTLE[: len(TURTLE) // 2])
    out.closing = True


async def length_too_small(request: Request, out: Stream) -> None:
    """Announce fewer bytes than follow."""
    await out.head(200, [*TURTLE_TYPE, ("Content-Length", "100")])
    await out.body(TURTLE)
    out.closing = True


async def length_nonsense(request: Request, out: Stream) -> None:
    """Announce a length that is no number."""
    await out.head(200, [*TURTLE_TYPE, ("Content-Length", "many")])
    await out.body(TURTLE)
    out.closing = True


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
    await out.head(200, [*HTML, ("Transfer-Encoding", "chunked")])
    piece = b"<p>more and more</p>\n" * 3000
    frame = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    for _ in range(HUGE_BYTES // len(piece)):
        await out.body(frame)
    await out.body(b"0\r\n\r\n")


async def reset(request: Request, out: Stream) -> None:
    """Reset the connection instead of answering."""
    out.reset()


async def reset_in_body(request: Request, out: Stream) -> None:
    """Reset the connection in the middle of the body."""
    await out.head(200, [*TURTLE_TYPE, ("Content-Length", str(len(TURTLE)))])
    await out.body(TURTLE[: len(TURTLE) // 2])
    out.reset()


async def busy(request: Request, out: Stream) -> None:
    """Ask to come back in an hour."""
    await out.whole(503, [*HTML, ("Retry-After", "3600")], b"<p>Later.</p>")


async def status_nonsense(request: Request, out: Stream) -> None:
    """Answer with a status that does not exist."""
    await out.whole(799, HTML, b"<p>So there.</p>")


async def _fill(out: Stream, size: int) -> None:
    line = b"<http://faults.example/a> <http://faults.example/b> <http://faults.example/c> .\n"
    piece = line * (65536 // len(line))
    while size > 0:
        await out.body(piece[:size])
        size -= len(piece)
