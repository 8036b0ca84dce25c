"""Pages of thirty links, made up and served on loopback."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import time
from multiprocessing.sharedctypes import Synchronized

LINKS = 30


def make_page(page: int, pages: int) -> bytes:
    """An ordinary page: a head, some navigation, paragraphs with links in them."""
    rng = random.Random(page)
    targets = [2 * page + 1, 2 * page + 2]
    targets += [rng.randrange(pages) for _ in range(LINKS - 2)]
    targets = [target % pages for target in targets]
    words = "the crawler reads what stands around each link and keeps it for later use".split()
    items = []
    for target in targets:
        text = " ".join(rng.choices(words, k=12))
        section = target % 12
        items.append(
            f'<p class="entry">{text} <a href="/s{section}/page-{target}.html"'
            f' title="about {target}">page {target}</a> {text}</p>'
        )
    head = f'<html><head><title>Page {page}</title><link rel="icon" href="/i.png"></head><body>'
    return (head + '<div id="main">' + "\n".join(items) + "</div></body></html>").encode()


def served_pages(pages: int, kept: int | None = None) -> tuple[str, Synchronized[int]]:
    """Serve the pages from a process of their own; return their host, and how many were asked.

    ``kept``: how many are made beforehand (default: all); the others are made when asked for.
    """
    port, served = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    made = pages if kept is None else kept
    multiprocessing.Process(target=serve, args=(pages, made, port, served), daemon=True).start()
    while not port.value:
        time.sleep(0.01)
    return f"http://127.0.0.1:{port.value}", served


def serve(pages: int, made: int, port: Synchronized[int], served: Synchronized[int]) -> None:
    """Serve the pages for ever; count them."""
    bodies = [make_page(n, pages) for n in range(made)]
    asked: set[int] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                if path == "/reset-0.html":
                    asked.clear()
                try:
                    number = int(path.rpartition("-")[2].removesuffix(".html"))
                    body = bodies[number] if number < made else make_page(number, pages)
                    status = "200 OK"
                    if path.startswith("/s"):
                        asked.add(number)
                    served.value = len(asked)
                except (ValueError, IndexError):
                    body, status = b"", "404 Not Found"
                start = (
                    f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                writer.write(start.encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 20)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())
