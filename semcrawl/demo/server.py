"""Serves the demonstration web on loopback: an HTTP/1.1 server that is also a proxy for its hosts.

Requests have the absolute form of the target, as to a proxy, or a Host header. Every request is
logged as one line of JSON when its answer ends.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from semcrawl.demo.stream import Handler, Request, Stream
from semcrawl.demo.web import DemoWeb
from semcrawl.machine.loopback import LoopbackServer


class DemoServer(LoopbackServer):
    """Serves a web on 127.0.0.1 as a context manager; ``port`` 0 means a free one.

    ``handlers`` answer all requests to their hosts. Raises ``OSError`` if the port is taken or the
    log cannot be written.
    """

    def __init__(
        self,
        web: DemoWeb,
        *,
        port: int = 0,
        log: Path | str | None = None,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        super().__init__(port)
        self._web = web
        self._handlers: Mapping[str, Handler] = handlers or {}
        self._log_path = Path(log) if log is not None else None
        self._log: TextIO | None = None
        self._answered = 0
        self._progress = threading.Condition()

    #: the address to set ``http_proxy`` to
    proxy_url = LoopbackServer.address

    def wait_until_answered(self, count: int, timeout: float) -> bool:
        """Wait in another thread until ``count`` requests have ended, at most ``timeout`` seconds.

        Returns whether they have.
        """
        with self._progress:
            return self._progress.wait_for(lambda: self._answered >= count, timeout)

    async def start(self) -> None:
        """Begin to listen. Raises ``OSError`` if the port is taken or the log is unwritable."""
        if self._log_path is not None:
            self._log = self._log_path.open("a", encoding="utf-8", buffering=1)
        await super().start()

    async def stop(self) -> None:
        """Stop listening and end the open connections."""
        await super().stop()
        if self._log is not None:
            self._log.close()

    async def exchange(
        self, method: str, target: str, headers: Mapping[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether the connection may carry another one."""
        try:
            request = Request.of(method, target, headers)
        except ValueError:
            return False
        stream = Stream(writer)
        arrived, cut = time.time(), True
        try:
            await self._answer(request, stream)
            cut = False
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


#: serves a web from a thread within a context
serve = DemoServer
