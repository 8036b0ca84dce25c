"""Names of workers, which tell a restarted crawl whose workers have ended."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from uuid import uuid4

from semcrawl.processes import is_alive


def _machine() -> str:
    """Identify the machine, its start, and the namespace of process ids (containers have own)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return boot + "." + os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return socket.gethostname()


def worker_name() -> str:
    """Make a unique name for a worker of this process: machine, process id, random part."""
    return f"{_machine()}/{os.getpid()}/{uuid4().hex[:8]}"


def short_name(worker: str) -> str:
    """Return a worker's short name: the start of its machine's name, and its process id."""
    machine, _, rest = worker.partition("/")
    pid, _, _ = rest.partition("/")
    return f"{machine[:8]}/{pid}" if pid else worker


def is_gone(worker: str) -> bool:
    """Whether a worker named by :func:`worker_name` on this machine has certainly ended."""
    machine, _, rest = worker.partition("/")
    pid, _, _ = rest.partition("/")
    if machine != _machine() or not pid.isdigit():
        return False
    return not is_alive(int(pid))
