"""A made-up web of linked pages on many hosts, served as an HTTP proxy, that notes each request."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


@dataclass
class Web:
    """Pages 0 to ``pages`` - 1; page n is on host n mod ``hosts`` and links to 2n + 1, 2n + 2, …

    Every ``rdf_every``-th page is Turtle (and a leaf). ``delays`` are the crawl delays that the
    hosts' robots.txt files ask for, in turn; seconds.
    """

    pages: int
    hosts: int
    links: int = 6
    rdf_every: int = 10
    delays: tuple[float, ...] = ()
    #: seconds that every answer takes
    latency: float = 0.0
    #: time, host and path of each request
    log: list[tuple[float, str, str]] = field(default_factory=list)

    def url(self, page: int) -> str:
        ending = ".ttl" if self.is_rdf(page) else ""
        return f"http://h{page % self.hosts}.example/page/{page}{ending}"

    def is_rdf(self, page: int) -> bool:
        # leaves only, so that everything can be reached through HTML
        return 2 * page + 1 >= self.pages and page % self.rdf_every == 0

    def requests(self) -> list[tuple[float, str, str]]:
        """Requests for pages, not for the folder that they are in."""
        return [
            entry for entry in self.log if len(entry[2]) > len("/page/") and "/page/" in entry[2]
        ]

    def answer(self, host: str, path: str) -> tuple[str, str, str]:
        """Return status, content type and body."""
        if path == "/robots.txt":
            number = int(host.removeprefix("h").partition(".")[0])
            if not self.delays:
                return "404 Not Found", "text/plain", ""
            delay = self.delays[number % len(self.delays)]
            return "200 OK", "text/plain", f"User-agent: *\nCrawl-delay: {delay}\n"
        try:
            page = int(path.removeprefix("/page/").removesuffix(".ttl"))
        except ValueError:
            return "404 Not Found", "text/html", ""
        if self.is_rdf(page):
            return "200 OK", "text/turtle", f"<#it> <http://v.example/number> {page} ."
        rng = random.Random(page)
        others = (rng.randrange(self.pages) for _ in range(self.links - 2))
        targets = [n for n in (2 * page + 1, 2 * page + 2, *others) if n < self.pages]
        anchors = "".join(f'<li><a href="{self.url(n)}">page {n}</a></li>' for n in targets)
        return "200 OK", "text/html", f"<title>{page}</title><ul>{anchors}</ul>"


class Served:
    """Serves a web from a thread while in use as a context manager."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._connected, "127.0.0.1", 0)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = head.split(b" ", 2)[1].decode("ascii")
                parts = urlsplit(target)
                self.web.log.append((time.monotonic(), parts.netloc, parts.path))
                if self.web.latency:
                    await asyncio.sleep(self.web.latency)
                status, kind, body = self.web.answer(parts.netloc, parts.path)
                data = body.encode()
                start = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}"
                writer.write(start.encode() + b"\r\n\r\n" + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
