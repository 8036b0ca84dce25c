"""Names of crawls, and of their workers: those tell a restarted crawl whose workers have ended."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from scrapy.settings import BaseSettings

from semcrawl.processes import is_alive
from semcrawl.wholefiles import whole_file

#: default name of a crawl
DEFAULT_NAME = "semcrawl"
#: file in a job folder that names its crawl on a shared Redis
CRAWL_FILE = "crawl.json"


def crawl_name(settings: BaseSettings) -> str:
    """Return the crawl's name from the settings."""
    return settings.get("SEMCRAWL_CRAWL_NAME") or DEFAULT_NAME


def check_name(name: str) -> None:
    """Raise ``ValueError`` for a name with which the keys of a frontier cannot begin."""
    if not name or "{" in name or "}" in name:
        raise ValueError(f"a key prefix is not empty and has no braces: {name!r}")


@dataclass(frozen=True, slots=True)
class JobName:
    """A job folder's entry for a shared Redis; it stays when the folder is moved."""

    #: name of the crawl
    crawl: str
    #: permanent id of the folder
    folder: str

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the folder's entry; return ``None`` without one."""
        try:
            data: Any = json.loads((folder / CRAWL_FILE).read_text("utf-8"))
            return cls(str(data["crawl"]), str(data["folder"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def fresh(cls, crawl: str) -> Self:
        """Make an entry with a new id."""
        return cls(crawl, uuid4().hex)

    def write(self, folder: Path) -> None:
        """Write the entry into the folder."""
        with whole_file(folder / CRAWL_FILE) as file:
            file.write((json.dumps(asdict(self)) + "\n").encode())


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
