"""Systems that lack modules, signals and calls of POSIX."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import semcrawl
from semcrawl.filelocks import lock, try_lock, unlock
from semcrawl.processes import is_alive
from semcrawl.rdf import read
from semcrawl.reading import process
from semcrawl.reading.pool import ReadingLost, ReadingProcesses
from semcrawl.web.bodies import BodyFile

SOURCES = sorted(Path(semcrawl.__file__).parent.rglob("*.py"))
POSIX_MODULES = {"fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "posix", "syslog"}
PREAMBLE = """
import os, signal, socket, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        # (Python's own modules and others' have ways of their own)
        if name == "resource":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
sys.modules.pop("resource", None)
for module, names in (
    (os, ("fork", "getuid", "geteuid", "pread", "fchmod", "nice")),
    (signal, ("SIGALRM", "setitimer", "ITIMER_REAL", "SIGHUP", "SIGUSR1")),
    (socket, ("send_fds", "recv_fds")),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""


@pytest.mark.slow
def test_no_module_needs_one_of_posix() -> None:
    """Those that are there may be used, behind a check."""
    for path in SOURCES:
        for node in ast.parse(path.read_text("utf-8")).body:
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom):
                names = {str(node.module)}
            assert not names & POSIX_MODULES, path


@pytest.mark.slow
def test_all_is_imported_without_the_calls_of_posix() -> None:
    code = PREAMBLE + (
        "import importlib, pkgutil, semcrawl\n"
        "for found in pkgutil.walk_packages(semcrawl.__path__, 'semcrawl.'):\n"
        "    if not found.name.endswith(('__main__', 'migrations.env')):\n"
        "        importlib.import_module(found.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_file_is_read_without_the_calls_of_posix() -> None:
    code = PREAMBLE + (
        "from semcrawl.web.bodies import BodyFile\n"
        "from semcrawl.descriptors import idle_connections, raise_limit\n"
        "file = BodyFile()\n"
        "file.write(b'0123456789' * 300000)\n"
        "one, other = file.stream(), file.stream()\n"
        "assert one.read(3) == b'012' and other.read(5) == b'01234' and one.read(2) == b'34'\n"
        "assert len(one.read()) == 3000000 - 5\n"
        "assert raise_limit() == 512 and idle_connections(16) > 16\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_locks_keep_other_handles_out(tmp_path: Path) -> None:
    with (tmp_path / "x").open("ab") as one, (tmp_path / "x").open("ab") as other:
        lock(one, shared=True)
        lock(other, shared=True)
        assert not try_lock(one)
        unlock(other)
        assert try_lock(one)
        assert not try_lock(other)
    code = "import sys\nfrom semcrawl.filelocks import try_lock\n"
    code += "sys.exit(not try_lock(open(sys.argv[1], 'ab')))"
    command = [sys.executable, "-c", code, str(tmp_path / "x")]
    with (tmp_path / "x").open("ab") as one:
        lock(one)
        assert subprocess.run(command).returncode == 1
    assert subprocess.run(command).returncode == 0


def test_a_process_is_seen_to_run_and_to_end() -> None:
    assert is_alive(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert not is_alive(child.pid)


@pytest.mark.slow
async def test_a_file_that_cannot_be_sent_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(b"<http://e/%d> <http://e/p> <http://e/o> .\n" % n for n in range(5000))
    body = BodyFile()
    body.write(text)
    readings = []
    for sends in (True, False):
        monkeypatch.setattr(process, "SENDS_FILES", sends)
        pool = ReadingProcesses(1, 30.0)
        try:
            function = process.read_shared_file if sends else process.read_copied_file
            work = partial(read, url="http://e/x.nt", content_type="application/n-triples")
            readings.append(await pool.run(function, work, file=body))
        finally:
            pool.close()
    assert [reading.quads for reading in readings] == [5000, 5000]


@pytest.mark.slow
async def test_without_alarms_the_crawl_ends_a_reader_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "HAS_ALARMS", False)
    pool = ReadingProcesses(1, 0.1)
    deep = b'{"@context": ' * 20 + b"{}" + b"}" * 20
    try:
        child = pool._start()
        os.kill(child.process.pid, signal.SIGSTOP)  # hangs
        pool._idle.append(child)
        with pytest.raises(ReadingLost, match=r"not finished after 0\.1 seconds"):
            await pool.run(read, deep, "http://e/")
        assert child.process.poll() is not None
    finally:
        pool.close()
