"""Web servers on loopback that go away for a time, or begin to refuse, after some requests."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus

Answer = tuple[int, str, bytes]


@dataclass
class FrailServer:
    """Answers one request per connection; ``pages`` gives status, type and body of a path.

    After ``lasts`` requests that it answered it does not listen for ``away`` seconds.
    """

    pages: Callable[[str], Answer]
    lasts: int = 10**9
    away: float = 0.0
    address: str = "127.0.0.1"
    port: int = 0
    #: time and path of each request
    log: list[tuple[float, str]] = field(default_factory=list)
    #: when it went away, and when it was back
    gone: list[float] = field(default_factory=list)
    _listener: socket.socket | None = None
    _closing: bool = False

    def start(self) -> None:
        self._listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def stop(self) -> None:
        self._closing = True
        self._stop_listening()

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def asked(self) -> list[str]:
        """Paths asked for, without robots.txt."""
        return [path for _, path in self.log if path != "/robots.txt"]

    def _listen(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.address, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener

    def _stop_listening(self) -> None:
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _serve(self) -> None:
        while not self._closing:
            try:
                assert self._listener is not None
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(10)
                self._answer(connection)
            if len(self.log) >= self.lasts:
                self.lasts = 10**9
                self._stop_listening()
                self.gone.append(time.monotonic())
                time.sleep(self.away)
                if not self._closing:
                    self._listen()
                    self.gone.append(time.monotonic())

    def _answer(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            data = connection.recv(65536)
            if not data:
                return
            head += data
        path = head.split(b" ", 2)[1].decode()
        path = "/" + path.split("/", 3)[3] if "://" in path else path
        self.log.append((time.monotonic(), path))
        status, kind, body = self.pages(path)
        start = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: {kind}\r\n"
        start += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(start.encode() + body)


def site(documents: int, links: str = "") -> Callable[[str], Answer]:
    """A start page that links to so many documents."""

    def pages(path: str) -> Answer:
        if path == "/":
            found = "".join(f"<a href=/{n}.ttl>{n}</a> " for n in range(documents))
            return 200, "text/html", (found + links).encode()
        if path.endswith(".ttl"):
            return 200, "text/turtle", f"<#it> <http://v.example/is> '{path}' .".encode()
        return 404, "text/html", b""

    return pages


@contextmanager
def frail(*servers: FrailServer) -> Iterator[None]:
    """Have the servers run."""
    for server in servers:
        server.start()
    try:
        yield
    finally:
        for server in servers:
            server.stop()
