"""HTTP/1.1 servers on loopback, each in a thread of its own."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, Self, cast

#: bytes of a request's head, and of a body that is skipped
_LIMIT = 1 << 20


class LoopbackServer:
    """Serves on 127.0.0.1 as a context manager. Subclasses implement :meth:`exchange`.

    ``port`` 0 takes a free one. A crawl in the same process or in another can use it.
    """

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        """Begin to listen; raises ``OSError`` where that cannot be."""
        self._thread.start()
        try:
            self._run(self.start())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Stop listening and end the open connections."""
        self._run(self.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._port

    @property
    def address(self) -> str:
        """The address to set ``http_proxy`` to."""
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self._port, limit=_LIMIT, backlog=512
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

    async def exchange(
        self, method: str, target: str, headers: Mapping[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether the connection may carry another one.

        Names of headers are lower-case. Where the connection breaks, it ends.
        """
        raise NotImplementedError

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._connections.add(task)
        try:
            with suppress(ConnectionError, ssl.SSLError, asyncio.CancelledError):
                while head := await read_head(reader):
                    if not await self.exchange(*head, writer):
                        break
        finally:
            self._connections.discard(task)
            writer.close()


async def read_head(reader: asyncio.StreamReader) -> tuple[str, str, Mapping[str, str]] | None:
    """Read a request and skip its body; ``None`` at the connection's end or for nonsense."""
    try:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        await reader.readexactly(min(int(headers.get("content-length") or 0), _LIMIT))
    except (EOFError, asyncio.LimitOverrunError, ValueError):
        return None
    return method, target, headers
