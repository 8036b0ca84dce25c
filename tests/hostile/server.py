"""Serves a made web of many hosts on loopback, notes when what was asked, and goes away if told to.

The server is a proxy for its hosts. With ``direct`` each host has an address of its own beside it
(127.77.0.1 and up), so that names, connections and refusals are real ones; the names are answered
by ``names/sitecustomize.py``.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from semcrawl.lab.demo.model import Handler, Request, Stream
from semcrawl.loopback import read_head

_NAMES = Path(__file__).parent / "names"


@dataclass
class Asked:
    """A request that came."""

    #: when it came, seconds on the monotonic clock
    time: float
    method: str
    host: str
    path: str
    #: headers, their names in lower case
    headers: Mapping[str, str]
    #: of the answer, once it has begun
    status: int = 0

    def url(self, port: int | None) -> str:
        """The addresses requested; ``port`` is that of URLs, if they have one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}{f':{port}' if port else ''}{self.path}"


class WebServer:
    """Serves hosts from a thread while in use as a context manager.

    ``handlers`` answer by host; ``*.wild.example`` answers for all hosts of that ending. Hosts that
    are none of these get 404 for everything.
    ``addresses`` gives hosts an address (``direct``) that is not theirs alone. ``silent`` are
    endings of names that no name server answers for, ``lookup`` the seconds that it takes to hear
    that there is no such name.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        direct: bool = False,
        addresses: Mapping[str, str] | None = None,
        silent: Mapping[str, float] | None = None,
        lookup: float = 0.05,
    ) -> None:
        self.handlers = handlers
        self.direct = direct
        self.log: list[Asked] = []
        self.port = 0
        own = {host: f"127.77.{n >> 8}.{n & 255}" for n, host in enumerate(handlers, start=1)}
        self._addresses = {**own, **(addresses or {})}
        self._silent, self._lookup = dict(silent or {}), lookup
        self._servers: dict[str, asyncio.Server] = {}
        self._writers: dict[str, set[asyncio.StreamWriter]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def proxy(self) -> str | None:
        """The address to set ``http_proxy`` to, unless hosts are asked directly."""
        return None if self.direct else f"http://127.0.0.1:{self.port}"

    def url(self, host: str, path: str = "/") -> str:
        """The URL of something on a host, which may have its scheme in front of it."""
        if "://" in host:
            return host + path
        return f"http://{host}{f':{self.port}' if self.direct else ''}{path}"

    def environment(self, folder: Path) -> dict[str, str]:
        """The environment in which a process knows the hosts' names."""
        if not self.direct:
            return {"https_proxy": self.proxy or ""}
        told = folder / "names.json"
        told.write_text(
            json.dumps({"names": self._addresses, "silent": self._silent, "seconds": self._lookup})
        )
        path = os.pathsep.join(filter(None, (str(_NAMES), os.environ.get("PYTHONPATH"))))
        return {"PYTHONPATH": path, "HOSTILE_NAMES": str(told)}

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Begin something in the server's loop."""
        asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def go_away(self, *hosts: str) -> None:
        """Refuse connections to hosts and reset those that there are; no hosts: to all."""
        for address in self._places(hosts):
            if server := self._servers.pop(address, None):
                server.close()
            for writer in tuple(self._writers.get(address, ())):
                with suppress(OSError):  # closed already
                    Stream(writer).reset()

    async def come_back(self, *hosts: str) -> None:
        """Listen again."""
        for address in self._places(hosts):
            await self._listen(address)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _places(self, hosts: tuple[str, ...] = ()) -> list[str]:
        if not self.direct:
            return ["127.0.0.1"]
        return list(dict.fromkeys(self._addresses[host] for host in hosts or self.handlers))

    async def _open(self) -> None:
        for _ in range(20):
            try:
                for address in self._places():
                    await self._listen(address)
                return
            except OSError:  # the port is taken at one of the addresses
                await self.go_away()
                self.port = 0
        raise OSError("no port is free at all addresses")

    async def _listen(self, address: str) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(address, reader, writer)

        server = await asyncio.start_server(
            accept, address, self.port, limit=1 << 20, backlog=512, reuse_address=True
        )
        self.port = server.sockets[0].getsockname()[1]
        self._servers[address] = server

    async def _close(self) -> None:
        await self.go_away()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(
        self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writers = self._writers.setdefault(address, set())
        writers.add(writer)
        try:
            with suppress(ConnectionError, ValueError, asyncio.CancelledError):
                while head := await read_head(reader):
                    if not await self._answer(Request.of(*head), Stream(writer)):
                        break
        finally:
            writers.discard(writer)
            writer.close()

    async def _answer(self, request: Request, out: Stream) -> bool:
        """Answer; return whether the connection may go on."""
        asked = Asked(time.monotonic(), request.method, request.host, request.path, request.headers)
        self.log.append(asked)
        try:
            wild = "*." + request.host.partition(".")[2]
            if handler := self.handlers.get(request.host) or self.handlers.get(wild):
                await handler(request, out)
            else:
                await out.whole(404, [], b"")
        finally:
            asked.status = out.status
        return not out.closing and request.headers.get("connection", "").lower() != "close"
