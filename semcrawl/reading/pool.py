"""A pool of reading processes, which are killed when a document takes too long.

Only that stops a parser in C or Rust. An element with a million attributes, or JSON-LD with a
million contexts, would occupy a thread for hours.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from semcrawl.rdf import Reading
from semcrawl.rdf.sink import spool_prefix
from semcrawl.reading import process as worker
from semcrawl.web.bodies import BodyFile

T = TypeVar("T")


class ReadingLost(Exception):  # noqa: N818 - an event, not an error of the program
    """A document was not read; the message says why."""


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    connection: socket.socket
    #: spool files that it has passed to the crawl
    delivered: set[Path] = field(default_factory=set)

    def close(self) -> int:
        """Kill the process; return its status."""
        self.connection.close()
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


class ReadingProcesses:
    """At most ``count`` processes, started on demand and reused."""

    def __init__(
        self, count: int, seconds: float, spool_dir: Path | None = None, memory: int = 0
    ) -> None:
        """Kill a task some time after ``seconds``, the reader's own limit, which keeps its quads.

        The spool files of killed tasks are deleted from ``spool_dir``. A process that needs more
        than ``memory`` bytes ends; 0: as many as there are.
        """
        self._limit = seconds
        self._seconds = 1.1 * seconds + 1.0
        self._memory = memory
        self._spool_dir = spool_dir or Path(tempfile.gettempdir())
        self._slots = asyncio.Semaphore(count)
        self._idle: list[_Child] = []
        self._all: list[_Child] = []
        self._closed = False

    async def run(
        self, function: Callable[..., T], *arguments: object, file: BodyFile | None = None
    ) -> T:
        """Call a function of :mod:`semcrawl.reading.process` in a process.

        With a ``file``, its descriptor and size precede ``arguments``. Where a process cannot be
        given open files, ``read_copied_file`` gets the content. Raises :class:`ReadingLost`.
        """
        async with self._slots:
            return await asyncio.to_thread(self._call, function, arguments, file)

    def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call an importable function in a process, and block until it returns.

        One thread at a time may call it. Raises :class:`ReadingLost`.
        """
        return self._call(function, arguments, None)

    def close(self) -> None:
        """Kill all processes; their tasks are lost."""
        self._closed = True
        for child in tuple(self._all):  # waiting threads remove theirs
            child.process.kill()
        while self._idle:
            self._idle.pop().close()

    def _call(
        self, function: Callable[..., T], arguments: tuple[object, ...], file: BodyFile | None
    ) -> T:
        descriptor = None
        if file is not None and worker.SENDS_FILES:
            descriptor, arguments = file.fileno(), (file.size, *arguments)
        elif file is not None:
            function = cast(Callable[..., T], worker.read_copied_file)
            arguments = (file.stream().read(), *arguments)
        task: worker.Task = (self._seconds, function, arguments)
        child = self._take(task, descriptor)
        try:
            if not worker.HAS_ALARMS:
                child.connection.settimeout(self._seconds)
            (good, result), _ = worker.receive(child.connection)
        except (EOFError, OSError):
            raise ReadingLost(self._reason(child)) from None
        if isinstance(result, Reading) and result.spool is not None:
            child.delivered.add(result.spool)
        self._idle.append(child)
        if not good:
            raise ReadingLost(str(result))
        return cast(T, result)

    def _take(self, task: worker.Task, descriptor: int | None) -> _Child:
        """Give a task to an idle process, or to a new one."""
        while not self._closed:
            used = bool(self._idle)
            child = self._idle.pop() if used else self._start()
            try:
                worker.send(child.connection, task, descriptor)
            except OSError:
                self._end(child)
                if not used and not self._closed:
                    raise ReadingLost("no reading process can be started") from None
            else:
                return child
        raise ReadingLost("the crawl is at its end")

    def _start(self) -> _Child:
        ours, theirs = socket.socketpair()
        path = os.pathsep.join(folder for folder in sys.path if folder)
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", worker.__name__, str(theirs.fileno()), str(self._memory)],
                pass_fds=() if sys.platform == "win32" else (theirs.fileno(),),
                stdin=subprocess.PIPE if sys.platform == "win32" else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
            if sys.platform == "win32" and process.stdin is not None:
                with process.stdin as description:
                    description.write(theirs.share(process.pid))
        child = _Child(process, ours)
        self._all.append(child)
        if self._closed:  # meanwhile
            process.kill()
        return child

    def _end(self, child: _Child) -> int:
        """End a process and delete its spool files; return its status."""
        status = child.close()
        self._all.remove(child)
        for path in self._spool_dir.glob(f"{spool_prefix(child.process.pid)}*"):
            if path not in child.delivered:
                path.unlink(missing_ok=True)
        return status

    def _reason(self, child: _Child) -> str:
        late = not worker.HAS_ALARMS and child.process.poll() is None
        try:
            status = 0 if late else child.process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            status = 0
        self._end(child)
        if self._closed:
            return "the crawl is at its end"
        if late or (worker.HAS_ALARMS and status == -signal.SIGALRM):
            return f"not finished after {self._limit:g} seconds"
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        if self._memory and -status == signal.SIGABRT:  # so end parsers in Rust and C
            name += f" (it may take {self._memory} bytes of memory)"
        return f"the process that read it ended: {name}"
