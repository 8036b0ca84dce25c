"""The arguments of a handler of the demonstration server: a request and a counted stream."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    """One request: method, host name (lower-case), path with query, headers (lower-case names)."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, method: str, target: str, headers: Mapping[str, str]) -> Self:
        """Take a target as to a server or as to a proxy; raises ``ValueError`` for nonsense."""
        url = urlsplit(target)
        host = url.hostname or urlsplit("//" + headers.get("host", "")).hostname or ""
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        return cls(method, host.lower(), path, headers)


class Stream:
    """Writes one answer and counts it for the log."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.status = 0  #: of the answer; 0 until its head is written
        self.sent = 0  #: bytes of the body sent
        self.closing = False  #: whether the connection must end with this answer

    async def head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Write the status line and the headers unchanged."""
        self.status = status
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in headers)]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        await self._writer.drain()

    async def body(self, data: bytes) -> None:
        """Write a piece of the body and wait until the buffer has room again."""
        self._writer.write(data)
        await self._writer.drain()
        self.sent += len(data)

    async def whole(
        self,
        status: int,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        *,
        omit_body: bool = False,
    ) -> None:
        """Write a whole answer with its Content-Length; without the body for HEAD."""
        await self.head(status, [("Content-Length", str(len(body))), *headers])
        if not omit_body:
            await self.body(body)

    def reset(self) -> None:
        """Cut the connection with a TCP reset."""
        self.closing = True
        connection = self._writer.get_extra_info("socket")
        # closing with a linger time of 0 sends RST instead of FIN
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


#: Answers a request.
Handler = Callable[[Request, Stream], Awaitable[None]]
