"""Traps for crawlers: redirects that lead nowhere, and pages without end."""

from __future__ import annotations

import zlib
from urllib.parse import urlsplit

from semcrawl.lab.demo.model import Request, Stream
from tests.faults.sound import HTML


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
    await out.whole(200, HTML, f"<title>Calendar</title><p>{links}</p>".encode())


async def labyrinth(request: Request, out: Stream) -> None:
    """Send a page whose links to itself carry a new session id each time."""
    session = zlib.crc32(request.path.encode())
    links = "".join(
        f'<a href="/labyrinth/{room}?PHPSESSID={session + room:08x}">room {room}</a>'
        for room in range(5)
    )
    await out.whole(200, HTML, f"<title>Labyrinth</title>{links}".encode())


def _last_number(path: str) -> int:
    last = urlsplit(path).path.rpartition("/")[2]
    return int(last) if last.isascii() and last.isdigit() else 0
