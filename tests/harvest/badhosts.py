"""Good hosts beside others that drip, on addresses of loopback."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

GOOD = [f"127.0.7.{n}" for n in range(1, 7)]
DOCUMENTS = 120


class World:
    """Six good hosts with 120 documents, the first of which links to all of them and to ``links``.

    ``drips`` are hosts that give a byte every half a second: their robots.txt and all else, or only
    all else.
    """

    def __init__(self, links: Sequence[str] = (), drips: int = 0, *, robots: bool = True) -> None:
        self.log: list[tuple[float, str, str]] = []
        self.port = 0
        self._links = list(links)
        self._drips = [f"127.0.8.{n}" for n in range(1, drips + 1)]
        self._robots = robots

    @property
    def seed(self) -> str:
        return f"http://{GOOD[0]}:{self.port}/"

    def had(self) -> list[float]:
        """Times at which the documents were asked for."""
        return [at for at, host, path in self.log if host in GOOD and path.endswith(".ttl")]

    async def start(self) -> None:
        for host in (*GOOD, *self._drips):
            server = await asyncio.start_server(self._answering(host), host, self.port)
            self.port = server.sockets[0].getsockname()[1]

    def _answering(self, host: str) -> Callable[..., object]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode()
                self.log.append((time.monotonic(), host, path))
                status, kind, body = self._page(host, path)
                start = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nConnection: close\r\n"
                data = f"{start}Content-Length: {len(body)}\r\n\r\n{body}".encode()
                if host in self._drips and (self._robots or path != "/robots.txt"):
                    for byte in data:
                        writer.write(bytes([byte]))
                        await writer.drain()
                        await asyncio.sleep(0.5)
                writer.write(data)
                await writer.drain()
            writer.close()

        return answer

    def _page(self, host: str, path: str) -> tuple[int, str, str]:
        if path == "/robots.txt":
            return 404, "text/plain", ""
        if path.endswith(".ttl"):
            return 200, "text/turtle", f"<#it> <http://v.example/is> '{path}' ."
        if host != GOOD[0]:
            return 200, "text/html", "<p>slow</p>" * 100
        bad = [f"http://{name}:{self.port}/{n}" for name in self._drips for n in range(3)]
        documents = [f"http://{GOOD[n % 6]}:{self.port}/{n}.ttl" for n in range(DOCUMENTS)]
        links = [*bad, *self._links, *documents]
        return 200, "text/html", "".join(f"<p><a href={link}>x</a></p>" for link in links)


@contextmanager
def served(world: World) -> Iterator[World]:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(world.start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield world
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
