"""Serves the demonstration web on loopback: an HTTP/1.1 server that is also a proxy for its hosts.

Requests may carry the absolute form of the target (as to a proxy) or a Host header. Every request
is logged as one line of JSON when its answer has ended.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast
from urllib.parse import urlsplit

from semcrawl.demo.stream import Handler, Request, Stream
from semcrawl.demo.web import DemoWeb

_HEAD_LIMIT = 1 << 20  # bytes of a request's head


class DemoServer:
    """Serves a web on 127.0.0.1; ``port`` 0 takes a free one. Use :func:`serve` to run it.

    ``handlers`` answer for whole hosts in their own way.
    """

    def __init__(
        self,
        web: DemoWeb,
        *,
        port: int = 0,
        log: Path | str | None = None,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        self._web = web
        self._port = port
        self._handlers: Mapping[str, Handler] = handlers or {}
        self._log_path = Path(log) if log is not None else None
        self._log: TextIO | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._answered = 0
        self._progress = threading.Condition()

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._port

    @property
    def proxy_url(self) -> str:
        """The address to set ``http_proxy`` to."""
        return f"http://127.0.0.1:{self._port}"

    def wait_until_answered(self, count: int, timeout: float) -> bool:
        """Wait from another thread until ``count`` requests have ended, ``timeout`` s at most.

        Return whether they have.
        """
        with self._progress:
            return self._progress.wait_for(lambda: self._answered >= count, timeout)

    async def start(self) -> None:
        """Begin to listen; raises ``OSError`` when the port is taken or the log unwritable."""
        if self._log_path is not None:
            self._log = self._log_path.open("a", encoding="utf-8", buffering=1)
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self._port, limit=_HEAD_LIMIT, backlog=512
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and end the open connections."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
        if self._log is not None:
            self._log.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._connections.add(task)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection may carry another one."""
        request = await read_request(reader)
        if request is None:
            return False
        stream = Stream(writer)
        arrived, cut = time.time(), True
        try:
            await self._answer(request, stream)
            cut = False
        except ConnectionError:
            return False
        finally:
            self._note(request, stream, arrived, cut or stream.closing)
        return not stream.closing and request.headers.get("connection", "").lower() != "close"

    async def _answer(self, request: Request, stream: Stream) -> None:
        if request.method == "CONNECT":
            stream.closing = True
            await stream.whole(502, [], b"no TLS here\n")
        elif (handler := self._handlers.get(request.host)) is not None:
            await handler(request, stream)
        else:
            response = self._web.answer(request.host, request.path, request.headers)
            await stream.whole(
                response.status,
                response.headers,
                response.body,
                omit_body=request.method == "HEAD",
            )

    def _note(self, request: Request, stream: Stream, arrived: float, cut: bool) -> None:
        with self._progress:
            self._answered += 1
            self._progress.notify_all()
        if self._log is None:
            return
        resource = self._web.find(request.host, request.path)
        line = {
            "t": arrived,
            "m": request.method,
            "host": request.host,
            "path": request.path,
            "status": stream.status,
            "kind": self._kind(request),
            "file": resource.url if resource else None,
            "bytes": stream.sent,
            "ua": request.headers.get("user-agent", ""),
            "accept": request.headers.get("accept", ""),
            "cut": cut,
        }
        self._log.write(json.dumps(line) + "\n")

    def _kind(self, request: Request) -> str:
        if request.host in self._handlers:
            return "handler"
        resource = self._web.find(request.host, request.path)
        return resource.kind.value if resource else "missing"


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read one request and skip its body; ``None`` at the connection's end or for nonsense."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
        first, *lines = raw.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        await reader.readexactly(min(int(headers.get("content-length", 0)), _HEAD_LIMIT))
        url = urlsplit(target)
        host = url.hostname or urlsplit("//" + headers.get("host", "")).hostname or ""
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        return None
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return Request(method, host.lower(), path, headers)


@contextmanager
def serve(
    web: DemoWeb,
    *,
    port: int = 0,
    log: Path | str | None = None,
    handlers: Mapping[str, Handler] | None = None,
) -> Iterator[DemoServer]:
    """Serve ``web`` from a thread for as long as the context lasts.

    Raises ``OSError`` when the port is taken or the log cannot be written.
    """
    server = DemoServer(web, port=port, log=log, handlers=handlers)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="demo-web", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
