"""Answers of bad hosts, repeated for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from hostile.good import HTML, TEXT, TURTLE, turtle
from semcrawl.lab.demo.model import Handler, Request, Stream


def at(paths: dict[str, Handler], otherwise: Handler | None = None) -> Handler:
    """A host that answers each path in its own way; 404 for others, and for robots.txt."""

    async def answer(request: Request, out: Stream) -> None:
        handler = paths.get(request.path.partition("?")[0])
        if handler is None and request.path != "/robots.txt":
            handler = otherwise
        await (handler or missing)(request, out)

    return answer


async def missing(request: Request, out: Stream) -> None:
    await out.whole(404, HTML, b"")


async def silence(request: Request, out: Stream) -> None:
    """Take the request and never answer."""
    await asyncio.Event().wait()


async def document(request: Request, out: Stream) -> None:
    """A sound document of :data:`hostile.good.QUADS` quads."""
    await out.whole(200, TURTLE, turtle(request.path))


async def drip(request: Request, out: Stream, headers: Iterable[tuple[str, str]] = TURTLE) -> None:
    """Send a byte each half second, for ever."""
    await out.head(200, [*headers, ("Content-Length", "100000")])
    while True:
        await out.body(b"#")
        await asyncio.sleep(0.5)


async def drip_text(request: Request, out: Stream) -> None:
    await drip(request, out, TEXT)


def page(links: Iterable[str], text: str = "") -> Handler:
    """A page with links."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = f"<!DOCTYPE html><title>Links</title>{text}<ul>{items}</ul>".encode()

    async def answer(request: Request, out: Stream) -> None:
        await out.whole(200, HTML, body)

    return answer


def fixed(body: bytes, *headers: tuple[str, str], status: int = 200) -> Handler:
    """The same answer for everybody."""

    async def answer(request: Request, out: Stream) -> None:
        await out.whole(status, headers, body)

    return answer
