"""Runs commands in forks of a process that has loaded the program, as loading takes a second.

A fork is a process of its own from then on, with its own folder, environment, streams and signals.
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import IO

#: packages whose modules a harvest loads
_LOADED = (
    "semcrawl.commands.harvest", "semcrawl.crawl", "semcrawl.frontier.sqlite",
    "semcrawl.links", "semcrawl.metadata", "semcrawl.middlewares", "semcrawl.pipelines",
    "semcrawl.reading", "semcrawl.relevance", "semcrawl.sources", "semcrawl.spiders",
)  # fmt: skip


class Fork:
    """A command under way; has the methods of ``subprocess.Popen`` with pipes and texts."""

    def __init__(self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        (out, theirs_out), (err, theirs_err) = os.pipe(), os.pipe()
        self._life, theirs = socket.socketpair()
        ends = [theirs_out, theirs_err, theirs.fileno()]
        message = json.dumps([list(arguments), str(cwd), dict(env)]).encode()
        with theirs:
            loaded = _loaded()
            loaded.sendall(len(message).to_bytes(4))
            loaded.sendmsg(
                [message[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", ends))]
            )
            loaded.sendall(message[1:])
        os.close(theirs_out)
        os.close(theirs_err)
        self.stdout: IO[str] = os.fdopen(out, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(err, encoding="utf-8")
        self.pid = int.from_bytes(self._life.recv(4))
        self.returncode: int | None = None
        self._written: tuple[str, str] | None = None

    def poll(self) -> int | None:
        """Return the exit status as ``Popen`` gives it, None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises ``subprocess.TimeoutExpired``."""
        if self.returncode is None:
            self._life.settimeout(timeout)
            try:
                self.returncode = int.from_bytes(self._life.recv(4), signed=True)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("semcrawl", timeout or 0) from None
            self._life.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end, and return what it wrote to both streams; asked again, the same."""
        if self._written is None:
            with ThreadPoolExecutor(2) as pool:
                out, err = (pool.submit(stream.read) for stream in (self.stdout, self.stderr))
                try:
                    self.wait(timeout)
                except subprocess.TimeoutExpired:
                    self.kill()  # which ends the reading
                    raise AssertionError(f"hangs:\n{out.result()}\n{err.result()}") from None
            self.stdout.close()
            self.stderr.close()
            self._written = out.result(), err.result()
        return self._written

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self.send_signal(signal.SIGKILL)


def run(
    command: Sequence[str],
    *,
    cwd: str | Path = ".",
    env: Mapping[str, str] = os.environ,
    timeout: float | None = None,
    check: bool = False,
    **_: object,
) -> subprocess.CompletedProcess[str]:
    """Do as ``subprocess.run`` does with ``python -m semcrawl``, its output captured as text."""
    python, _, program, *arguments = command
    assert (python, program) == (sys.executable, "semcrawl")
    fork = Fork(arguments, Path(cwd).absolute(), env)
    out, err = fork.communicate(timeout)
    done = subprocess.CompletedProcess(command, fork.returncode or 0, out, err)
    if check:
        done.check_returncode()
    return done


@cache
def _loaded() -> socket.socket:
    """Start the process that is forked; it ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
        )
    return ours


def _serve(connection: socket.socket) -> None:
    """Load the program, and run a fork of it for each message, until nobody can send more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    program = import_module("semcrawl.__main__")
    for name in ("semcrawl.commandline", *_LOADED):
        module = import_module(name)
        for each in walk_packages(getattr(module, "__path__", []), f"{name}."):
            if ".migrations" not in each.name:  # Alembic runs them
                import_module(each.name)
    while head := connection.recv(4, socket.MSG_WAITALL):
        first, [(_, _, ends)], *_ = connection.recvmsg(1, socket.CMSG_LEN(12))
        rest = connection.recv(int.from_bytes(head) - 1, socket.MSG_WAITALL)
        out, err, life = array.array("i", ends)
        if not os.fork() and _is_command(out, err, life):
            connection.close()
            arguments, folder, variables = json.loads(first + rest)
            os.chdir(folder)
            sys.path[0] = folder  # as ``python -m`` has it
            os.environ.clear()
            os.environ.update(variables)
            time.tzset()
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
            sys.argv = [str(program.__file__), *arguments]
            sys.modules["__main__"] = program
            program.main()
            return
        for end in (out, err, life):
            os.close(end)


def _is_command(out: int, err: int, life: int) -> bool:
    """Fork, and return True in the new process; the other tells of its life, and ends with it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if not pid:
        os.dup2(out, 1)
        os.dup2(err, 2)
    for end in (out, err):
        os.close(end)
    with socket.socket(fileno=life) as told:
        if not pid:
            return True
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        told.sendall(pid.to_bytes(4))
        _, status = os.waitpid(pid, 0)
        told.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))
    os._exit(0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
