"""Connections of requests that are looked at once they stand, and cut when their time is over."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class GuardedLines(HTTPAdapter):
    """Connects as requests does; ``check`` hears of the host and the address of each connection.

    It is called before anything is sent, and may raise. A proxy's connections are not looked at.
    """

    def __init__(self, check: Callable[[str, str], None]) -> None:
        self._check = check
        self._lines: list[socket.socket] = []
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Have the pools make connections of our own."""
        super().init_poolmanager(*arguments, **options)
        connected = self._connected

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return connected(self.host, super()._new_conn())

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return connected(self.host, super()._new_conn())

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}

    @contextmanager
    def cut_after(self, seconds: float) -> Iterator[Callable[[], bool]]:
        """Cut connections that are made within the context, so many seconds after its beginning.

        It gives whether that happened. Headers and bodies that drip are cut so as well, where a
        bound on each read never would.
        """
        late: list[bool] = []

        def cut() -> None:
            late.append(True)
            for line in tuple(self._lines):
                with suppress(OSError):  # it is closed already
                    line.shutdown(socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield lambda: bool(late)
        finally:
            timer.cancel()
            while self._lines:
                self._lines.pop().close()
            self.poolmanager.clear()

    def _connected(self, host: str, line: socket.socket) -> socket.socket:
        """Look at a new connection."""
        try:
            self._check(host, str(line.getpeername()[0]))
        except BaseException:
            line.close()
            raise
        # (of its own, as TLS takes the other one over)
        self._lines.append(line.dup())
        return line
