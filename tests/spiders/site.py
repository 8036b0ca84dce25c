"""A small web with data in every form, served on loopback."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping

from semcrawl.lab.demo.model import Handler, Request, Stream

HTML = "text/html; charset=utf-8"
JSON_LD = "application/ld+json"

Resources = Mapping[str, tuple[str, bytes]]


def handler(resources: Resources) -> Handler:
    """Answer with (Content-Type, body) by path; a 404 for other paths."""

    async def answer(request: Request, out: Stream) -> None:
        found = resources.get(request.path)
        if found is None:
            await out.whole(404, [("Content-Type", "text/plain")], b"nothing here\n")
            return
        content_type, body = found
        await out.whole(200, [("Content-Type", content_type)] if content_type else [], body)

    return answer


def page(*links: str, head: str = "", body: str = "") -> tuple[str, bytes]:
    """A page with links to ``links``."""
    anchors = "".join(f'<li><a href="{url}">{url}</a></li>' for url in links)
    text = f"<!DOCTYPE html><html><head><title>A page</title>{head}</head>"
    return HTML, f"{text}<body>{body}<ul>{anchors}</ul></body></html>".encode()


def script(data: object) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    return f'<script type="application/ld+json">{text}</script>'


def triples(name: str, count: int) -> bytes:
    """N-Triples with ``count`` statements."""
    lines = (
        f'<http://d.example/{name}#{n}> <http://v.example/label> "{n}" .' for n in range(count)
    )
    return ("\n".join(lines) + "\n").encode()


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)
